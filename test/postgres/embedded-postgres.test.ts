import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import { withClient } from '../support/postgres.ts';
import { kill, type Running, startFile, untilPrinted } from '../support/process.ts';
import { until } from '../support/wait.ts';

// Each member is a process of its own, as servers, admin commands and tests are that share one data folder.

let dataDir: string;
let members: Running[] = [];
beforeAll(async () => {
  dataDir = await createFolder();
});
/** The last to leave in good order stops the server, whatever became of those before. */
afterEach(async () => {
  await Promise.all(members.map(kill));
  members = [];
  if ((await serverPid()) !== null) await leave((await enter()).member);
  expect(await serverPid()).toBeNull();
});
afterAll(() => removeCluster(dataDir));

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-embedded-'));
  await chmod(folder, 0o755); // for the user that PostgreSQL runs as, when we are root
  return folder;
}

type Member = { member: Running; url: string };

async function enter(folder = dataDir): Promise<Member> {
  const member = startFile('test/support/embedded-member.ts', [], { DATA_DIR: folder });
  members.push(member);
  const [url] = await untilPrinted(member, /^postgresql:\S+(?=\n)/);
  return { member, url };
}

/** Resolves once it has left, and has stopped the server where it was the last one. */
async function leave(member: Running): Promise<void> {
  member.child.stdin?.end();
  expect((await member.ended).code).toBe(0);
}

function lockFileOf(folder: string): string {
  return join(folder, 'postgres', 'postmaster.pid');
}

/** Null: none runs. */
async function serverPid(folder = dataDir): Promise<number | null> {
  const pid = Number((await readFile(lockFileOf(folder), 'utf8').catch(() => '')).split('\n')[0]);
  return pid > 0 && isAlive(pid) ? pid : null;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** What tells one run of a server from the next. */
async function startOf(url: string): Promise<string> {
  const { rows } = await withClient(url, (client) => client.query('select pg_postmaster_start_time()::text as start'));
  return rows[0].start;
}

test('of three that join an empty folder at once one makes the server, all use it, and the last to leave stops it', async () => {
  const folder = await createFolder();
  const joined = await Promise.all([enter(folder), enter(folder), enter(folder)]);
  expect(new Set(joined.map(({ url }) => url)).size).toBe(1);
  const starts = await Promise.all(joined.map(({ url }) => startOf(url)));
  expect(new Set(starts).size).toBe(1);
  const [first, second, third] = joined;
  if (first === undefined || second === undefined || third === undefined) throw new Error('Three have joined.');
  await leave(first.member);
  await leave(second.member);
  expect(await startOf(third.url)).toBe(starts[0]);
  await leave(third.member);
  expect(await serverPid(folder)).toBeNull();
  await removeCluster(folder);
});

// The server outlives a member that was killed, for nobody was left to stop it: the next one must find it, not start a
// second one on the same files.
test('after kill -9 of the only member, the next one joins the server that still runs, with what was written', async () => {
  const killed = await enter();
  await withClient(killed.url, (client) => client.query('create table if not exists kept as select 1 as one'));
  const start = await startOf(killed.url);
  await kill(killed.member);
  const next = await enter();
  expect(next.url).toBe(killed.url);
  expect(await startOf(next.url)).toBe(start);
  await leave(next.member);
});

test('after kill -9 of the server itself, the next member starts it on the same data', async () => {
  const member = await enter();
  await withClient(member.url, (client) => client.query('create table if not exists kept as select 1 as one'));
  const pid = await serverPid();
  await kill(member.member);
  process.kill(pid ?? 0, 'SIGKILL');
  await until('the server to be gone', async () => (await serverPid()) === null);
  const next = await enter();
  expect(await serverPid()).not.toBe(pid);
  await withClient(next.url, async (client) => {
    expect((await client.query('select one from kept')).rows).toEqual([{ one: 1 }]);
  });
  await leave(next.member);
});

// After a crash or in a new container, the process id of the lock file may be anybody's: here, it is this test's.
test('a lock file that names somebody else does not keep the server from starting, nor is that one touched', async () => {
  const before = await enter();
  const lockFile = await readFile(lockFileOf(dataDir), 'utf8');
  await leave(before.member);
  await writeFile(lockFileOf(dataDir), lockFile.replace(/^\d+/, String(process.pid)));
  const after = await enter();
  expect(await serverPid()).not.toBe(process.pid);
  await startOf(after.url);
  await leave(after.member);
});
