// One PostgreSQL and one Chromium for all test files of a run, in the process of the global set-up. Each starts on the
// first request for it, over HTTP, so that a run without it does not wait for it.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { portOf } from './port.ts';
import { SHARED, type Shared } from './shared.ts';

type Started = { readonly url: string; end(): Promise<unknown> };
export type Services = { readonly url: string; end(): Promise<void> };

/** `folder`: the run's own. */
export async function shareServices(folder: string): Promise<Services> {
  const start = { postgres: () => startPostgres(folder), browser: startBrowser };
  const started = new Map<Shared, Promise<Started>>();
  const server = createServer((req, res) => {
    // On a busy machine, a client could send its next request on a connection that is just being closed as idle.
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    async end() {
      server.close();
      server.closeAllConnections();
      for (const service of started.values()) await (await service.catch(() => null))?.end();
    },
  };
}

/**
 * Its data is lost after the run, so it need not reach the disk. Several short runs can share one:
 * CHARTER_TEST_SERVER.
 */
async function startPostgres(folder: string): Promise<Started> {
  const { joinEmbeddedPostgres } = await import('../../src/postgres/embedded-postgres.ts');
  const postgresSettings = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };
  const given = process.env['CHARTER_TEST_SERVER'];
  const own = given === undefined ? await joinEmbeddedPostgres({ dataDir: folder, postgresSettings }) : undefined;
  return { url: await makeTemplate(own?.url ?? given ?? ''), end: async () => own?.leave() };
}

/** The template of every test database: empty, with every migration applied. Returns its URL. */
async function makeTemplate(serverUrl: string): Promise<string> {
  const [{ migrate }, { readMigrations }, { completeMigrations }, { openKeyring }, { KEYRING }, { withClient }] =
    await Promise.all([
      import('../../src/postgres/migrate.ts'),
      import('../../src/postgres/migrations.ts'),
      import('../../src/postgres/complete-migrations.ts'),
      import('../../src/postgres/open-keyring.ts'),
      import('./encryption.ts'),
      import('./postgres.ts'),
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
  const [{ chromium }, { launchOptions }] = await Promise.all([import('playwright-core'), import('./browser.ts')]);
  const server = await chromium.launchServer({ ...launchOptions(), host: '127.0.0.1' });
  return { url: server.wsEndpoint(), end: () => server.close() };
}
