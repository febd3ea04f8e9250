// Measures how fast one client is served while others send more than the server can serve. Each trial alternates with rounds
// without these other clients.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { quantile, rateOf } from './compare.ts';
import type { Data, Organization } from './data.ts';
import { WRITTEN } from './data.ts';
import { encode, keepBusy, merge, type Next, type Sample } from './load.ts';
import { markdownTable, withThousands } from './report.ts';
import { authorizationOf, PATH } from './requests.ts';
import type { RunningServer } from './servers.ts';
import { residentBytes } from './servers.ts';

/** A load, the promise to the other clients, and the measured value. */
type Trial = { readonly load: string; readonly promise: string; readonly value: string; readonly isMissed: boolean };

const WARM_UP_SECONDS = 10;
const ROUNDS = 4;
const ROUND_SECONDS = 3;
/** How long the flood fills the queues before the other client is measured. */
const FLOOD_AHEAD_MS = 500;
const CROWDS = 3;
const CROWD = { connections: 2000, seconds: 30 };
const FEW = { connections: 64, seconds: 10 };
const PIPELINED = 1500;
const MIB = 1024 * 1024;

type Report = (text: string) => void;

/** Measures all trials. The server must not have a response cache, so that every page comes from the database. */
export async function measureOverload(server: RunningServer, { small }: Data, report: Report) {
  const [crowding, other = crowding] = small;
  const quiet = pagesOf(server, other);
  const pages = pagesOf(server, crowding);
  report('warm-up');
  await drive(server, { connections: 16, seconds: WARM_UP_SECONDS, next: quiet });
  const besides = async (load: string, flood: Flood, goals: Goals) => {
    report(load);
    return compareWithQuiet({ load, server, quiet, flood, goals });
  };
  const crowds = async (kind: string, next: Next) => {
    report(`a crowd that ${kind}s`);
    return crowd(server, { kind, next, quiet });
  };
  const floodOf = (request: () => { path: string; headers: Record<string, string> }) =>
    floodOver(server, { connections: 16, next: () => encode(request(), server.origin) });
  const session = () => ({ accept: 'text/html', cookie: `charter=${randomToken()}` });
  const trials = [
    await besides(
      'another organization reads over 256 connections',
      floodOver(server, { connections: 256, next: pages }),
      { p50: 2, p99: 4 },
    ),
    await besides(
      `another organization sends ${withThousands(PIPELINED)} requests at a time over one connection`,
      pipeline(server, pages),
      { p50: 2 },
    ),
    await besides(
      '16 connections send unknown API keys',
      floodOf(() => ({ path: PATH, headers: authorizationOf(mintKey('live')) })),
      { p50: 2 },
    ),
    await besides(
      '16 connections send made-up sessions',
      floodOf(() => ({ path: '/profile', headers: session() })),
      { p50: 2 },
    ),
    await besides(
      '16 connections open made-up invitations',
      floodOf(() => ({ path: `/welcome/${randomToken()}`, headers: { accept: 'text/html' } })),
      { p50: 2 },
    ),
    await crowds('read', pages),
    await crowds('write', creationsOf(server, crowding)),
  ];
  const rows = trials.map(({ load, promise, value, isMissed }) => [
    load,
    promise,
    value + (isMissed ? ', **MISSED**' : ''),
  ]);
  return {
    table: markdownTable(['while', 'promised to the others', 'measured'], rows),
    isMissed: trials.some(({ isMissed }) => isMissed),
  };
}

/** The maximum factors by which a flood may slow down the other client. */
type Goals = { readonly p50: number; readonly p99?: number };
/** Starts a flood. Resolves to the function that stops the flood. */
type Flood = () => Promise<() => Promise<void>>;

async function compareWithQuiet({
  load,
  server,
  quiet,
  flood,
  goals,
}: {
  load: string;
  server: RunningServer;
  quiet: Next;
  flood: Flood;
  goals: Goals;
}): Promise<Trial> {
  const [alones, besides]: [Sample[], Sample[]] = [[], []];
  let notReady = 0;
  const one = { connections: 1, seconds: ROUND_SECONDS, next: quiet };
  for (let i = 0; i < ROUNDS; i += 1) {
    alones.push(await drive(server, one));
    const stop = await flood();
    await delay(FLOOD_AHEAD_MS);
    const [beside, ready] = await Promise.all([drive(server, one), fetch(`${server.origin}/readyz`)]);
    besides.push(beside);
    if (!ready.ok) notReady += 1;
    await stop();
  }
  const [alone, beside] = [merge(alones), merge(besides)];
  const slowdownAt = (share: number) => {
    const [from, to] = [quantile(alone.milliseconds, share), quantile(beside.milliseconds, share)];
    return { ratio: to / from, text: `${(to / from).toFixed(1)} times (${from.toFixed(1)} to ${to.toFixed(1)} ms)` };
  };
  const [p50, p99] = [slowdownAt(0.5), slowdownAt(0.99)];
  const isFast = p50.ratio <= goals.p50 && p99.ratio <= (goals.p99 ?? Number.POSITIVE_INFINITY);
  const p99Goal = goals.p99 === undefined ? '' : `p99 ${goals.p99} times, `;
  return {
    load,
    promise: `p50 at most ${goals.p50} times as long, ${p99Goal}0 refused`,
    value: `p50 ${p50.text}, p99 ${p99.text}, ${beside.refusals.length} refused`,
    isMissed: !isFast || beside.refusals.length + notReady > 0,
  };
}

/**
 * Measures a crowd of many more clients than the server can serve. Rounds with the crowd alternate with rounds of few clients,
 * because the speed of a shared machine changes.
 */
async function crowd(
  server: RunningServer,
  { kind, next, quiet }: { kind: string; next: Next; quiet: Next },
): Promise<Trial> {
  const [fews, crowds]: [Sample[], Sample[]] = [[await drive(server, { ...FEW, next })], []];
  const nextMs: number[] = [];
  const before = await residentBytes(server);
  for (let i = 0; i < CROWDS; i += 1) {
    crowds.push(await drive(server, { ...CROWD, next }));
    const startedAt = performance.now();
    await drive(server, { connections: 1, seconds: 0.001, next: quiet });
    nextMs.push(performance.now() - startedAt);
    fews.push(await drive(server, { ...FEW, next }));
  }
  const after = await residentBytes(server);
  const [few, many] = [merge(fews), merge(crowds)];
  const share = rateOf(many) / rateOf(few);
  const p99 = quantile(many.milliseconds, 0.99);
  const slowest = Math.max(...nextMs);
  return {
    load: `${withThousands(CROWD.connections)} connections ${kind}`,
    promise: `successes at least 0.9 of the rate of ${FEW.connections} connections, p99 of them below 2 s, the next request within 100 ms`,
    value:
      `${share.toFixed(2)} (${withThousands(rateOf(many))} of ${withThousands(rateOf(few))} a second), ` +
      `p99 ${(p99 / 1000).toFixed(2)} s, ${slowest.toFixed(0)} ms; ` +
      `memory ${(before / MIB).toFixed(0)} to ${(after / MIB).toFixed(0)} MiB`,
    isMissed: !(share >= 0.9 && p99 < 2000 && slowest < 100),
  };
}

function floodOver(server: RunningServer, options: { connections: number; next: Next }): Flood {
  return async () => {
    const stopping = new AbortController();
    const done = drive(server, { ...options, seconds: Number.POSITIVE_INFINITY, signal: stopping.signal });
    done.catch(() => undefined); // The function that stops the flood rejects with the error.
    return async () => {
      stopping.abort();
      await done;
    };
  };
}

/** Returns a flood that always has 1,500 pending requests on one connection. */
function pipeline({ origin }: RunningServer, next: Next): Flood {
  return async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(origin).port) });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const send = (count: number) => socket.write(Buffer.concat(Array.from({ length: count }, next)));
    socket.on('data', (bytes) => {
      const answered = bytes.toString('latin1').split('HTTP/1.1 ').length - 1;
      if (answered > 0) send(answered);
    });
    send(PIPELINED);
    return async () => {
      const closed = once(socket, 'close');
      socket.resetAndDestroy();
      await closed;
    };
  };
}

function drive(
  server: RunningServer,
  { connections, next, ...rest }: { connections: number; seconds: number; next: Next; signal?: AbortSignal },
): Promise<Sample> {
  return keepBusy(server, { ...rest, sources: Array<Next>(connections).fill(next) });
}

/**
 * Returns a function that returns a request for an uncached page of 25 rows. Concurrent requests have different queries, because
 * identical requests would share a response.
 */
function pagesOf({ origin }: RunningServer, organization: Organization): Next {
  let turn = 0;
  const headers = authorizationOf(organization);
  return () => {
    turn = (turn + 1) % 1_000_000;
    const path = `${PATH}?updated_since=2020-01-01T00:00:00.${String(turn).padStart(6, '0')}Z`;
    return encode({ path, headers }, origin);
  };
}

function creationsOf({ origin }: RunningServer, organization: Organization): Next {
  const headers = { ...authorizationOf(organization), 'content-type': 'application/json' };
  const bytes = encode({ method: 'POST', path: PATH, headers, body: JSON.stringify({ name: WRITTEN }) }, origin);
  return () => bytes;
}

function randomToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
}
