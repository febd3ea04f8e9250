import { tryTool } from '../tool.ts';
import { CONTRACT } from './contract.ts';
import type { Problem } from './problem.ts';

/** The score must be above this. */
const FLOOR = 90;

/** Redocly's score of how easily programs can use the API. */
export type Score = {
  /** 0 to 100. */
  readonly points: number;
  /** The parts of the score that are not full, lowest first: "schema simplicity 60%, parameter simplicity 77%". */
  readonly lowered: string;
};

/** As "redocly score --format=json" prints it; the subscores are 0 to 1. */
type Printed = { readonly agentReadiness: number; readonly subscores: Readonly<Record<string, number>> };

/** Null if the contract cannot be read. */
export async function measureScore(): Promise<Score | null> {
  const { code, stdout } = await tryTool('redocly', ['score', CONTRACT, '--format=json']);
  return code === 0 ? scoreOf(JSON.parse(stdout)) : null;
}

export function scoreOf({ agentReadiness, subscores }: Printed): Score {
  const parts = Object.entries(subscores)
    .map(([name, share]) => ({ name: wordsOf(name), percent: Math.floor(share * 100) }))
    .filter(({ percent }) => percent < 100)
    .sort((a, b) => a.percent - b.percent);
  return { points: agentReadiness, lowered: parts.map(({ name, percent }) => `${name} ${percent}%`).join(', ') };
}

export function scoreText({ points, lowered }: Score): string {
  return `${points} of 100${lowered === '' ? '' : ` (${lowered})`}`;
}

export function problemOfScore(score: Score | null): Problem[] {
  if (score === null || score.points > FLOOR) return [];
  return [
    {
      file: CONTRACT,
      line: 1,
      column: 1,
      rule: 'score',
      message: `Redocly's score of the contract is ${scoreText(score)}, but must be above ${FLOOR}.`,
      remedy: `Run "npx redocly score ${CONTRACT} --operation-details" to see which operations lower it.`,
    },
  ];
}

/** "schema simplicity" for "schemaSimplicity". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
