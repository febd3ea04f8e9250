import { drive, type Load, type Sample } from './load.ts';
import type { Pace } from './options.ts';
import type { RunningServer } from './servers.ts';

/** Of all rounds: rates and processor times are their median, and of all their requests together half and 99 in 100 took no longer. */
export type Summary = Omit<Sample, 'milliseconds'> & { readonly p50Ms: number; readonly p99Ms: number };
export type Comparison = { readonly subject: Summary; readonly base: Summary; readonly ratio: number };

export type Pair = { readonly subject: Load; readonly base: Load };

/** Both loads' samples of one round. */
export type Round = { readonly subject: Sample; readonly base: Sample };

/** Servers that have been busy for a while: one that has just started is a third as fast. */
const warm = new WeakSet<RunningServer>();

/** Measures two loads in turn, so that whatever else the machine does meets both alike. */
export async function measureRounds({ subject, base }: Pair, pace: Pace, connections?: number): Promise<Round[]> {
  const by = (seconds: number) => ({ seconds, ...(connections !== undefined && { connections }) });
  for (const load of [subject, base]) {
    await drive(load, by(warm.has(load.server) ? pace.roundSeconds : pace.warmUpSeconds));
    warm.add(load.server);
  }
  const rounds: Round[] = [];
  for (let i = 0; i < pace.rounds; i += 1) {
    // Who goes first alternates: a load that always came second would always meet the other one's remains.
    const first = await drive(i % 2 === 0 ? subject : base, by(pace.roundSeconds));
    const second = await drive(i % 2 === 0 ? base : subject, by(pace.roundSeconds));
    rounds.push(i % 2 === 0 ? { subject: first, base: second } : { subject: second, base: first });
  }
  return rounds;
}

export function compare(rounds: readonly Round[]): Comparison {
  return {
    subject: summaryOf(rounds.map(({ subject }) => subject)),
    base: summaryOf(rounds.map(({ base }) => base)),
    ratio: median(rounds.map(({ subject, base }) => subject.rate / base.rate)),
  };
}

function summaryOf(samples: readonly Sample[]): Summary {
  const sorted = Float64Array.from(samples.flatMap(({ milliseconds }) => milliseconds)).sort();
  const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return {
    rate: median(samples.map(({ rate }) => rate)),
    ...{ p50Ms: at(0.5), p99Ms: at(0.99) },
    serverCpuMs: median(samples.map(({ serverCpuMs }) => serverCpuMs)),
    postgresCpuMs: median(samples.map(({ postgresCpuMs }) => postgresCpuMs)),
  };
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return (low + high) / 2;
}
