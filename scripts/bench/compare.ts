import { drive, type Load, type Sample } from './load.ts';
import type { Pace } from './options.ts';

export type Comparison = { readonly subject: Sample; readonly base: Sample; readonly ratio: number };

/** Measures two loads in turn, so that whatever else the machine does meets both alike. */
export async function compare(loads: { subject: Load; base: Load }, pace: Pace): Promise<Comparison> {
  await drive(loads.subject, pace.warmUpSeconds);
  await drive(loads.base, pace.warmUpSeconds);
  const rounds: { subject: Sample; base: Sample }[] = [];
  for (let i = 0; i < pace.rounds; i += 1) rounds.push(await round(loads, pace.roundSeconds, i % 2 === 0));
  return {
    subject: medianSample(rounds.map(({ subject }) => subject)),
    base: medianSample(rounds.map(({ base }) => base)),
    ratio: median(rounds.map(({ subject, base }) => subject.rate / base.rate)),
  };
}

/** Who goes first alternates: a load that always came second would always meet the other one's remains. */
async function round({ subject, base }: { subject: Load; base: Load }, seconds: number, isSubjectFirst: boolean) {
  if (isSubjectFirst) return { subject: await drive(subject, seconds), base: await drive(base, seconds) };
  return { base: await drive(base, seconds), subject: await drive(subject, seconds) };
}

function medianSample(samples: readonly Sample[]): Sample {
  return {
    rate: median(samples.map(({ rate }) => rate)),
    p50Ms: median(samples.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(samples.map(({ p99Ms }) => p99Ms)),
  };
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
