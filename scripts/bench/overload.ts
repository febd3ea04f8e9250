// How one client fares while others send more than the server can serve. Each trial alternates with quiet rounds of the same run.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { mintKey } from '../../src/domain/api-key.ts';
import { authorized, PATH } from './cases.ts';
import { quantile } from './compare.ts';
import { openConnection } from './connection.ts';
import type { Data, Organization } from './data.ts';
import { WRITTEN } from './fill.ts';
import { encode, type RequestSpec } from './load.ts';
import { grouped } from './numbers.ts';
import { residentBytes } from './resident.ts';
import type { RunningServer } from './servers.ts';

/** One load, what is promised under it, and what was measured. */
export type Trial = {
  readonly load: string;
  readonly promise: string;
  readonly value: string;
  readonly isMissed: boolean;
};

type Tally = {
  readonly seconds: number;
  /** Responses below 400 within that time. */
  readonly successes: number;
  /** The duration of each success, in milliseconds. */
  readonly milliseconds: readonly number[];
  /** Responses of 400 and above. */
  readonly refusals: number;
};

type Next = () => Buffer;

const WARM_UP_SECONDS = 10;
const ROUNDS = 4;
const ROUND_SECONDS = 3;
/** Time for the flood to fill the queues before the other client is measured. */
const FLOOD_AHEAD_MS = 500;
const CROWDS = 3;
const CROWD_SECONDS = 30;
const CROWD = 2000;
const FEW = 64;
const FEW_SECONDS = 10;
const PIPELINED = 1500;
/** Connections that are opened at the same time: a listener queues no more than 511. */
const OPENED_AT_ONCE = 100;
const MIB = 1024 * 1024;

/** The server must have no response cache, so that every page takes the database. */
export async function listTrials(
  server: RunningServer,
  { small }: Data,
  report: (text: string) => void,
): Promise<Trial[]> {
  const [crowding, other = crowding] = small;
  const quiet = pagesOf(server, other);
  report('warm-up');
  await drive(server, { connections: 16, seconds: WARM_UP_SECONDS, next: quiet });
  const besides = async (load: string, flood: Flood, goals: Goals) => {
    report(load);
    return compareWithQuiet({ load, server, quiet, flood, goals });
  };
  const readers = { connections: 256, next: pagesOf(server, crowding) };
  const keyless = (next: Next) => floodOver(server, { connections: 16, next });
  return [
    await besides('another organization reads over 256 connections', floodOver(server, readers), { p50: 2, p99: 4 }),
    await besides(
      `another organization sends ${grouped(PIPELINED)} requests at a time over one connection`,
      pipeline(server, readers.next),
      { p50: 2 },
    ),
    await besides('16 connections send unknown API keys', keyless(unknownKeys(server)), { p50: 2 }),
    await besides('16 connections send made-up sessions', keyless(madeUpSessions(server)), { p50: 2 }),
    await besides('16 connections open made-up invitations', keyless(madeUpLinks(server)), { p50: 2 }),
    await crowd(server, { kind: 'read', next: readers.next, report, afterwards: quiet }),
    await crowd(server, { kind: 'write', next: creationsOf(server, crowding), report, afterwards: quiet }),
  ];
}

type Goals = { readonly p50: number; readonly p99?: number };
/** Starts a flood, and returns the function that ends it. */
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
  const rounds: { alone: Tally; beside: Tally }[] = [];
  let notReady = 0;
  for (let i = 0; i < ROUNDS; i += 1) {
    const one = { connections: 1, seconds: ROUND_SECONDS, next: quiet };
    const alone = await drive(server, one);
    const stop = await flood();
    await delay(FLOOD_AHEAD_MS);
    const [beside, status] = await Promise.all([drive(server, one), statusOf(`${server.origin}/readyz`)]);
    if (status !== 200) notReady += 1;
    await stop();
    rounds.push({ alone, beside });
  }
  const [alone, beside] = [merge(rounds.map((each) => each.alone)), merge(rounds.map((each) => each.beside))];
  const ratios = ([0.5, 0.99] as const).map(
    (share) => quantile(beside.milliseconds, share) / quantile(alone.milliseconds, share),
  );
  const [p50 = Number.NaN, p99 = Number.NaN] = ratios;
  const isMissed =
    !(p50 <= goals.p50 && p99 <= (goals.p99 ?? Number.POSITIVE_INFINITY)) || beside.refusals + notReady > 0;
  return {
    load,
    promise: [
      `p50 at most ${goals.p50} times as long`,
      ...(goals.p99 ? [`p99 ${goals.p99} times`] : []),
      '0 refused',
    ].join(', '),
    value: `p50 ${between(alone, beside, 0.5)}, p99 ${between(alone, beside, 0.99)}, ${beside.refusals} refused`,
    isMissed,
  };
}

function between(alone: Tally, beside: Tally, share: number): string {
  const [from, to] = [quantile(alone.milliseconds, share), quantile(beside.milliseconds, share)];
  return `${(to / from).toFixed(1)} times (${from.toFixed(1)} to ${to.toFixed(1)} ms)`;
}

/** Far more clients than the server can serve, alternating with 64 of them, because the speed of a shared machine changes. */
async function crowd(
  server: RunningServer,
  { kind, next, afterwards, report }: { kind: string; next: Next; afterwards: Next; report: (text: string) => void },
): Promise<Trial> {
  const load = `${grouped(CROWD)} connections ${kind}`;
  report(load);
  const [fews, crowds]: [Tally[], Tally[]] = [[], []];
  const first: number[] = [];
  const measureFew = async () => fews.push(await drive(server, { connections: FEW, seconds: FEW_SECONDS, next }));
  await measureFew();
  const before = await residentBytes(server);
  for (let i = 0; i < CROWDS; i += 1) {
    crowds.push(await drive(server, { connections: CROWD, seconds: CROWD_SECONDS, next }));
    const startedAt = performance.now();
    await drive(server, { connections: 1, seconds: 0.001, next: afterwards });
    first.push(performance.now() - startedAt);
    await measureFew();
  }
  const after = await residentBytes(server);
  const [few, many] = [merge(fews), merge(crowds)];
  const share = rateOf(many) / rateOf(few);
  const p99 = quantile(many.milliseconds, 0.99);
  const firstMs = Math.max(...first);
  return {
    load,
    promise:
      'successes at least 0.9 of the rate of 64 connections, p99 of them below 2 s, the next request within 100 ms',
    value:
      `${share.toFixed(2)} (${grouped(rateOf(many))} of ${grouped(rateOf(few))} a second), ` +
      `p99 ${(p99 / 1000).toFixed(2)} s, ${firstMs.toFixed(0)} ms; ` +
      `memory ${(before / MIB).toFixed(0)} to ${(after / MIB).toFixed(0)} MiB`,
    isMissed: !(share >= 0.9 && p99 < 2000 && firstMs < 100),
  };
}

function floodOver(server: RunningServer, { connections, next }: { connections: number; next: Next }): Flood {
  return async () => {
    const stopping = new AbortController();
    const done = drive(server, { connections, next, seconds: Number.POSITIVE_INFINITY, signal: stopping.signal });
    done.catch(() => undefined); // The end of the flood throws it.
    return async () => {
      stopping.abort();
      await done;
    };
  };
}

/** Keeps 1,500 requests outstanding on one connection. */
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

/** Every connection sends its next request when it has a response, until the time is over or the signal comes. */
async function drive(
  { origin }: RunningServer,
  {
    connections,
    seconds,
    next,
    signal,
  }: { connections: number; seconds: number; next: Next; signal?: AbortSignal | undefined },
): Promise<Tally> {
  const opened: Awaited<ReturnType<typeof openConnection>>[] = [];
  for (let left = connections; left > 0; left -= OPENED_AT_ONCE) {
    const batch = Array.from({ length: Math.min(left, OPENED_AT_ONCE) }, () => openConnection(origin));
    opened.push(...(await Promise.all(batch)));
  }
  const milliseconds: number[] = [];
  let [successes, refusals] = [0, 0];
  const onResponse = (status: number, durationMs: number, isInTime: boolean) => {
    if (status >= 400) refusals += 1;
    else milliseconds.push(durationMs);
    if (status < 400 && isInTime) successes += 1;
  };
  const until = performance.now() + seconds * 1000;
  await Promise.all(opened.map((each) => each.sendUntil({ next, until, signal, onResponse })));
  await Promise.all(opened.map((each) => each.close()));
  return { seconds, successes, milliseconds, refusals };
}

/** Uncached pages of 25 rows: no two requests at the same time have the same query, because those would share a response. */
function pagesOf({ origin }: RunningServer, organization: Organization): Next {
  let turn = 0;
  const headers = authorized(organization);
  return () => {
    turn = (turn + 1) % 1_000_000;
    const path = `${PATH}?updated_since=2020-01-01T00:00:00.${String(turn).padStart(6, '0')}Z`;
    return encode({ path, headers }, origin);
  };
}

function creationsOf({ origin }: RunningServer, organization: Organization): Next {
  const headers = { ...authorized(organization), 'content-type': 'application/json' };
  const creation: RequestSpec = { method: 'POST', path: PATH, headers, body: JSON.stringify({ name: WRITTEN }) };
  const bytes = encode(creation, origin);
  return () => bytes;
}

function unknownKeys({ origin }: RunningServer): Next {
  return () => encode({ path: PATH, headers: authorized(mintKey('live')) }, origin);
}

function madeUpSessions({ origin }: RunningServer): Next {
  return () =>
    encode({ path: '/profile', headers: { accept: 'text/html', cookie: `charter=${randomToken()}` } }, origin);
}

function madeUpLinks({ origin }: RunningServer): Next {
  return () => encode({ path: `/welcome/${randomToken()}`, headers: { accept: 'text/html' } }, origin);
}

function randomToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.text();
  return response.status;
}

function merge(tallies: readonly Tally[]): Tally {
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
  return {
    seconds: sum(({ seconds }) => seconds),
    successes: sum(({ successes }) => successes),
    milliseconds: tallies.flatMap(({ milliseconds }) => milliseconds),
    refusals: sum(({ refusals }) => refusals),
  };
}

function rateOf({ successes, seconds }: Tally): number {
  return successes / seconds;
}

export function trialsAsText(trials: readonly Trial[]): string {
  const lines = trials.map(
    ({ load, promise, value, isMissed }) => `${load}\n  ${promise}\n  ${value}${isMissed ? ' MISSED' : ''}`,
  );
  return lines.join('\n');
}
