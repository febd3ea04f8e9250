import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RELEASE_VERSION } from '../../src/domain/release.ts';
import { Client } from '../support/clients/client.ts';
import { openFolder } from '../support/folder.ts';
import { parseSeries, type Series } from '../support/observability/metrics.ts';
import { proxyDatabase } from '../support/postgres/database-proxy.ts';
import { useScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import { type Charter, logOf, organizationAt, SERVES, startCharter } from '../support/processes/charter.ts';
import { kill, preloading, type Running, runFile, startFile, untilPrinted } from '../support/processes/process.ts';
import { freePort } from '../support/servers/port.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { until } from '../support/wait.ts';

const WORKERS = 3;
const HOST = '127.0.0.1';
const LIST = '/api/parent_programs';
const REPLACED = 'a worker ended and will be replaced';

const database = await useScratchDatabase();

type Supervised = Charter & {
  readonly series: () => Promise<Series>;
  /** The process ids of the workers that were started, by number. */
  readonly pids: () => Map<number, number>;
};

/** The server of most tests. After each test, the server has three workers. A test may have replaced some of them. */
const shared = await startWorkers({
  ...preloading('reject-on-signal.mjs'),
  CHARTER_TEST_FAULT: 'rejection',
  CHARTER_TEST_SECRET: '',
});
afterAll(() => kill(shared));
// A server whose workers were replaced must shut down like any other.
afterAll(async () => {
  shared.child.kill('SIGTERM');
  expect((await shared.ended).code).toBe(0);
});

async function startWorkers(env: Record<string, string> = {}): Promise<Supervised> {
  const all = { DATABASE_URL: database.url, WORKERS: String(WORKERS), METRICS_PORT: '0', ...env };
  const charter = await startCharter(all);
  const metricsUrl = logOf(charter).find(({ msg }) => msg === 'metrics are served')?.['url'];
  return {
    ...charter,
    series: async () => parseSeries(await (await fetch(String(metricsUrl))).text()),
    pids: () => {
      const starts = logOf(charter).filter(({ msg }) => msg === 'a worker starts');
      return new Map(starts.map(({ worker, workerPid }) => [Number(worker), Number(workerPid)]));
    },
  };
}

async function withWorkers(
  work: (charter: Supervised) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  await using charter = await startWorkers(env);
  await work(charter);
}

function endsOf(charter: Supervised) {
  return logOf(charter).filter(({ msg }) => msg === REPLACED);
}

function servedBy(series: Series, worker: number): number {
  const pattern = new RegExp(
    `^charter_request_duration_seconds_count\\{operation="getKey",status="2xx",worker="${worker}"\\}$`,
  );
  return [...series].find(([name]) => pattern.test(name))?.[1] ?? 0;
}

/**
 * Sends requests until each of these workers has served at least one, and `isSo` accepts the metrics. A busy machine may refuse a
 * request, but no connection may break.
 */
function untilServed(
  { client, charter, workers }: { client: Client; charter: Supervised; workers: readonly number[] },
  isSo: (series: Series) => boolean = () => true,
): Promise<Series> {
  return until(`the workers ${workers} to serve`, async () => {
    // Each request opens a connection.
    expect([200, 503]).toContain((await client.get('/api/key')).status);
    const series = await charter.series();
    return isSo(series) && workers.every((worker) => servedBy(series, worker) > 0) ? series : null;
  });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('all workers serve the same port, and the metrics show each of them', async () => {
  const { client } = await organizationAt(database.url, shared);
  const series = await untilServed({ client, charter: shared, workers: [1, 2, 3] });
  expect(series.get('charter_workers')).toBe(WORKERS);
  expect(series.get('charter_worker_ends_total')).toBe(endsOf(shared).length);
  for (const worker of [1, 2, 3])
    expect(series.get(`nodejs_eventloop_lag_p99_seconds{worker="${worker}"}`)).toBeDefined();
  expect(new Set(logOf(shared).map(({ worker }) => worker))).toEqual(new Set([undefined, 1, 2, 3]));
  // Only one worker logs the warning.
  const warnings = logOf(shared).filter(({ msg }) => String(msg).startsWith('PUBLIC_URL is not set'));
  expect(warnings).toHaveLength(1);
  expect(logOf(shared)).toContainEqual(
    expect.objectContaining({ msg: 'Charter is listening', version: RELEASE_VERSION }),
  );
});

// The case: the kernel kills workers, for example for lack of memory.
test('workers that die while the server starts are replaced', async () => {
  await using running = startFile('src/main.ts', [], {
    ...{ DATABASE_URL: database.url, PORT: '0', NODE_ENV: 'production', WORKERS: '4' },
  });
  const killed = new Set<number>();
  await until('four workers to have died', () => {
    for (const { msg, worker, workerPid } of logOf(running)) {
      if (msg !== 'a worker starts' || worker === 1 || killed.size === 4 || killed.has(Number(workerPid))) continue;
      killed.add(Number(workerPid));
      process.kill(Number(workerPid), 'SIGKILL');
    }
    return killed.size === 4;
  });
  await untilPrinted(running, SERVES);
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(0);
});

/** A script that stops the process of worker 2 (SIGSTOP) before the worker starts. SIGCONT would continue the process. */
const STOPPING = `if (process.argv.slice(2, 4).join(' ') === 'worker 2') process.kill(process.pid, 'SIGSTOP');`;

// The bug: without the drain time, a load balancer sent requests to a port on which nothing listened.
test('workers that serve announce a shutdown while others still start', async () => {
  const port = await freePort(HOST);
  const running = startFile('src/main.ts', [], {
    ...{ DATABASE_URL: database.url, PORT: String(port), NODE_ENV: 'production', WORKERS: '2', DRAIN_SECONDS: '300' },
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(STOPPING)}`,
  });
  let starting = 0;
  try {
    starting = await until('worker 2 to start', () => startOf(running, 2));
    const client = new Client(`http://${HOST}:${port}`);
    expect((await untilAdmitted(() => client.get('/readyz'))).status).toBe(200);
    running.child.kill('SIGTERM');
    await until('the announcement', async () => (await client.get('/readyz')).status === 503);
  } finally {
    // A stopped process would keep the output of the server open.
    if (starting > 0) process.kill(starting, 'SIGKILL');
    await kill(running);
  }
});

/** Returns the process id of a worker that has been started, or `undefined`. */
function startOf(running: Running, number: number): number | undefined {
  const start = logOf(running).find(({ msg, worker }) => msg === 'a worker starts' && worker === number);
  return start && Number(start['workerPid']);
}

// The risk: a worker responds from its cache although another worker has written a change.
test('each worker shows at once what another one has written', async () => {
  const { client } = await organizationAt(database.url, shared);
  const { body } = await untilAdmitted(() => client.post(LIST, { name: 'First' }));
  for (let i = 0; i < 20; i += 1) {
    const name = `Name ${i}`;
    expect((await untilAdmitted(() => client.patch(`${LIST}/${body.id}`, { name }))).status).toBe(200);
    expect((await untilAdmitted(() => client.get(`${LIST}/${body.id}`))).body.name).toBe(name);
    expect((await untilAdmitted(() => client.get(LIST))).body.data[0].name).toBe(name);
  }
});

test('all workers together keep the rate limit of a key', async () => {
  const { id, client } = await organizationAt(database.url, shared);
  await withClient(database.url, (operator) =>
    operator.query('update organizations set requests_per_key = 20 where id = $1', [id]),
  );
  const sentFrom = performance.now();
  const statuses: number[] = [];
  // On a slow machine, the requests may take so long that none is refused.
  for (let i = 0; i < 10 || !statuses.includes(429); i += 1)
    statuses.push(
      ...(await Promise.all(Array.from({ length: 60 }, () => client.get('/api/key')))).map(({ status }) => status),
    );
  const seconds = (performance.now() - sentFrom) / 1000;
  const admitted = statuses.filter((status) => status === 200).length;
  // A busy machine may refuse some requests because of load.
  expect(new Set(statuses.filter((status) => status !== 503))).toEqual(new Set([200, 429]));
  // The limit allows the full bucket, the tokens of the elapsed time, and the tokens that three processes may spend before they
  // have leased them.
  expect(admitted).toBeLessThanOrEqual(20 * (seconds + 1) + 20);
});

test('a killed worker is replaced, and requests go on meanwhile', async () => {
  const { client } = await organizationAt(database.url, shared);
  const killed = shared.pids().get(2) ?? 0;
  const ends = endsOf(shared).length;
  process.kill(killed, 'SIGKILL');
  // Before the worker's end is noticed, connections to the worker may break.
  await until('its end', () => endsOf(shared).length > ends);
  const series = await untilServed({ client, charter: shared, workers: [2] });
  expect(shared.pids().get(2)).not.toBe(killed);
  expect(series.get('charter_workers')).toBe(WORKERS);
  expect(series.get('charter_worker_ends_total')).toBe(ends + 1);
  expect(endsOf(shared).at(-1)).toMatchObject({ worker: 2, signal: 'SIGKILL' });
});

// The attack: while a worker is stuck, a client opens and leaves connections, so that the supervisor keeps every second
// connection for the stuck worker.
test('connections that a stuck worker has not taken are served by another one once 5,000 wait for it, or after its end', async () => {
  await withWorkers(
    async (charter) => {
      const { client } = await organizationAt(database.url, charter);
      const stuck = charter.pids().get(1) ?? 0;
      process.kill(stuck, 'SIGSTOP');
      const send = (count: number) => {
        const outcomes: unknown[] = [];
        for (let i = 0; i < count; i += 1)
          client.get('/api/key').then(
            ({ status }) => outcomes.push(status),
            (error) => outcomes.push(error),
          );
        return outcomes;
      };
      // A busy machine may refuse some requests because of load.
      const admitted = (outcomes: readonly unknown[]) => new Set(outcomes.filter((outcome) => outcome !== 503));
      const first = send(20);
      // The other ten of the first 20 requests wait for worker 1.
      await until('the responses of worker 2', () => first.length === 10);
      for (let i = 0; i < 50; i += 1) await connectAndLeave(charter.url, 200);
      const later = send(10);
      await until('every later response', () => later.length === 10);
      process.kill(stuck, 'SIGKILL');
      await until('every response', () => first.length === 20);
      expect(admitted([...first, ...later])).toEqual(new Set([200]));
      // Without their supervisor, workers finish their requests and end.
      await untilServed({ client, charter, workers: [1, 2] });
      const pids = [...charter.pids().values()];
      expect(pids.filter(isRunning)).toHaveLength(2);
      charter.child.kill('SIGKILL');
      await until('both workers to end', () => !pids.some(isRunning));
    },
    { WORKERS: '2' },
  );
});

/** Sends requests over `count` concurrent connections, and closes all connections when half of the requests have a response. */
async function connectAndLeave(url: string, count: number): Promise<void> {
  const { port, hostname } = new URL(url);
  let responses = 0;
  const half = Promise.withResolvers<void>();
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname);
    socket.once('data', () => {
      responses += 1;
      if (responses === count / 2) half.resolve();
    });
    socket.once('error', half.reject);
    socket.write('GET /livez HTTP/1.1\r\nHost: charter.test\r\n\r\n');
    return socket;
  });
  await half.promise;
  for (const socket of sockets) socket.destroy();
}

/**
 * Runs two workers with a process that outlives a worker. The process writes a text to the channel that it inherited from the
 * worker.
 */
async function withTextAfterEnd(
  preload: string,
  work: (charter: Supervised, writeLate: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  await using folder = await openFolder();
  const pipe = join(folder.path, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  const env = { ...preloading(preload), CHARTER_TEST_PIPE: pipe, WORKERS: '2' };
  await withWorkers((charter) => work(charter, (text) => writeFile(pipe, text)), env);
}

// Messages that a worker has sent can arrive after the worker's end.
test('a message of a worker that has ended does not make the next one get connections before it serves', async () => {
  await withTextAfterEnd('late-worker-message.mjs', async (charter, writeLate) => {
    const { client } = await organizationAt(database.url, charter);
    process.kill(charter.pids().get(2) ?? 0, 'SIGUSR2');
    await until('its end', () => endsOf(charter).length > 0);
    await writeLate('{"kind":"ready"}\n');
    await untilServed({ client, charter, workers: [2] });
  });
});

test('a worker that cannot start is tried again until it can', async () => {
  await using proxy = await proxyDatabase(database.url);
  await withWorkers(
    async (charter) => {
      await proxy.stop();
      process.kill(charter.pids().get(1) ?? 0, 'SIGKILL');
      await until('a start in vain', () => endsOf(charter).length >= 2);
      await proxy.start();
      await until('every worker to run', async () => {
        const series = await charter.series();
        return series.has('charter_database_connections_max{worker="1"}');
      });
    },
    { DATABASE_URL: proxy.url, WORKERS: '2' },
  );
});

test('a worker with an unexpected error completes its requests, and is replaced', async () => {
  const { client } = await organizationAt(database.url, shared);
  const ends = endsOf(shared).length;
  process.kill(shared.pids().get(3) ?? 0, 'SIGUSR2');
  const hasEnded = (series: Series) => series.get('charter_worker_ends_total') === ends + 1;
  await untilServed({ client, charter: shared, workers: [3] }, hasEnded);
  expect(endsOf(shared).at(-1)).toMatchObject({ worker: 3, code: 1, signal: null });
});

test('a shutdown is complete after the last log lines of a worker that has already ended', async () => {
  await withTextAfterEnd('leave-output-open.mjs', async (charter, writeLate) => {
    process.kill(charter.pids().get(2) ?? 0, 'SIGUSR2');
    await until('its end', () => endsOf(charter).length > 0);
    charter.child.kill('SIGTERM');
    // Now the supervisor waits for nothing except the output of the workers.
    const running = () => [...charter.pids().values()].filter(isRunning);
    await until('every worker to end', () => running().length === 0);
    await writeLate('{"msg":"the last line"}\n');
    expect((await charter.ended).code).toBe(0);
    // The supervisor's lines have no `worker`, and neither has this line.
    const messages = logOf(charter).flatMap(({ worker, msg }) => (worker === undefined ? [msg] : []));
    const last = messages.filter((msg) => msg === 'the last line' || msg === 'stopped');
    expect(last).toEqual(['the last line', 'stopped']);
  });
});

test('a start that fails is reported once, and ends with exit code 1', async () => {
  const { port } = new URL(shared.url);
  const again = await runFile('src/main.ts', [], { DATABASE_URL: database.url, WORKERS: '2', PORT: port });
  expect({ code: again.code, stderr: again.stderr }).toEqual({
    code: 1,
    stderr: `\nCharter cannot start. Port ${port} of 127.0.0.1 is in use.\n  Stop the program that uses it, or set PORT to another port.\n`,
  });
  const nowhere = `postgresql://postgres:x@${HOST}:${await freePort(HOST)}/charter`;
  const { code, stderr } = await runFile('src/main.ts', [], { DATABASE_URL: nowhere, WORKERS: '2', PORT: '0' });
  expect(code).toBe(1);
  expect(stderr.match(/Charter cannot start/g)).toHaveLength(1);
});

test('the embedded PostgreSQL is started once, and stops with the last worker', async () => {
  await using dataDir = await openFolder();
  await using charter = await startCharter({ DATA_DIR: dataDir.path, WORKERS: '2' });
  const pidFile = join(dataDir.path, 'postgres/postmaster.pid');
  expect(existsSync(pidFile)).toBe(true);
  expect((await untilAdmitted(() => new Client(charter.url).get('/readyz'))).status).toBe(200);
  charter.child.kill('SIGTERM');
  expect((await charter.ended).code).toBe(0);
  expect(existsSync(pidFile)).toBe(false);
});
