// An operator deploys an artifact, upgrades it and goes back, on a machine that has only Node.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '../support/clients/client.ts';
import { openFolder } from '../support/folder.ts';
import { createScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import { useMachine } from '../support/processes/artifact.ts';
import { HIGH_LIMITS } from '../support/processes/charter.ts';
import { getProgram } from '../support/processes/debian.ts';
import { kill, type Running } from '../support/processes/process.ts';
import { startRequests } from '../support/traffic/load.ts';

const PLATFORM = `${process.platform}-${process.arch}`;
const LARGEST_BYTES = { [`charter-1.0.0-${PLATFORM}`]: 60e6, [`charter-1.0.0-with-postgresql-${PLATFORM}`]: 120e6 };

const machine = await useMachine();
const output = join(machine.folder, 'output');

let made: Promise<string> | undefined;

/** Makes both variants of the artifact, once for all tests. */
function makeArtifacts(): Promise<string> {
  made ??= machine.make(output, '--release', '1.0.0');
  return made;
}

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGTERM');
  expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
}

async function admin(artifact: string, env: Record<string, string>, ...parameters: string[]) {
  const { code, stdout, stderr } = await machine.run(artifact, ['admin', '--json', ...parameters], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

test('npm run dist makes the same small artifacts each time, with a bill of materials and the checksums of all files', async () => {
  await makeArtifacts();
  for (const [name, largest] of Object.entries(LARGEST_BYTES)) {
    const artifact = join(output, name);
    const files = (await readdir(artifact, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
    const paths = files.map((each) => join(each.parentPath, each.name).slice(artifact.length + 1));
    const sums = await readFile(join(artifact, 'SHA256SUMS'), 'utf8');
    const summed = [...sums.matchAll(/^[0-9a-f]{64} {2}(.+)$/gm)].map(([, path]) => path);
    expect(summed.toSorted()).toEqual(paths.filter((path) => path !== 'SHA256SUMS').toSorted());
    await promisify(execFile)('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: artifact });
    await promisify(execFile)('sha256sum', ['--check', '--quiet', `${name}.tar.gz.sha256`], { cwd: output });
    const { stdout } = await promisify(execFile)('du', ['--bytes', '--summarize', artifact]);
    expect(Number.parseInt(stdout, 10)).toBeLessThan(largest);
    const { metadata } = JSON.parse(await readFile(join(artifact, 'sbom.cdx.json'), 'utf8'));
    expect(metadata.component).toMatchObject({ name: 'charter', version: '1.0.0' });
  }
  const again = join(machine.folder, 'again');
  await machine.make(again, '--release', '1.0.0', '--without-postgresql');
  const name = `charter-1.0.0-${PLATFORM}.tar.gz`;
  expect(await sha256(join(again, name))).toBe(await sha256(join(output, name)));
});

test('another user unpacks the artifact, starts it on a PostgreSQL, upgrades it under load and goes back', async () => {
  const releases = join(machine.folder, 'releases');
  await Promise.all([makeArtifacts(), machine.make(releases, '--release', '1.1.0', '--without-postgresql')]);
  const [previous, next] = await Promise.all([
    machine.unpack(join(output, `charter-1.0.0-${PLATFORM}.tar.gz`)),
    machine.unpack(join(releases, `charter-1.1.0-${PLATFORM}.tar.gz`)),
  ]);
  // The next release has a migration.
  const migration = join(next, 'prisma/migrations/29990101000000_of_the_next_release');
  await mkdir(migration);
  await writeFile(join(migration, 'migration.sql'), 'ALTER TABLE "parent_programs" ADD COLUMN "trial" TEXT;\n');
  const database = await createScratchDatabase('empty');
  // Limits that the load does not reach, however fast the machine is.
  const env = { DATABASE_URL: database.url, ...HIGH_LIMITS };
  const servers: Running[] = [];
  const serve = async (artifact: string, more: Record<string, string> = {}) => {
    const server = await machine.serve(artifact, { ...env, ...more });
    servers.push(server);
    return server;
  };
  try {
    const first = await serve(previous);
    // The artifact defaults to production, so it creates no demonstration data.
    expect(await admin(previous, env, 'list-organizations')).toEqual({ organizations: [] });
    const person = ['--admin-email', 'ada@acme.example', '--admin-name', 'Ada'];
    await admin(previous, env, 'create-organization', '--name', 'Acme', ...person);
    const { key } = await admin(previous, env, 'issue-key', '--user', 'ada@acme.example', '--name', 'Trial');
    await expectToServe(first.url, key);
    const port = { PORT: new URL(first.url).port };
    expect((await machine.run(previous, ['health'], port)).code).toBe(0);
    expect(first.printed.stdout).toContain('"version":"1.0.0"');
    for (const program of ['admin', 'workflows']) {
      const { stdout } = await machine.run(previous, [program, '--help']);
      expect(stdout).toContain(`node charter.mjs ${program}`);
      expect(stdout).not.toContain('npm run');
    }
    const workflows = ['workflows', '--server', first.url];
    const ran = await machine.run(previous, workflows, { CHARTER_API_KEY: key });
    expect({ code: ran.code, printed: ran.code === 0 ? '' : ran.stdout + ran.stderr }).toEqual({
      code: 0,
      printed: '',
    });

    const load = startRequests(first.url, key);
    const second = await serve(next, { WORKERS: '2' });
    await expectToServe(second.url, key);
    await load.afterMore(100);
    expect(await load.end()).toEqual({ failures: [] });
    await stop(first);
    expect((await machine.run(previous, ['health'], port)).code).toBe(1);
    await expectToServe(second.url, key);

    await stop(second);
    const refused = await machine.run(previous, [], env);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('set NEWER_DATABASE=accept') });
    const back = await serve(previous, { NEWER_DATABASE: 'accept' });
    await expectToServe(back.url, key);
    expect(back.printed.stdout).toContain('NEWER_DATABASE');
    await stop(back);
    const rows = await withClient(database.url, (client) => client.query('select count(*)::int from parent_programs'));
    expect(rows.rows[0].count).toBeGreaterThan(0);
  } finally {
    for (const server of servers) await kill(server);
    await database.drop();
  }
});

test('the artifact with PostgreSQL needs no other, and nothing but its data folder is written', async () => {
  await makeArtifacts();
  const artifact = await machine.unpack(join(output, `charter-1.0.0-with-postgresql-${PLATFORM}.tar.gz`));
  const data = await machine.unpack(join(output, `charter-1.0.0-${PLATFORM}.tar.gz`));
  const before = await namesIn(artifact);
  const env = { DATA_DIR: join(data, 'data'), NODE_COMPILE_CACHE: join(data, 'compiled'), ENCRYPTION_KEY: '' };
  const server = await machine.serve(artifact, env);
  try {
    expect(await admin(artifact, env, 'list-organizations')).toEqual({ organizations: [] });
    expect((await new Client(server.url).get('/readyz')).status).toBe(200);
    await stop(server);
    expect(await namesIn(artifact)).toEqual(before);
  } finally {
    await kill(server);
  }
});

test('the commands of the artifact explain themselves, and a Node that is too old says so', async () => {
  const file = join(import.meta.dirname, '../../scripts/dist/charter.mjs');
  const folder = join(machine.folder, 'commands');
  await mkdir(folder);
  await writeFile(join(folder, 'charter.mjs'), await readFile(file));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ version: '1.2.3', engines: { node: '>=24.18' } }));
  expect(await machine.run(folder, ['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('admin') });
  expect(await machine.run(folder, ['--version'])).toEqual({ code: 0, stdout: '1.2.3\n', stderr: '' });
  const unknown = await machine.run(folder, ['serve']);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringMatching(/^There is no command "serve"\.\n\nnode /) });
  expect((await machine.run(folder, ['health'], { PORT: '1' })).code).toBe(1);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ engines: { node: '>=99.1' } }));
  const old = await machine.run(folder, []);
  expect(old).toMatchObject({
    code: 1,
    stderr: `Charter needs Node 99.1 or newer; this is ${process.versions.node}.\n`,
  });
});

/** Checks that the server serves the API, the dashboard, the documentation and their files, and creates a row. */
async function expectToServe(url: string, key: string): Promise<void> {
  const client = new Client(url, key);
  expect((await client.get('/readyz')).status).toBe(200);
  expect((await client.post('/api/parent_programs', { name: 'Nordic Scholars Exchange' })).status).toBe(201);
  const { status, body } = await client.get('/api/parent_programs?limit=1');
  expect({ status, names: body.data.map(({ name }: { name: string }) => name) }).toEqual({
    status: 200,
    names: ['Nordic Scholars Exchange'],
  });
  const signIn = await client.get('/sign-in', { headers: { Accept: 'text/html' } });
  expect(signIn).toMatchObject({ status: 200, text: expect.stringContaining('<title>') });
  const assets = [...signIn.text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(assets.length).toBeGreaterThan(0);
  const published = [
    '/docs',
    '/docs/all',
    '/docs/reference',
    '/llms.txt',
    '/.well-known/api-catalog',
    '/openapi.json',
    '/openapi.yaml',
    '/postman.json',
    '/charter-client.tgz',
    '/charter-mock.tgz',
    '/charter-mcp.tgz',
  ];
  for (const path of [...assets, ...published]) expect([path, (await client.get(path)).status]).toEqual([path, 200]);
}

async function sha256(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).toSorted();
}

/** The highest exposure level allowed, on systemd's scale from 0 (safe) to 10. Below 2.0, systemd calls a unit "OK". */
const MOST_EXPOSURE = 2;
const UNIT = join(import.meta.dirname, '../../scripts/dist/deploy/charter.service');

test('systemd accepts the unit, and finds it hardly exposed', async () => {
  await using folder = await openFolder();
  const analyze = getProgram('systemd-analyze', 'systemd');
  const unit = join(folder.path, 'charter.service');
  // systemd checks that the program exists. The unit's folder is made when the unit starts.
  const node = join(folder.path, 'node'); // a link, because a space in the path of this Node would end the path in the unit
  await symlink(process.execPath, node);
  const text = (await readFile(UNIT, 'utf8')).replace('/usr/bin/node', node);
  await mkdir(join(folder.path, 'current'));
  await writeFile(unit, text.replaceAll('/opt/charter/current', join(folder.path, 'current')));
  const verified = await promisify(execFile)(analyze, ['verify', '--man=no', unit]);
  expect(verified.stdout + verified.stderr).toBe('');
  const { stdout } = await promisify(execFile)(analyze, ['security', '--offline=true', '--no-pager', unit]);
  const [, exposure = ''] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
  expect(exposure).not.toBe('');
  expect(Number(exposure)).toBeLessThanOrEqual(MOST_EXPOSURE);
});
