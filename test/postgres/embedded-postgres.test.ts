import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import { withClient } from '../support/postgres/postgres.ts';
import { kill, type Running, startFile, untilPrinted } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

// Each member is a separate process, like the servers, admin commands and tests that share a data folder.

let members: Running[] = [];
const dataDir = await createFolder();
afterAll(() => removeCluster(dataDir));
/** The last member that leaves normally stops the PostgreSQL server, even if earlier members crashed. */
afterEach(async () => {
  await Promise.all(members.map(kill));
  members = [];
  if ((await serverPid()) !== null) await leave((await enter()).member);
  expect(await serverPid()).toBeNull();
});

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-embedded-'));
  await chmod(folder, 0o755); // for the user that runs PostgreSQL when this test runs as root
  return folder;
}

type Member = { member: Running; url: string };

async function enter(folder = dataDir): Promise<Member> {
  const member = startFile('test/support/postgres/embedded-member.ts', [], { DATA_DIR: folder });
  members.push(member);
  const [url] = await untilPrinted(member, /^postgresql:\S+(?=\n)/);
  return { member, url };
}

/**
 * Makes the member leave. Resolves after the member has left and, if it was the last member, has stopped the PostgreSQL server.
 */
async function leave(member: Running): Promise<void> {
  member.child.stdin?.end();
  expect((await member.ended).code).toBe(0);
}

function lockFileOf(folder: string): string {
  return join(folder, 'postgres', 'postmaster.pid');
}

/** Returns the process id of the PostgreSQL server, or `null` if no server runs. */
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

/** Returns a text that differs for each start of a PostgreSQL server. */
async function startOf(url: string): Promise<string> {
  const { rows } = await withClient(url, (client) => client.query('select pg_postmaster_start_time()::text as start'));
  return rows[0].start;
}

test('of three processes that join an empty folder at once, one starts the server, all use it, and the last to leave stops it', async () => {
  const folder = await createFolder();
  const joined = await Promise.all([enter(folder), enter(folder), enter(folder)]);
  expect(new Set(joined.map(({ url }) => url)).size).toBe(1);
  const starts = await Promise.all(joined.map(({ url }) => startOf(url)));
  expect(new Set(starts).size).toBe(1);
  const [first, second, third] = joined;
  if (first === undefined || second === undefined || third === undefined)
    throw new Error('Fewer than three members have joined.');
  await leave(first.member);
  await leave(second.member);
  expect(await startOf(third.url)).toBe(starts[0]);
  await leave(third.member);
  expect(await serverPid(folder)).toBeNull();
  await removeCluster(folder);
});

// The server survives a member that was killed. The next member must find the server, and not start another server on the same
// files.
test('after kill -9 of the only member, the next one joins the running server and finds the data', async () => {
  const killed = await enter();
  await withClient(killed.url, (client) => client.query('create table if not exists kept as select 1 as one'));
  const start = await startOf(killed.url);
  await kill(killed.member);
  const next = await enter();
  expect(next.url).toBe(killed.url);
  expect(await startOf(next.url)).toBe(start);
  await leave(next.member);
});

test('after kill -9 of the server, the next member starts it on the same data', async () => {
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

// After a crash or in a new container, the process id in the lock file may belong to any process. Here, it belongs to this test.
test("a lock file with another process's id does not prevent the start, and that process is left alone", async () => {
  const before = await enter();
  const lockFile = await readFile(lockFileOf(dataDir), 'utf8');
  await leave(before.member);
  await writeFile(lockFileOf(dataDir), lockFile.replace(/^\d+/, String(process.pid)));
  const after = await enter();
  expect(await serverPid()).not.toBe(process.pid);
  await startOf(after.url);
  await leave(after.member);
});
