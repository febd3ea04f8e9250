import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { vacuum } from './data.ts';
import { type Drive, type Load, merge, prepare, prepareWithoutWaking, type Sample } from './load.ts';
import type { Pace, Rounds } from './options.ts';
import type { RunningServer } from './servers.ts';

/** A comparison of two loads, which is a row of the table. */
export type Case = {
  readonly title: string;
  readonly subject: Load;
  /** The load with which the subject is compared. */
  readonly base: { readonly title: string; readonly load: Load };
  /** The minimum ratio of the subject's rate to the base's rate. The bench fails below it. */
  readonly floor: number;
  /** Whether the responses to both loads must contain the same rows. */
  readonly sameRows?: boolean;
  /** The expected id of the first row in the subject's response. */
  readonly firstId?: string;
  /**
   * How long the server is idle before the measurement. If it is set, subject and base are the same load: the subject is the
   * first five seconds after the idle time, the base is five seconds of steady load.
   */
  readonly idleSeconds?: number;
};

export type Servers = {
  readonly charter: RunningServer;
  readonly uncached: RunningServer;
  /** The server that validates one response in a hundred. */
  readonly sampling: RunningServer;
  readonly vast: RunningServer;
  readonly raw: RunningServer;
};

/** The results of several rounds, merged. */
type Summary = {
  /** Requests per second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The CPU time of the server for 1,000 requests, in milliseconds; NaN if the system does not report it. */
  readonly serverCpuMs: number;
  readonly postgresCpuMs: number;
};

export type Comparison = {
  readonly subject: Summary;
  readonly base: Summary;
  /** The rate of the subject divided by the rate of the base. */
  readonly ratio: number;
  readonly ratioOfPasses: readonly number[];
};

export type Result = { readonly measured: Case; readonly comparison: Comparison };

export type Pair<Each> = { readonly subject: Each; readonly base: Each };

type Measuring = { readonly pace: Pace; readonly client: pg.Client; readonly report: (text: string) => void };

export async function measureCases(cases: readonly Case[], { pace, client, report }: Measuring): Promise<Result[]> {
  const begun = new Map<Case, Pair<Drive>>();
  const passes = new Map(cases.map((measured): [Case, Pair<Sample>[]] => [measured, []]));
  for (let pass = 1; pass <= pace.passes; pass += 1) {
    await vacuum(client);
    for (const [measured, samples] of passes) {
      report(`pass ${pass} of ${pace.passes}: ${measured.title}`);
      const pair = begun.get(measured) ?? (await begin(measured, pace));
      begun.set(measured, pair);
      const { floor, subject, idleSeconds } = measured;
      const rounds = floor < 1 ? pace.closeRounds : pace.rounds;
      samples.push(await (idleSeconds === undefined ? alternate(pair, rounds) : wake(subject, idleSeconds)));
    }
  }
  return [...passes].map(([measured, samples]) => ({ measured, comparison: compare(samples) }));
}

async function begin(measured: Case, pace: Pace): Promise<Pair<Drive>> {
  await requireRightResponses(measured);
  return { subject: await warmUp(measured.subject, pace), base: await warmUp(measured.base.load, pace) };
}

/** Throws if a case would measure wrong responses. */
async function requireRightResponses({ title, subject, base, firstId, sameRows }: Case): Promise<void> {
  const [ours, expected] = [await fetchFirst(subject), await fetchFirst(base.load)];
  if (Array.isArray(ours.data) && ours.data.length === 0) throw new Error(`${title}: no rows.`);
  if (firstId !== undefined && ours.data[0]?.id !== firstId)
    throw new Error(`${title}: the first row is ${ours.data[0]?.id} instead of ${firstId}.`);
  if (sameRows === true && !isDeepStrictEqual(ours.data ?? ours, expected.data ?? expected))
    throw new Error(`${title}: the rows differ from those of ${base.title}.`);
}

/** Returns the body of the response to the first request of a load. Leaves out `If-None-Match`, because a 304 has no body. */
async function fetchFirst({ server, requests }: Load) {
  const [{ method = 'GET', path = '', headers = {}, body } = {}] = requests(0, 1);
  const { 'if-none-match': _, ...unconditional } = headers;
  const response = await fetch(server.origin + path, {
    method,
    headers: unconditional,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${server.origin}${path} responds with ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** The servers that have been under load. A server that has just started has a third of its later speed. */
const warm = new WeakSet<RunningServer>();
/** The fraction of the usual warm-up time that is enough if the server is already warm. */
const WARM_SHARE = 1 / 8;

/** Prepares a load and warms up its server. */
export async function warmUp(load: Load, { warmUpSeconds }: Pace): Promise<Drive> {
  const drive = prepare(load);
  await drive(warm.has(load.server) ? warmUpSeconds * WARM_SHARE : warmUpSeconds);
  warm.add(load.server);
  return drive;
}

/** Measures one pass. Rounds of the two loads alternate, so that other activity of the machine affects both loads equally. */
export async function alternate({ subject, base }: Pair<Drive>, { count, seconds }: Rounds): Promise<Pair<Sample>> {
  const subjects: Sample[] = [];
  const bases: Sample[] = [];
  for (let i = 0; i < count; i += 1) {
    // The order within a round also alternates, because each load can affect the next one.
    if (i % 2 === 0) subjects.push(await subject(seconds));
    bases.push(await base(seconds));
    if (i % 2 === 1) subjects.push(await subject(seconds));
  }
  return { subject: merge(subjects), base: merge(bases) };
}

const AFTER_IDLE_SECONDS = 5;

/**
 * Measures one pass. The subject is the first five seconds after the server was idle; the base is five seconds of steady load.
 */
async function wake(load: Load, idleSeconds: number): Promise<Pair<Sample>> {
  const drive = prepareWithoutWaking(load);
  await delay(idleSeconds * 1000);
  const subject = await drive(AFTER_IDLE_SECONDS);
  await drive(AFTER_IDLE_SECONDS);
  return { subject, base: await drive(AFTER_IDLE_SECONDS) };
}

export function compare(passes: readonly Pair<Sample>[]): Comparison {
  const [subject, base] = [summaryOf(passes.map((pass) => pass.subject)), summaryOf(passes.map((pass) => pass.base))];
  const ratioOfPasses = passes.map((pass) => rateOf(pass.subject) / rateOf(pass.base));
  return { subject, base, ratio: subject.rate / base.rate, ratioOfPasses };
}

function summaryOf(samples: readonly Sample[]): Summary {
  const all = merge(samples);
  const perThousand = (seconds: number) => (seconds * 1e6) / all.milliseconds.length;
  return {
    rate: rateOf(all),
    p50Ms: quantile(all.milliseconds, 0.5),
    p99Ms: quantile(all.milliseconds, 0.99),
    serverCpuMs: perThousand(all.serverCpuSeconds),
    postgresCpuMs: perThousand(all.postgresCpuSeconds),
  };
}

export function quantile(milliseconds: readonly number[], share: number): number {
  const sorted = Float64Array.from(milliseconds).sort();
  return sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
}

export function rateOf({ responses, seconds }: Pick<Sample, 'responses' | 'seconds'>): number {
  return responses / seconds;
}
