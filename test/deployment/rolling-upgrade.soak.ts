// Two servers behind HAProxy, which has the configuration that the release artifact contains. The version before the newest
// migration and the current version serve side by side while the migration runs under load.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import { HIGH_LIMITS, SERVES, startCharter } from '../support/processes/charter.ts';
import { startHaproxy } from '../support/processes/haproxy.ts';
import { kill, type Running, runFile, startFile, untilPrinted } from '../support/processes/process.ts';
import { freePort } from '../support/servers/port.ts';
import { startRequests } from '../support/traffic/load.ts';
import { length, until } from '../support/wait.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROWS = length({ full: 20_000, figures: 1_000_000 });
/** The number of further restarts, of the two servers in turn, after both servers run the current version. */
const RESTARTS = length({ full: 0, figures: 40 });

async function git(...parameters: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', parameters, { cwd: ROOT });
  return stdout.trim();
}

/** Checks out the commit before the commit that added the newest migration, ready to start. The caller removes the folder. */
async function checkOutPrevious(): Promise<string> {
  const added = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', 'prisma/migrations');
  const folder = await mkdtemp(join(tmpdir(), 'charter-previous-'));
  const archive = join(folder, 'archive.tar');
  await git('archive', '--output', archive, `${added}^`);
  await promisify(execFile)('tar', ['-xf', archive, '-C', folder]);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { code, stderr } = await runFile(join(folder, 'scripts/generate/main.ts'), ['--uncommitted']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return folder;
}

test('no request fails while two servers of the previous version are drained and replaced, one after the other', async () => {
  const previous = await checkOutPrevious();
  const database = await createScratchDatabase('empty');
  const ports = [await freePort('127.0.0.1'), await freePort('127.0.0.1')] as const;
  const env = (port: number) => ({
    DATABASE_URL: database.url,
    NODE_ENV: 'production',
    PORT: `${port}`,
    PUBLIC_URL: 'https://charter.example.org',
    DRAIN_SECONDS: '3',
    TRUSTED_PROXIES: 'loopback',
    ...HIGH_LIMITS,
  });
  const servers: Running[] = [];
  try {
    const old: Running[] = [];
    for (const port of ports) {
      const server = startFile(join(previous, 'src/main.ts'), [], env(port));
      servers.push(server);
      old.push(server);
      await untilPrinted(server, SERVES);
    }
    const haproxy = await startHaproxy(ports);
    try {
      const { statusCode, headers } = await getWithTls(`${haproxy.tlsUrl}/sign-in`, haproxy.certificate);
      expect({ statusCode, hsts: headers['strict-transport-security'] }).toEqual({
        statusCode: 200,
        hsts: expect.stringMatching(/^max-age=\d+/),
      });
      const { key, id } = await createOrganization(previous, env(0));
      await fill(database.url, id);
      const before = await migrationsOf(database.url);
      const load = startRequests(haproxy.url, key);
      const serving = [...old];
      for (let i = 0; i < ports.length + RESTARTS; i += 1) {
        await load.afterMore(50);
        const place = i % ports.length;
        serving[place]?.child.kill('SIGTERM');
        expect((await serving[place]?.ended)?.code).toBe(0);
        const server = await startCharter(env(ports[place] ?? 0));
        servers.push(server);
        serving[place] = server;
        // The other server must not stop before HAProxy sends requests to this server.
        await until('a request from HAProxy', () => server.printed.stdout.includes('/api/parent_programs'));
      }
      await load.afterMore(50);
      expect(await load.end()).toEqual({ failures: [] });
      expect(await migrationsOf(database.url)).toBeGreaterThan(before);
    } finally {
      await haproxy.stop();
    }
  } finally {
    for (const server of servers) await kill(server);
    await database.drop();
    await rm(previous, { recursive: true, force: true });
  }
});

/**
 * Creates an organization with the commands of the previous version, because the current commands need the current migrations.
 */
async function createOrganization(
  previous: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly id: string; readonly key: string }> {
  const admin = async (...parameters: readonly string[]) => {
    const file = join(previous, 'scripts/admin/main.ts');
    const { code, stdout, stderr } = await runFile(file, ['--json', ...parameters], { ...env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  };
  const email = 'ada@acme.example';
  const administrator = ['--admin-email', email, '--admin-name', 'Ada'];
  const { organization_id: id } = await admin('create-organization', '--name', 'Acme', ...administrator);
  const { key } = await admin('issue-key', '--user', email, '--name', 'Upgrade');
  return { id, key };
}

/** Inserts enough programs for the test to notice a migration that reads or writes all rows while it locks the table. */
async function fill(url: string, organizationId: string): Promise<void> {
  await withClient(url, (client) =>
    client.query(
      `insert into parent_programs (organization_id, id, name)
       select $1, gen_random_uuid(), 'Program ' || i from generate_series(1, ${ROWS}) i`,
      [organizationId],
    ),
  );
}

async function migrationsOf(url: string): Promise<number> {
  const { rows } = await withClient(url, (client) => client.query('select count(*)::int from _prisma_migrations'));
  return rows[0].count;
}

/** Sends a GET request that trusts only this certificate. */
async function getWithTls(url: string, certificate: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { ca: certificate, agent: false }, resolve).on('error', reject);
  const response = await promise;
  response.resume();
  return response;
}
