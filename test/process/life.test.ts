// The processes of a server and a command: start, refusal, stop under load, crash and second start.
import { RELEASE_VERSION } from '../../src/domain/release.ts';
import { Client } from '../support/clients/client.ts';
import { idsOf, walk } from '../support/data/programs.ts';
import { useScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import {
  type LogLine,
  logOf,
  organizationAt,
  startCharter,
  stopUnderLoad,
  withCharter,
} from '../support/processes/charter.ts';
import { runFile } from '../support/processes/process.ts';
import { isLoadRefusal } from '../support/traffic/load.ts';
import { until } from '../support/wait.ts';

const LIST = '/api/parent_programs';

const database = await useScratchDatabase();
const env = { DATABASE_URL: database.url };

test.each<[file: string, parameters: string[], env: Record<string, string>, stderr: string | RegExp]>([
  [
    'src/main.ts',
    [],
    { PORT: 'http' },
    '\nCharter cannot start. PORT is invalid: "http".\n  Set it to an integer from 0 to 65535, or unset it.\n',
  ],
  ['scripts/admin/main.ts', ['list'], env, /^error: unknown command 'list'\n.*\n$/],
])('%s prints a refusal in one message, without a stack, and exits with 1', async (file, parameters, given, stderr) => {
  const ended = await runFile(file, parameters, given);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  if (typeof stderr === 'string') expect(ended.stderr).toBe(stderr);
  else expect(ended.stderr).toMatch(stderr);
});

test('--version prints the version', async () => {
  expect(await runFile('src/main.ts', ['--version'])).toMatchObject({
    code: 0,
    stdout: `${RELEASE_VERSION}\n`,
    stderr: '',
  });
});

// Runs in production, and so without the demonstration, whose public password must not open a production server.
test('a server prints one line when it listens, with its version; stopped under load, it loses no request', async () => {
  const charter = await startCharter({ ...env, PUBLIC_URL: 'http://localhost:3000' });
  expect(logOf(charter)).toEqual([expect.objectContaining({ msg: 'Charter is listening', version: RELEASE_VERSION })]);
  const demonstration = `select 1 from users where email like '%@northwind.example'`;
  const { rows } = await withClient(database.url, (client) => client.query(demonstration));
  expect(rows).toEqual([]);
  await stopUnderLoad(database.url, charter, 16);
  expect(charter.printed.stderr).toBe('');
});

test('after kill -9 during many creates, a second start has every acknowledged one, and stops with 0', async () => {
  const charter = await startCharter(env);
  const { client, key } = await organizationAt(database.url, charter);
  const acknowledged: string[] = [];
  let unavailable = 0;
  const write = async (writer: number) => {
    for (let i = 0; ; i += 1) {
      const reply = await client.post(LIST, { name: `Writer ${writer}, ${i}` }).catch(() => null);
      if (reply === null) return;
      expect([201, 503]).toContain(reply.status);
      if (reply.status === 201) acknowledged.push(reply.body.id);
      // On a busy machine, the first SQL statements of a new process may also time out.
      else if (!isLoadRefusal({ status: reply.status, retryAfter: reply.headers['retry-after'] })) unavailable += 1;
    }
  };
  const writers = [1, 2, 3, 4].map(write);
  await until('fifty creates', () => acknowledged.length >= 50);
  charter.child.kill('SIGKILL');
  await Promise.all(writers);
  await charter.ended;
  // The test support checks all output for keys, which must not be printed even at this log level.
  await withCharter({ ...env, LOG_LEVEL: 'trace' }, async (second) => {
    const { url, child, ended } = second;
    const there = new Set(idsOf(await walk(new Client(url, key), `${LIST}?limit=100`)));
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
    // For each writer, one create may have been committed without a response. Each create that got a 503 may have been committed,
    // too.
    expect(there.size - acknowledged.length).toBeLessThanOrEqual(writers.length + unavailable);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    // A busy machine may refuse some of the requests above.
    const isOwn = ({ level, msg }: LogLine) => level === 40 && msg !== 'refused requests under load';
    const warnings = logOf(second).filter(isOwn);
    expect(warnings).toEqual([expect.objectContaining({ msg: expect.stringContaining('PUBLIC_URL is not set') })]);
  });
});
