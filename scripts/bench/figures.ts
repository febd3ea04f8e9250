import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type pg from 'pg';
import { root } from '../tool.ts';
import { each, PATH, type Servers } from './cases.ts';
import { alternate, compare, warmUp } from './compare.ts';
import type { Data, Organization } from './data.ts';
import type { Figure } from './figure.ts';
import { CONNECTIONS, type Drive, merge, prepare } from './load.ts';
import { grouped } from './numbers.ts';
import type { Pace } from './options.ts';
import { residentBytes } from './resident.ts';
import type { RunningServer } from './servers.ts';
import { measureWebhooks } from './webhooks.ts';

type StartServer = (settings: Readonly<Record<string, string>>) => Promise<RunningServer>;

const TRIES = 3;
const START_GOAL_SECONDS = 1;
const GENERATE_GOAL_SECONDS = 5;
const SWEEP = [1, 4, 16, 64, 256];
const MIB = 1024 * 1024;

export async function listFigures(
  servers: Servers,
  data: Data,
  {
    pace,
    startServer,
    client,
    report,
  }: { pace: Pace; startServer: StartServer; client: pg.Client; report: (text: string) => void },
): Promise<Figure[]> {
  report('figures below the table');
  return [
    ...(await sweepConnections(servers, data, pace)),
    await compareProcesses(servers, data, { pace, startServer }),
    ...(await measureWebhooks(data, client)),
    await fillMemory(data, startServer),
    await timeStart('start of `node src/main.ts` to the first 200', data.small[0], () => startServer({})),
    await timeStart('the same without the compile cache of earlier starts', data.small[0], () =>
      startServer({ NODE_DISABLE_COMPILE_CACHE: '1' }),
    ),
    await timeGenerate(),
  ];
}

async function sweepConnections({ charter, raw }: Servers, { small }: Data, pace: Pace): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const connections of SWEEP) {
    const pair = { subject: each(charter, small), base: each(raw, small) };
    const { subject, base, ratio } = compare([await alternate(await warmUp(pair, pace, connections), pace.rounds)]);
    const p99 = `p99 ${subject.p99Ms.toFixed(1)} ms (raw: ${base.p99Ms.toFixed(1)})`;
    const value = `${grouped(subject.rate)} requests/s, ${ratio.toFixed(2)} of raw, ${p99}`;
    figures.push({ title: `first page, 100 keys, connections: ${connections}`, value });
  }
  return figures;
}

async function compareProcesses(
  { charter }: Servers,
  { small }: Data,
  { pace, startServer }: { pace: Pace; startServer: StartServer },
): Promise<Figure> {
  const second = await startServer({});
  const driveFirst = prepare(each(charter, small), CONNECTIONS / 2);
  const driveSecond = prepare(each(second, small), CONNECTIONS / 2);
  const both: Drive = async (seconds) => {
    return { ...merge(await Promise.all([driveFirst(seconds), driveSecond(seconds)])), seconds };
  };
  await both(pace.warmUpSeconds);
  const { ratio } = compare([await alternate({ subject: both, base: prepare(each(charter, small)) }, pace.rounds)]);
  await second.stop();
  const title = 'two processes on the same two cores as PostgreSQL and the load generator';
  return { title, value: `${ratio.toFixed(2)} of the rate of one` };
}

async function fillMemory({ small, tiny }: Data, startServer: StartServer): Promise<Figure> {
  const server = await startServer({});
  await fetchFirst(server, small[0]);
  const before = await residentBytes(server);
  for (let start = 0; start < tiny.length; start += 16) {
    await Promise.all(tiny.slice(start, start + 16).map((organization) => fetchFirst(server, organization)));
  }
  const after = await residentBytes(server);
  await server.stop();
  const [first, all] = [before, after].map((bytes) => `${(bytes / MIB).toFixed(0)} MiB`);
  return {
    title: `memory of a process with the first pages of ${grouped(tiny.length)} organizations`,
    value: `${all} (with one: ${first})`,
  };
}

/** From the start of `node src/main.ts` to its first 200 to a list. */
async function timeStart(title: string, one: Organization, startServer: () => Promise<RunningServer>): Promise<Figure> {
  const seconds: number[] = [];
  for (let i = 0; i < TRIES; i += 1) {
    const startedAt = performance.now();
    const server = await startServer();
    await fetchFirst(server, one);
    seconds.push((performance.now() - startedAt) / 1000);
    await server.stop();
  }
  return timeFigure(title, medianOf(seconds), START_GOAL_SECONDS);
}

async function timeGenerate(): Promise<Figure> {
  const startedAt = performance.now();
  const child: ChildProcess = spawn(process.execPath, ['scripts/generate/main.ts', '--check'], {
    cwd: root,
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('npm run generate -- --check fails. Run npm run generate first.');
  return timeFigure('npm run generate', (performance.now() - startedAt) / 1000, GENERATE_GOAL_SECONDS);
}

function timeFigure(title: string, seconds: number, goal: number): Figure {
  return { title, value: `${seconds.toFixed(2)} s (goal: ${goal})`, isMissed: seconds > goal };
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

async function fetchFirst({ origin }: RunningServer, { key }: Organization): Promise<void> {
  const response = await fetch(origin + PATH, { headers: { authorization: `Bearer ${key}` } });
  await response.text();
  if (response.status !== 200) throw new Error(`${origin}${PATH} responds with ${response.status}.`);
}
