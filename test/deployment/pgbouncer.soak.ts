// Two servers behind PgBouncer in transaction mode. PgBouncer has the configuration that the release artifact contains, and is set
// up with the SQL statements of the guide.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import { Client } from '../support/clients/client.ts';
import { blocksOf } from '../support/contract/guides.ts';
import { Browser, keysIn } from '../support/dashboard/dashboard.ts';
import { PASSWORD } from '../support/data/accounts.ts';
import { insertEndpoint } from '../support/data/deliveries.ts';
import { createTeam } from '../support/data/team.ts';
import { createDataFolder, startOwnedPostgres } from '../support/postgres/owned-postgres.ts';
import { type Pgbouncer, startPgbouncer } from '../support/postgres/pgbouncer.ts';
import { setSessionSettings } from '../support/postgres/pooler.ts';
import { serverUrl, TIME_ZONE, withClient } from '../support/postgres/postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { type Charter, logOf, organizationAt, startCharter, withCharter } from '../support/processes/charter.ts';
import { kill, runFile } from '../support/processes/process.ts';
import { respondsWith, startScriptedServer } from '../support/servers/scripted-server.ts';
import { startIntegrations } from '../support/traffic/integrations.ts';
import { startRequests, untilAdmitted } from '../support/traffic/load.ts';
import { length, until } from '../support/wait.ts';

const RESTARTS = length({ full: 1, figures: 20 });
const LIST = '/api/parent_programs';
/**
 * The number of connections from PgBouncer to PostgreSQL. Each of these is greater: the number of clients, the number of
 * connections from a server to PgBouncer, and the number of requests that a server processes concurrently.
 */
const POOL_SIZE = 4;

/** The guide's SQL statements that make the session settings the defaults of the database's user. */
const [settings = ''] = blocksOf('postgresql.md').flatMap(({ code }) => (code.startsWith('ALTER ROLE') ? [code] : []));

type Installation = { readonly directUrl: string; readonly pgbouncer: Pgbouncer };

/** Creates a database whose user has no privileges and has the settings of the guide, with PgBouncer in front of it. */
async function withInstallation(work: (installation: Installation) => Promise<void>): Promise<void> {
  const name = `charter_${randomUUID().replaceAll('-', '')}`;
  const server = await serverUrl();
  await withClient(server, async (client) => {
    await client.query(`create role ${name} login password 'a password'`);
    await client.query(`create database ${name} owner ${name} template template0`);
    await client.query(`alter database ${name} set timezone = '${TIME_ZONE}'`);
  });
  const direct = new URL(server);
  Object.assign(direct, { username: name, password: 'a password', pathname: `/${name}` });
  try {
    const pgbouncer = await startPgbouncer(direct.href, POOL_SIZE);
    try {
      await work({ directUrl: direct.href, pgbouncer });
    } finally {
      await pgbouncer.remove();
    }
  } finally {
    await withClient(server, async (client) => {
      await client.query(`drop database ${name} with (force)`);
      await client.query(`drop role ${name}`);
    });
  }
}

test('two servers serve with fewer connections than clients, and a restart of PgBouncer is a pause', async () => {
  await withInstallation(async ({ directUrl, pgbouncer }) => {
    const name = new URL(directUrl).username;
    const urls = { DATABASE_URL: pgbouncer.url, DATABASE_DIRECT_URL: directUrl };
    await withClient(directUrl, (client) => client.query(settings.replaceAll(' charter ', ` ${name} `)));
    // After a restart, PgBouncer opens new sessions, to which the new settings apply. Its command RECONNECT has the same effect.
    await pgbouncer.kill();
    await pgbouncer.start();

    const receiver = await startScriptedServer();
    receiver.play(respondsWith(204));
    const env = { ...urls, WEBHOOKS_ALLOW_HTTP: 'true', WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1' };
    const servers: Charter[] = [];
    try {
      for (let i = 0; i < 2; i += 1) servers.push(await startCharter(env));
      for (const server of servers) {
        expect(logOf(server)).toContainEqual(
          expect.objectContaining({
            msg: 'the database is behind a connection pooler',
            keepsStatements: pgbouncer.keepsStatements,
          }),
        );
      }
      const [first, second] = servers;
      if (first === undefined || second === undefined) throw new Error('There are no servers.');
      await useEverything(directUrl, { first, second, receiver });
      await admin(urls);
      const keys = await Promise.all(servers.map(async (server) => (await organizationAt(directUrl, server)).key));
      const calm = startRequests(first.url, keys[0] ?? '');
      await calm.afterMore(300);
      expect(await connectionsOf(name, directUrl)).toBeLessThanOrEqual(POOL_SIZE);
      expect(unexpectedIn(await calm.end())).toEqual([]);
      for (let i = 0; i < RESTARTS; i += 1) {
        const loads = servers.map(({ url }, server) => startRequests(url, keys[server] ?? ''));
        for (const load of loads) await load.afterMore(50);
        await pgbouncer.kill();
        for (const { url } of servers) await untilReady(url, 503);
        await pgbouncer.start();
        for (const { url } of servers) await untilReady(url, 200);
        for (const load of loads) {
          expect(unexpectedIn(await load.end())).toEqual([]);
        }
      }
      const after = startRequests(second.url, keys[1] ?? '');
      await after.afterMore(50);
      expect(unexpectedIn(await after.end())).toEqual([]);
      for (const { child } of servers) expect(child.exitCode).toBeNull();
    } finally {
      for (const server of servers) await kill(server);
      await receiver.close();
    }
  });
});

// PgBouncer does not tell its clients whether it is connected to a standby.
test('PgBouncer does not use a standby, not even for a read, until it is promoted', async () => {
  const folder = await createDataFolder();
  const postgres = await startOwnedPostgres(folder);
  try {
    const directUrl = await postgres.url();
    await setSessionSettings(directUrl);
    const pgbouncer = await startPgbouncer(directUrl, POOL_SIZE);
    try {
      const urls = { DATABASE_URL: pgbouncer.url, DATABASE_DIRECT_URL: directUrl };
      const serve = async (charter: Charter) => {
        const { client } = await organizationAt(directUrl, charter);
        const { body: program } = await client.post(LIST, { name: 'Kept' });
        await postgres.restartAsStandby();
        await withClient(directUrl, async (asking) => {
          const { rows } = await asking.query('select pg_is_in_recovery() as is_standby');
          expect(rows).toEqual([{ is_standby: true }]);
          const refused = await Promise.all([
            client.get(LIST),
            client.get(`${LIST}/${program.id}`),
            client.get('/readyz'),
          ]);
          expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
          await asking.query('select pg_promote()');
        });
        await untilReady(charter.url, 200);
        expect((await client.get(LIST)).body.data).toEqual([program]);
      };
      await withCharter(urls, serve);
    } finally {
      await pgbouncer.remove();
    }
  } finally {
    await postgres.stop('immediate');
    await removeCluster(folder);
    await rm(folder, { recursive: true, force: true });
  }
});

/**
 * Returns the failures other than 503. On a busy machine, a request may wait in PgBouncer for longer than a server waits for a
 * connection, which is a 503.
 */
function unexpectedIn({ failures }: { readonly failures: readonly string[] }): string[] {
  return failures.filter((each) => !/^(GET|POST): 503 /.test(each));
}

type Everything = {
  readonly first: Charter;
  readonly second: Charter;
  readonly receiver: Awaited<ReturnType<typeof startScriptedServer>>;
};

/** Uses the API, webhooks and the dashboard, and checks that one server shows the changes made on the other. */
async function useEverything(directUrl: string, { first, second, receiver }: Everything): Promise<void> {
  const { client, key, id: organizationId } = await organizationAt(directUrl, first);
  await using db = connectTo(directUrl, 1);
  await insertEndpoint(db, organizationId, { url: receiver.url });
  const integrations = startIntegrations([client, new Client(second.url, key)]);
  await integrations.afterMore(60);
  const { violations, events } = await integrations.end();
  expect(violations).toEqual([]);
  await until('every webhook', () => {
    const sent = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    return events.every(({ id }) => sent.has(id));
  });

  const { administrator } = await createTeam(db);
  const browser = new Browser(first.url);
  expect((await browser.signIn(administrator.email, PASSWORD)).status).toBe(303);
  const keys = '/profile/api-keys';
  const [old = ''] = keysIn(await browser.submit(`${keys}/new`, { name: 'Rotated' }, keys));
  expect((await untilAdmitted(() => new Client(second.url, old).get('/api/key'))).status).toBe(200);
  const { id } = await db.prisma.apiKey.findFirstOrThrow({ where: { userId: administrator.userId } });
  const [next = ''] = keysIn(await browser.submit(`${keys}/${id}/rotate`));
  expect((await untilAdmitted(() => new Client(second.url, next).get('/api/key'))).status).toBe(200);
  expect((await untilAdmitted(() => new Client(second.url, old).get('/api/key'))).status).toBe(401);
}

/** Runs admin commands. `rotate-encryption-key` holds a session lock over several transactions. */
async function admin(urls: Record<string, string>): Promise<void> {
  for (const command of ['list-organizations', 'rotate-encryption-key'])
    expect(await runFile('scripts/admin/main.ts', [command], urls)).toMatchObject({ code: 0, stderr: '' });
}

/** Returns how many connections the servers have. Only the servers and this client connect as the role. */
async function connectionsOf(role: string, url: string): Promise<number> {
  const text = 'select from pg_stat_activity where usename = $1 and pid <> pg_backend_pid()';
  return withClient(url, async (client) => (await client.query(text, [role])).rowCount ?? 0);
}

async function untilReady(url: string, status: number): Promise<void> {
  await until(`a response with ${status}`, async () => (await new Client(url).get('/readyz')).status === status);
}
