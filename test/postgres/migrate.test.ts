import { StartUpError } from '../../src/domain/errors.ts';
import { listPending, migrate } from '../../src/postgres/migrate.ts';
import { readMigrations } from '../../src/postgres/migrations.ts';
import { proxyDatabase } from '../support/postgres/database-proxy.ts';
import { serverUrl, untilWaiting, withClient, withScratchDatabase } from '../support/postgres/postgres.ts';
import { until } from '../support/wait.ts';

const OURS = await readMigrations();
const NAMES = OURS.map(({ name }) => name);
const [FIRST = ''] = NAMES;

/** Returns the message for the operator, and checks that it does not contain the password that every URL in this file has. */
async function refusalOf(url: string, migrations = OURS): Promise<string> {
  const error = await migrate(url, migrations).catch((thrown: unknown) => thrown);
  if (!(error instanceof StartUpError)) throw new Error('There was no StartUpError.', { cause: error });
  const { password } = new URL(url);
  expect(password).not.toBe('');
  for (const text of [error.message, error.remedy]) {
    expect(text).not.toContain(password);
    expect(text.trim()).not.toBe('');
  }
  return `${error.message}\n${error.remedy}`;
}

function query(url: string, text: string) {
  return withClient(url, (client) => client.query(text));
}

test('an empty database gets every migration, and a second run applies none', async () => {
  await withScratchDatabase(async (url) => {
    expect(await migrate(url)).toEqual({ applied: NAMES });
    expect(await migrate(url)).toEqual({ applied: [] });
    expect((await query(url, 'select count(*)::int as count from parent_programs')).rows).toEqual([{ count: 0 }]);
  }, 'empty');
});

test('of five concurrent runs exactly one migrates, and all continue afterwards', async () => {
  await withScratchDatabase(async (url) => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => migrate(url)));
    expect(outcomes.flatMap(({ applied }) => applied)).toEqual(NAMES);
    const { rows } = await query(
      url,
      'select migration_name, finished_at is not null as done from _prisma_migrations order by migration_name',
    );
    expect(rows).toEqual(NAMES.map((name) => ({ migration_name: name, done: true })));
  }, 'empty');
});

test('a database newer than the code is refused with the name of the unknown migration', async () => {
  await withScratchDatabase(async (url) => {
    await query(
      url,
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
       values (gen_random_uuid(), 'x', '20991231000000_of_tomorrow', now())`,
    );
    expect(await refusalOf(url)).toMatch(/does not know: 20991231000000_of_tomorrow\.\nStart the newer version/);
  });
});

test('the database of the next release is accepted on request, if it has every migration of the code, and no other', async () => {
  await withScratchDatabase(async (url) => {
    const newer = { name: '20991231000000_of_tomorrow', sql: 'create table tomorrow (id int);' };
    const next = { version: '2.3.0', previous: '2.2.5' };
    expect(await migrate(url, [...OURS, newer], { release: next })).toEqual({ applied: [newer.name] });
    const goBack = (version: string, ours = OURS) =>
      migrate(url, ours, { acceptsNewer: true, release: { version, previous: '2.1.0' } });
    for (const version of ['2.2.5', '2.3.0-dev.0a1b2c3']) expect(await goBack(version)).toEqual({ applied: [] });
    for (const version of ['2.2.4', '2.4.0'])
      await expect(goBack(version)).rejects.toMatchObject({
        message: expect.stringContaining('_tomorrow. They are from release 2.3.0, and'),
        remedy: 'Start 2.3.0 or 2.2.5, or restore a backup from before it was started.',
      });
    const other = { name: '20991230000000_of_a_branch', sql: 'create table branch (id int);' };
    await expect(goBack('2.2.5', [...OURS, other])).rejects.toThrow(/does not know: .*_tomorrow\./);
    await query(url, `comment on table _prisma_migrations is 'mine'`);
    await expect(goBack('2.2.5')).rejects.toThrow(/They are from an unknown release/);
  });
});

test('the applied migrations are reported with their time, and those that are pending are listed without being applied', async () => {
  await withScratchDatabase(async (url) => {
    expect(await listPending(url, 'DATABASE_URL')).toEqual(NAMES);
    const reports: unknown[] = [];
    const onApplied = (...report: unknown[]) => reports.push(report);
    const [last = ''] = NAMES.slice(-1);
    await migrate(url, OURS.slice(0, -1), { onApplied });
    expect(await listPending(url, 'DATABASE_URL')).toEqual([last]);
    await migrate(url, OURS, { onApplied });
    await migrate(url, OURS, { onApplied });
    const timesOf = (names: readonly string[]) => names.map((name) => ({ name, milliseconds: expect.any(Number) }));
    expect(reports).toEqual([
      [timesOf(NAMES.slice(0, -1)), true],
      [timesOf([last]), false],
    ]);
    expect(await listPending(url, 'DATABASE_URL')).toEqual([]);
  }, 'empty');
});

test('a migration that was edited after its application is refused by name', async () => {
  await withScratchDatabase(async (url) => {
    const edited = OURS.map(({ name, sql }) => ({ name, sql: `${sql}-- one more thought\n` }));
    expect(await refusalOf(url, edited)).toMatch(
      new RegExp(`changed after they had been applied.*: ${NAMES.join(', ')}\\.`),
    );
    // A checkout on Windows has other line endings, which do not count as an edit.
    const windows = OURS.map(({ name, sql }) => ({ name, sql: sql.replaceAll('\n', '\r\n') }));
    expect(await migrate(url, windows)).toEqual({ applied: [] });
  });
});

test('a failed migration is rolled back, named with its reason, and can be retried', async () => {
  await withScratchDatabase(async (url) => {
    const name = '20991231000000_broken';
    const broken = [...OURS, { name, sql: 'create table half (id int);\nselect 1 / 0;\n' }];
    for (const attempt of ['first', 'second']) {
      const refusal = await refusalOf(url, broken);
      expect({ attempt, refusal }).toMatchObject({
        refusal: expect.stringMatching(/half-migrated: .*_broken.*division by zero/s),
      });
    }
    expect((await query(url, `select to_regclass('half') as half`)).rows).toEqual([{ half: null }]);
    // The remedy contains an SQL statement that can be pasted.
    const remedy = /UPDATE .*;/.exec(await refusalOf(url, broken))?.[0] ?? '';
    expect(remedy).toContain(name);
    await query(url, remedy);
    expect(await migrate(url, [...OURS, { name, sql: 'create table half (id int);' }])).toEqual({ applied: [name] });
  });
});

test('an interrupted migration is refused by name', async () => {
  await withScratchDatabase(async (url) => {
    await query(url, `update _prisma_migrations set finished_at = null where migration_name = '${FIRST}'`);
    expect(await refusalOf(url)).toMatch(new RegExp(`half-migrated: ${FIRST} was started .* interrupted`));
  });
});

// The risk: a deadlock, because the migration locks the tables in another order than a request that creates a row.
test('the migration that begins the feed and a creation with an Idempotency-Key in progress both succeed', async () => {
  await withScratchDatabase(async (url) => {
    const name = '20261123042000_events';
    await migrate(url, OURS.slice(0, NAMES.indexOf(name)));
    const id = crypto.randomUUID();
    // Inserts as a replica, without the triggers that require an encryption key.
    await query(
      url,
      `set session_replication_role = replica;
       insert into organizations (id, name, cursor_key) values ('${id}', 'Nordic', decode('01' || repeat('00', 68), 'hex'))`,
    );
    await withClient(url, async (writer) => {
      await writer.query('begin');
      await writer.query(
        `insert into idempotency_keys (organization_id, key, request_hash) values ('${id}', 'a', sha256(''))`,
      );
      const migrating = migrate(url).catch((error: unknown) => error);
      await withClient(url, (client) => untilWaiting(client, 1));
      await writer.query(
        `insert into parent_programs (organization_id, id, name) values ('${id}', gen_random_uuid(), 'Nordic')`,
      );
      await writer.query('commit');
      expect(await migrating).toEqual({ applied: expect.arrayContaining([name]) });
    });
  }, 'empty');
});

// PostgreSQL leaves an invalid index behind, so the index's name is taken.
test('an interrupted CREATE INDEX CONCURRENTLY is repeated by the next start', async () => {
  await withScratchDatabase(async (url) => {
    const name = '20991231000000_build_an_index';
    const sql = '-- Without blocking writes.\nCREATE INDEX CONCURRENTLY "a_new_index" ON "organizations"("name");\n';
    const isValid = async () =>
      (await query(url, `select indisvalid from pg_index where indexrelid = to_regclass('a_new_index')`)).rows;
    await withClient(url, async (writer) => {
      // The build waits for the end of every transaction that has written to the table.
      await writer.query('begin');
      await writer.query('lock table organizations in row exclusive mode');
      const interrupted = migrate(url, [...OURS, { name, sql }]).catch((error: unknown) => error);
      const build = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like '%CREATE INDEX%' and wait_event_type = 'Lock'`;
      await until('the end of the build', async () => (await query(url, build)).rowCount === 1);
      expect(await interrupted).toBeInstanceOf(Error);
      await writer.query('rollback');
    });
    expect(await isValid()).toEqual([{ indisvalid: false }]);
    expect(await migrate(url, [...OURS, { name, sql }])).toEqual({ applied: [name] });
    expect(await isValid()).toEqual([{ indisvalid: true }]);
    expect(await migrate(url, [...OURS, { name, sql }])).toEqual({ applied: [] });
  });
});

// PostgreSQL notices that its client was killed only when it responds. Until then, the build continues without its lock.
test('a build of an index that outlives its process is waited for', async () => {
  const name = '20991231000000_build_an_index';
  const sql = 'CREATE INDEX CONCURRENTLY "a_new_index" ON "organizations"("name");';
  await withScratchDatabase(async (url) => {
    expect(await migrate(url, [...OURS, { name, sql: 'select 1;' }])).toEqual({ applied: [name] });
    await query(url, `update _prisma_migrations set finished_at = null where migration_name = '${name}'`);
    await withClient(url, async (writer) => {
      await writer.query('begin');
      await writer.query('lock table organizations in row exclusive mode');
      const orphan = query(url, sql);
      const building = 'select from pg_stat_progress_create_index where datname = current_database()';
      await until('the build', async () => (await query(url, building)).rowCount === 1);
      const migrating = migrate(url, [...OURS, { name, sql }]);
      const seen = `select from pg_stat_activity where datname = current_database()
        and application_name = 'charter-migrate' and query like '%index_relid%'`;
      await until('the wait', async () => (await query(url, seen)).rowCount === 1);
      await writer.query('rollback');
      await orphan;
      expect(await migrating).toEqual({ applied: [name] });
    });
  });
});

// The process was killed after the index was built and before this was recorded.
test('an index that was built, but not recorded, is built again', async () => {
  const name = '20991231000000_build_an_index';
  const migrations = [...OURS, { name, sql: 'CREATE INDEX CONCURRENTLY "a_new_index" ON "organizations"("name");' }];
  await withScratchDatabase(async (url) => {
    expect(await migrate(url, migrations)).toEqual({ applied: [name] });
    await query(url, `update _prisma_migrations set finished_at = null where migration_name = '${name}'`);
    expect(await migrate(url, migrations)).toEqual({ applied: [name] });
  });
});

test('a PostgreSQL that does not respond is refused with its address', async () => {
  const proxy = await proxyDatabase(await serverUrl());
  await proxy.stop();
  expect(await refusalOf(proxy.url)).toMatch(
    /^No PostgreSQL answers at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\.\nStart it, /,
  );
});

test("a wrong password is refused with the user's name, and a missing database with its own", async () => {
  const wrong = new URL(await serverUrl());
  wrong.password = 'guess-7f3a';
  expect(await refusalOf(wrong.href)).toMatch(/refuses the user "postgres".*\nCorrect the user and the password/);
  expect(await refusalOf(await serverUrl('charter_missing'))).toMatch(/has no database "charter_missing".*\nCreate it/);
});

async function withRole(url: string, work: (role: { name: string; url: string }) => Promise<void>): Promise<void> {
  const name = `role_${crypto.randomUUID().replaceAll('-', '')}`;
  await query(url, `create role ${name} login password 'limited-5d1c'`);
  try {
    await work({ name, url: Object.assign(new URL(url), { username: name, password: 'limited-5d1c' }).href });
  } finally {
    await query(url, `drop owned by ${name} cascade`);
    await query(url, `drop role ${name}`);
  }
}

// The case: an administrator gives Charter a user that does not own the database, as is usual since PostgreSQL 15.
test('a user who may not create tables is refused with the statement that grants it, which then works', async () => {
  await withScratchDatabase(async (url) => {
    await withRole(url, async (limited) => {
      const refusal = await refusalOf(limited.url);
      expect(refusal).toMatch(/may not create tables/);
      await query(url, /GRANT .*;/.exec(refusal)?.[0] ?? '');
      expect(await refusalOf(limited.url)).toMatch(/CREATE EXTENSION pg_trgm;/);
      for (const extension of ['pg_trgm', 'btree_gin']) await query(url, `create extension ${extension}`);
      expect(await migrate(limited.url)).toEqual({ applied: NAMES });
    });
  }, 'empty');
});

// The bug: a dump that a superuser restores without --role belongs to the superuser, and the server ended with a stack trace.
test('a user who may not read the tables is refused with the name of their owner', async () => {
  await withScratchDatabase(async (url) => {
    await migrate(url);
    await withRole(url, async ({ name, url: limited }) => {
      expect(await refusalOf(limited)).toMatch(
        new RegExp(
          `^The user "${name}" may not read .* belong to "postgres".\nConnect as their owner.*--role="${name}"`,
        ),
      );
    });
  });
});
