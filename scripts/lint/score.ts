import { tryTool } from '../tool.ts';
import { CONTRACT } from './contract.ts';
import type { Problem } from './problem.ts';

/** The score must be above this. */
const FLOOR = 90;

/** Redocly's score of how easily programs can use the API, 0 to 100; null if the contract cannot be read. */
export async function measureScore(): Promise<number | null> {
  const { code, stdout } = await tryTool('redocly', ['score', CONTRACT, '--format=json']);
  if (code !== 0) return null;
  const { agentReadiness }: { agentReadiness: number } = JSON.parse(stdout);
  return agentReadiness;
}

export function problemOfScore(score: number | null): Problem[] {
  if (score === null || score > FLOOR) return [];
  return [
    {
      file: CONTRACT,
      line: 1,
      column: 1,
      rule: 'score',
      message: `Redocly's score of the contract is ${score} of 100, but must be above ${FLOOR}.`,
      remedy: `Run "npx redocly score ${CONTRACT} --operation-details" to see what lowers it.`,
    },
  ];
}
