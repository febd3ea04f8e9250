import { StartUpError } from '../../src/domain/errors.ts';
import { connect } from '../../src/postgres/connect.ts';
import { findPooler } from '../../src/postgres/pooler.ts';
import { openDatabase, PREPARED, transaction } from '../../src/store/sql/database.ts';
import { setSessionSettings, startPooler, type TestPooler } from '../support/postgres/pooler.ts';
import { KEYRING, useScratchDatabase, withClient, withScratchDatabase } from '../support/postgres/postgres.ts';

const { url: directUrl } = await useScratchDatabase();
await setSessionSettings(directUrl);

async function poolerOf(url: string, options: { keepsStatements?: boolean } = {}): Promise<TestPooler> {
  const pooler = await startPooler(url, options);
  cleanUp.push(pooler.close);
  return pooler;
}

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0)) await each();
});

/** Returns the message for the operator, and checks that it does not contain the password. */
async function refusalOf(starting: Promise<unknown>): Promise<string> {
  const error = await starting.catch((thrown: unknown) => thrown);
  if (!(error instanceof StartUpError)) throw new Error('There was no StartUpError.', { cause: error });
  const text = `${error.message}\n${error.remedy}`;
  expect(text).not.toContain(new URL(directUrl).password);
  return text;
}

function start(urls: { databaseUrl: string; databaseDirectUrl?: string }) {
  return connect(
    {
      databaseDirectUrl: undefined,
      ...urls,
      databasePoolSize: 1,
      acceptsNewerDatabase: false,
      dataDir: '',
      keyring: KEYRING,
    },
    () => {},
  );
}

const SEE = 'Set DATABASE_DIRECT_URL to the URL of PostgreSQL itself, and have no "options" in DATABASE_URL.';

test('a pooler alone is refused with the variable to set', async () => {
  const { url } = await poolerOf(directUrl);
  const { host } = new URL(url);
  const refusal = await refusalOf(start({ databaseUrl: url }));
  expect(refusal).toContain(`${host} in DATABASE_URL is a connection pooler such as PgBouncer`);
  expect(refusal).toContain(SEE);
});

// A pooler may ignore "options" without an error, so the refusal must not depend on an error. Behind a pooler, a session lock
// could be taken in the session of another client.
test('a pooler as the direct URL is refused, even if it accepts the options of a connection', async () => {
  const { url } = await poolerOf(directUrl);
  const accepting = await startPooler(directUrl, { acceptsOptions: true });
  cleanUp.push(accepting.close);
  for (const databaseDirectUrl of [url, accepting.url]) {
    const refusal = await refusalOf(start({ databaseUrl: url, databaseDirectUrl }));
    expect(refusal).toContain(`${new URL(databaseDirectUrl).host} in DATABASE_DIRECT_URL is a connection pooler`);
    expect(refusal).toContain(SEE);
  }
});

test('"options" in the URL of a pooler are refused', async () => {
  const { url } = await poolerOf(directUrl);
  const databaseUrl = `${url}?options=-c%20geqo%3Doff`;
  expect(await refusalOf(start({ databaseUrl, databaseDirectUrl: directUrl }))).toContain(SEE);
});

test('two different databases are refused', async () => {
  await withScratchDatabase(async (other) => {
    await setSessionSettings(other);
    for (const databaseUrl of [other, (await poolerOf(other)).url]) {
      const refusal = await refusalOf(start({ databaseUrl, databaseDirectUrl: directUrl }));
      expect(refusal).toMatch(/^DATABASE_URL and DATABASE_DIRECT_URL lead to different databases\.\n/);
    }
  });
});

// With another time zone, for example, every timestamp would be wrong.
test('sessions without the settings are refused with the statements that set them, which then work', async () => {
  await withScratchDatabase(async (url) => {
    const pooler = await poolerOf(url);
    const urls = { databaseUrl: pooler.url, databaseDirectUrl: url };
    const refusal = await refusalOf(start(urls));
    expect(refusal).toContain('TimeZone is "Asia/Kolkata"');
    expect(refusal).toContain('statement_timeout is "0"');
    const statements = refusal.match(/ALTER ROLE .*;/g) ?? [];
    // Leaves out each setting in turn, because each of them is needed.
    for (const missing of statements) {
      await withClient(url, async (client) => {
        await client.query(`alter role current_user in database ${new URL(url).pathname.slice(1)} reset all`);
        for (const statement of statements) if (statement !== missing) await client.query(statement);
      });
      const [, name = ''] = / SET (\S+) =/.exec(missing) ?? [];
      if (name !== 'DateStyle') expect(await refusalOf(start(urls))).toContain(`lack settings of Charter: ${name} is`);
    }
    await withClient(url, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
    const { pooler: found, leave } = await start(urls);
    expect(found).toEqual({ keepsStatements: false });
    await leave();
  });
});

test('PostgreSQL itself is no pooler', async () => {
  expect(await findPooler({ url: directUrl, directUrl })).toBeNull();
});

test.each([false, true])(
  'whether a pooler keeps prepared statements is found out (%s), and nothing stays prepared otherwise',
  async (keepsStatements) => {
    const { url } = await poolerOf(directUrl, { keepsStatements });
    expect(await findPooler({ url, directUrl })).toEqual({ keepsStatements });
    const { db, leave } = await start({ databaseUrl: url, databaseDirectUrl: directUrl });
    try {
      await db.pool.query({ name: 'of_pg', text: 'select $1::int as one', values: [1] });
      await db.pool.query({ name: 'without_values', text: 'select 1' });
      await transaction(db, (tx) => tx.$queryRaw`select ${1}::int ${PREPARED}`);
      const { rows } = await db.pool.query('select name from pg_prepared_statements order by name');
      expect(rows.map(({ name }) => name)).toEqual(
        keepsStatements ? ['pooler_of_pg', 'pooler_prisma_1', 'pooler_without_values'] : [],
      );
    } finally {
      await leave();
    }
  },
);

test('through a pooler, a session has the settings of its user', async () => {
  const { url } = await poolerOf(directUrl);
  const pooler = { keepsStatements: false };
  const db = openDatabase({ url, pooler, poolSize: 1, keyring: KEYRING, onIdleError: () => {} });
  const { rows } = await db.pool.query(
    `select current_setting('TimeZone') as zone, '2026-03-01 12:00Z'::timestamptz::text as instant`,
  );
  expect(rows).toEqual([{ zone: 'UTC', instant: '2026-03-01 12:00:00+00' }]);
  await db.close();
});

// The database user of a pooler has a statement timeout of 15 seconds, but a migration may take longer.
test('a migration has no timeout', async () => {
  await withScratchDatabase(async (url) => {
    await setSessionSettings(url);
    await withClient(url, async (client) => {
      const database = new URL(url).pathname.slice(1);
      await client.query(`alter role current_user in database ${database} set statement_timeout = '1ms'`);
    });
    const { leave } = await start({ databaseUrl: url });
    await leave();
  }, 'empty');
});
