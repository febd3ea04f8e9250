// Each of the newest migrations is applied to a large database during requests. No request waits for long.
import type pg from 'pg';
import { migrate } from '../../src/postgres/migrate.ts';
import { readMigrations } from '../../src/postgres/migrations.ts';
import { createScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import { length } from '../support/wait.ts';

const ROWS = length({ full: 20_000, figures: 1_000_000 });
/** The longest time that a request may wait, which is high in `npm run soak` because the machine may be busy. */
const MOST_MS = length({ full: 20_000, figures: 1000 });
/** The newest migration that is not tested. All later migrations are tested. */
const FIRST = '20261122205228_limit_requests';

const ORGANIZATION = '00000000-0000-7000-8000-000000000001';
const USER = '00000000-0000-7000-8000-000000000002';
const KEY = '00000000-0000-7000-8000-000000000003';
const IN = `organization_id = '${ORGANIZATION}'`;

/** The SQL queries of requests, in a form that works with every version of the schema. */
const PROBES: Readonly<Record<string, string>> = {
  'look-up of a key': `select k.id, u.role, o.version from api_keys k
    join users u on u.organization_id = k.organization_id and u.id = k.user_id
    join organizations o on o.id = k.organization_id where k.key_hash = sha256('key')`,
  'list page': `select id, name, updated_at from parent_programs where ${IN} order by created_at, id limit 25`,
  creation: `with key as (insert into idempotency_keys (organization_id, key, request_hash)
      values ('${ORGANIZATION}', gen_random_uuid(), ''))
    insert into parent_programs (organization_id, id, name) values ('${ORGANIZATION}', gen_random_uuid(), 'New')`,
  update: `update parent_programs set description = gen_random_uuid()::text, updated_at = clock_timestamp()
    where ${IN} and id = (select id from parent_programs where ${IN} order by name, id limit 1)`,
  'use of a key': `update api_keys set last_used_at = now() where ${IN} and id = '${KEY}'`,
  'action of a person': `insert into audit_events (organization_id, id, act)
    values ('${ORGANIZATION}', gen_random_uuid(), 'key.created')`,
  'use of a session': `update sessions set last_seen_at = now() where ${IN} and user_id = '${USER}'`,
};

test('no request waits for a second while a migration is applied', async () => {
  const { url, drop } = await createScratchDatabase('empty');
  try {
    const all = await readMigrations();
    const start = all.findIndex(({ name }) => name === FIRST) + 1;
    expect(start).toBeGreaterThan(0);
    await migrate(url, all.slice(0, start));
    await withClient(url, (client) => fill(client));
    const longest: Record<string, number> = {};
    for (let i = start; i < all.length; i += 1) {
      const probes = Object.entries(PROBES).map(([name, sql]) => startProbe(url, { name, sql }));
      await Promise.all(probes.map(({ hasBegun }) => hasBegun));
      // The probes must end before the database is dropped, even after a failure.
      await migrate(url, all.slice(0, i + 1)).finally(() => Promise.all(probes.map(({ end }) => end())));
      for (const { name, longestMs } of await Promise.all(probes.map(({ end }) => end())))
        longest[`${all[i]?.name}: ${name}`] = Math.round(longestMs);
    }
    expect(Object.entries(longest).filter(([, ms]) => ms >= MOST_MS)).toEqual([]);
  } finally {
    await drop();
  }
});

async function fill(client: pg.Client): Promise<void> {
  await client.query(`
    insert into encryption_keys (id) values ('\\x0001020304050607');
    insert into organizations (id, name, cursor_key)
      values ('${ORGANIZATION}', 'Large', '\\x01'::bytea || '\\x0001020304050607'::bytea || decode(repeat('00', 60), 'hex'));
    insert into organizations (id, name, cursor_key)
      select gen_random_uuid(), 'Small', cursor_key from organizations, generate_series(1, ${ROWS} / 100);
    insert into users (organization_id, id, email, name, role)
      values ('${ORGANIZATION}', '${USER}', 'large@example.test', 'Large', 'administrator');
    insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions)
      values ('${ORGANIZATION}', '${KEY}', '${USER}', 'Probe', sha256('name'), sha256('key'), 'charter_live_0000', '{}');
    insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions)
      select '${ORGANIZATION}', gen_random_uuid(), '${USER}', 'Key ' || i, sha256(i::text::bytea), sha256(i::text::bytea), 'charter_live_0000', '{}'
      from generate_series(1, ${ROWS} / 10) i;
    insert into sessions (organization_id, token_hash, user_id, is_complete)
      select '${ORGANIZATION}', sha256(i::text::bytea), '${USER}', true from generate_series(1, 100) i;
    insert into audit_events (organization_id, id, act)
      select '${ORGANIZATION}', gen_random_uuid(), 'key.created' from generate_series(1, ${ROWS} / 10) i;
    insert into parent_programs (organization_id, id, name)
      select '${ORGANIZATION}', gen_random_uuid(), 'Program ' || i from generate_series(1, ${ROWS}) i;
    analyze`);
}

/**
 * Executes an SQL query again and again over its own connection. `end` stops and returns the time that the longest execution
 * took.
 */
function startProbe(url: string, { name, sql }: { name: string; sql: string }) {
  const begun = Promise.withResolvers<void>();
  let isEnding = false;
  const run = async (client: pg.Client) => {
    let longestMs = 0;
    while (!isEnding) {
      const startedAt = performance.now();
      await client.query(sql);
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      begun.resolve();
    }
    return { name, longestMs };
  };
  const running = withClient(url, run);
  running.catch(begun.reject);
  return {
    hasBegun: begun.promise,
    end() {
      isEnding = true;
      return running;
    },
  };
}
