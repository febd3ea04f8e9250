import { type Drive, type Load, merge, prepare, type Sample } from './load.ts';
import type { Pace, Rounds } from './options.ts';
import type { RunningServer } from './servers.ts';

/** Of all passes together. */
export type Summary = {
  /** Requests per second. */
  readonly rate: number;
  /** Half, and 99 in 100, of the requests took no longer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time for a thousand requests; NaN where the system does not tell. */
  readonly serverCpuMs: number;
  readonly postgresCpuMs: number;
};

export type Comparison = {
  readonly subject: Summary;
  readonly base: Summary;
  /** Of the two rates. */
  readonly ratio: number;
  /** Each pass's own. */
  readonly ratioOfPasses: readonly number[];
};

export type Pair<Each> = { readonly subject: Each; readonly base: Each };

/** Servers that have been busy for a while: one that has just started is a third as fast. */
const warm = new WeakSet<RunningServer>();
/** Of that time; for a load that is new to a warm server. */
const AGAIN = 1 / 8;

/** Makes ready what is to be compared, and the servers warm. */
export async function warmUp(
  { subject, base }: Pair<Load>,
  { warmUpSeconds }: Pace,
  connections?: number,
): Promise<Pair<Drive>> {
  const ready = async (load: Load): Promise<Drive> => {
    const drive = prepare(load, connections);
    await drive(warm.has(load.server) ? warmUpSeconds * AGAIN : warmUpSeconds);
    warm.add(load.server);
    return drive;
  };
  return { subject: await ready(subject), base: await ready(base) };
}

/** One pass: in turn, so that whatever else the machine does meets both alike. */
export async function alternate({ subject, base }: Pair<Drive>, { count, seconds }: Rounds): Promise<Pair<Sample>> {
  const subjects: Sample[] = [];
  const bases: Sample[] = [];
  for (let i = 0; i < count; i += 1) {
    // Who goes first alternates: a load that always came second would always meet the other one's remains.
    if (i % 2 === 0) subjects.push(await subject(seconds));
    bases.push(await base(seconds));
    if (i % 2 === 1) subjects.push(await subject(seconds));
  }
  return { subject: merge(subjects), base: merge(bases) };
}

export function compare(passes: readonly Pair<Sample>[]): Comparison {
  const [subject, base] = [summaryOf(passes.map((pass) => pass.subject)), summaryOf(passes.map((pass) => pass.base))];
  const ratioOfPasses = passes.map((pass) => rateOf(pass.subject) / rateOf(pass.base));
  return { subject, base, ratio: subject.rate / base.rate, ratioOfPasses };
}

function summaryOf(samples: readonly Sample[]): Summary {
  const all = merge(samples);
  const sorted = Float64Array.from(all.milliseconds).sort();
  const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  const ofThousand = (seconds: number) => (seconds * 1e6) / sorted.length;
  return {
    ...{ rate: rateOf(all), p50Ms: at(0.5), p99Ms: at(0.99) },
    serverCpuMs: ofThousand(all.serverCpuSeconds),
    postgresCpuMs: ofThousand(all.postgresCpuSeconds),
  };
}

function rateOf({ answers, seconds }: Sample): number {
  return answers / seconds;
}
