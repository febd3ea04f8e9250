import { issueDemonstrationKey, seed } from '../../prisma/seed.ts';
import { Client } from '../support/clients/client.ts';
import { withClient, withScratchDatabase } from '../support/postgres/postgres.ts';
import { openTestDatabase } from '../support/postgres/store.ts';
import { withCharter } from '../support/processes/charter.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { until } from '../support/wait.ts';

const CURL = /curl -H "Authorization: Bearer (\S+)" "(http:[^"]+?)(\/api[^"]*)"\n/;

function count(url: string, table: string): Promise<number> {
  return withClient(
    url,
    async (client) => (await client.query(`select count(*)::int as count from ${table}`)).rows[0].count,
  );
}

const contents = async (url: string) => ({
  organizations: await count(url, 'organizations'),
  users: await count(url, 'users'),
  'of them first': await count(url, `organizations where name = 'Northwind Learning Alliance'`),
  programs: await count(
    url,
    `parent_programs join organizations o on o.id = organization_id where o.name = 'Northwind Learning Alliance'`,
  ),
});
const SEEDED = { organizations: 2, users: 6, 'of them first': 1, programs: 200 };

function foreignProgram(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      `select p.id from parent_programs p join organizations o on o.id = organization_id
       where o.name <> 'Northwind Learning Alliance' limit 1`,
    );
    return rows[0].id;
  });
}

/** Starts a server and returns its welcome text, once the text is complete. */
async function welcomeOf(env: Record<string, string>): Promise<{ text: string; url: string }> {
  return withCharter(env, async ({ printed, url }) => {
    const text = await until('the welcome', () => CURL.test(printed.stdout) && printed.stdout);
    const [, key, origin = '', path = ''] = CURL.exec(text) ?? [];
    expect(origin).toBe(url);
    const client = new Client(origin, key);
    const response = await untilAdmitted(() => client.get(path));
    expect({ status: response.status, rows: response.body.data.length }).toEqual({ status: 200, rows: 1 });
    // The demonstration also shows that organizations are isolated: this organization cannot see the program of another one.
    const foreignPath = `/api/parent_programs/${await foreignProgram(env['DATABASE_URL'] ?? '')}`;
    const foreign = await untilAdmitted(() => client.get(foreignPath));
    expect(foreign.status).toBe(404);
    return { text, url };
  });
}

test('in development, two processes that start on an empty database both serve and seed it once, and a later one does too', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    const env = { DATABASE_URL, NODE_ENV: 'development' };
    const [{ text, url }] = await Promise.all([welcomeOf(env), welcomeOf(env)]);
    expect(await contents(DATABASE_URL)).toEqual(SEEDED);
    for (const printed of [`${url}/api/parent_programs`, `${url}/livez`, `${url}/readyz`])
      expect(text).toContain(printed);
    for (const role of ['administrator', 'manager', 'member', 'viewer'])
      expect(text).toContain(`${role}@northwind.example`);
    const later = await welcomeOf({ ...env, PUBLIC_URL: 'http://localhost:4937', CHARTER_CELL: 'us1' });
    expect(later.text).toContain('Dashboard  http://localhost:4937/sign-in');
    for (const written of ['Authorization: Bearer ', 'CHARTER_API_KEY=']) {
      expect(text).toMatch(new RegExp(`${written}charter_live_[0-9A-Za-z]{46}`));
      expect(later.text).toMatch(new RegExp(`${written}charter_live_us1_[0-9A-Za-z]{46}`));
    }
    expect(await contents(DATABASE_URL)).toEqual(SEEDED);
  }, 'empty');
});

/** Runs the work on a database as a first start leaves it, with one key of the demonstration. */
async function withDemonstration(work: (databaseUrl: string) => Promise<void>): Promise<void> {
  const { db, url, close } = await openTestDatabase();
  try {
    await seed(db, 'live');
    expect(await issueDemonstrationKey(db, 'live')).not.toBeNull();
    await work(url);
  } finally {
    await close();
  }
}

/** Creates `count` keys of the demonstration's administrator. The name of each key is `name` and a number. */
function addKeys(url: string, count: number, name: string) {
  return withClient(url, (client) =>
    client.query(
      `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions, created_at)
       select organization_id, gen_random_uuid(), id, $1::text || i, sha256(($1::text || i)::bytea), sha256(($1::text || i)::bytea), 'charter_live_0000', '{}',
              timestamptz '2026-01-01' from users, generate_series(1, $2::int) i
       where email = 'administrator@northwind.example'`,
      [name, count],
    ),
  );
}

// Keys are stored only as hashes, so each start creates a key to print, and must make room for the key. A developer starts the
// server many times a day.
test("every start prints a key, except where a user's own ten keys leave no room; it then prints no command to paste", async () => {
  await withDemonstration(async (DATABASE_URL) => {
    const env = { DATABASE_URL, NODE_ENV: 'development' };
    await addKeys(DATABASE_URL, 9, 'Demonstration ');
    await welcomeOf(env);
    const ofAdministrator = `api_keys k join users u on u.id = k.user_id where u.email = 'administrator@northwind.example'`;
    expect(await count(DATABASE_URL, `${ofAdministrator} and revoked_at is null`)).toBe(10);
    await withClient(DATABASE_URL, (client) => client.query('update api_keys set revoked_at = now()'));
    await addKeys(DATABASE_URL, 10, 'Own ');
    await withCharter(env, async ({ url, printed }) => {
      await until('the reason', () => printed.stdout.includes('has 10 active keys'));
      expect(printed.stdout).toContain(`${url}/api/parent_programs`);
      expect(printed.stdout).not.toMatch(CURL);
      await until('it to serve', async () => (await new Client(url).get('/readyz')).status === 200);
    });
  });
});
