// Shares one PostgreSQL and one Chromium among all test files of a run, in the process of the global set-up. PostgreSQL and
// Chromium each start at the first HTTP request for them, so that a run waits only for what it needs.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { listenLocally } from '../servers/port.ts';
import { SHARED, type Shared } from './shared.ts';

type Started = { readonly url: string; end(): Promise<unknown> };
export type Services = { readonly url: string; end(): Promise<void> };

export async function shareServices(): Promise<Services> {
  const start = { postgres: startPostgres, browser: startBrowser };
  const started = new Map<Shared, Promise<Started>>();
  const server = createServer((req, res) => {
    // Closes each connection. Otherwise, on a busy machine, a client could send a request on a connection that is just being
    // closed because it was idle.
    res.setHeader('Connection', 'close');
    const name = SHARED.find((each) => req.url === `/${each}`);
    if (name === undefined) return res.writeHead(404).end();
    const service = started.get(name) ?? start[name]();
    started.set(name, service);
    return service.then(
      ({ url }) => res.end(url),
      (error) => res.writeHead(500).end(String(error)),
    );
  });
  const port = await listenLocally(server);
  const endAll = async () => {
    server.close();
    server.closeAllConnections();
    for (const service of started.values()) await (await service.catch(() => null))?.end();
  };
  let ending: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    // A signal can arrive during the tear-down, so `end` can be called twice.
    end() {
      ending ??= endAll();
      return ending;
    },
  };
}

/**
 * Starts PostgreSQL. If CHARTER_TEST_SERVER is the URL of a running PostgreSQL, uses that PostgreSQL, so that several short runs
 * can share it.
 */
async function startPostgres(): Promise<Started> {
  const given = process.env['CHARTER_TEST_SERVER'];
  if (given !== undefined) return { url: await makeTemplate(given), end: async () => {} };
  const { startTemporaryPostgres } = await import('../../../scripts/temporary-postgres.ts');
  const postgres = await startTemporaryPostgres();
  try {
    return { url: await makeTemplate(postgres.url), end: postgres.end };
  } catch (error) {
    await postgres.end();
    throw error;
  }
}

/** Creates the template of all test databases, with every migration applied and without rows. Returns its URL. */
async function makeTemplate(serverUrl: string): Promise<string> {
  const [{ migrate }, { readMigrations }, { completeMigrations }, { openKeyring }, { KEYRING, withClient }] =
    await Promise.all([
      import('../../../src/postgres/migrate.ts'),
      import('../../../src/postgres/migrations.ts'),
      import('../../../src/postgres/complete-migrations.ts'),
      import('../../../src/postgres/open-keyring.ts'),
      import('../postgres/postgres.ts'),
    ]);
  const migrations = await readMigrations();
  const hash = createHash('sha256').update(JSON.stringify(migrations)).digest('hex').slice(0, 16);
  const [name, unfinished] = [`template_${hash}`, `template_${hash}_unfinished`];
  const at = (database: string) => Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href;
  await withClient(serverUrl, async (client) => {
    const found = await client.query('select from pg_database where datname = $1', [name]);
    if (found.rowCount !== 0) return;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    await migrate(at(unfinished), migrations);
    await openKeyring(at(unfinished), { keyring: KEYRING, dataDir: '' });
    await completeMigrations(at(unfinished), KEYRING);
    await client.query(`alter database ${unfinished} rename to ${name}`);
  });
  return at(name);
}

async function startBrowser(): Promise<Started> {
  const [{ chromium }, { launchOptions }] = await Promise.all([
    import('playwright-core'),
    import('../browser/browser.ts'),
  ]);
  const server = await chromium.launchServer({ ...launchOptions(), host: '127.0.0.1' });
  return { url: server.wsEndpoint(), end: () => server.close() };
}
