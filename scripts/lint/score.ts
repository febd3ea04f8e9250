import { tryTool } from '../tool.ts';
import { CONTRACT } from './contract.ts';
import type { Problem } from './problem.ts';

const LEAST = 90;

/** Redocly's measure of how simply programs can use the API, 0 to 100; null where the contract cannot be read. */
export async function measureScore(): Promise<number | null> {
  const { code, stdout } = await tryTool('redocly', ['score', CONTRACT, '--format=json']);
  if (code !== 0) return null;
  const { agentReadiness }: { agentReadiness: number } = JSON.parse(stdout);
  return agentReadiness;
}

export function problemOfScore(score: number | null): Problem[] {
  if (score === null || score > LEAST) return [];
  return [
    {
      ...{ file: CONTRACT, line: 1, column: 1, rule: 'score' },
      words: `Redocly gives the contract ${score} of 100 points; more than ${LEAST} are asked for.`,
      remedy: `See what lowers it: npx redocly score ${CONTRACT} --operation-details.`,
    },
  ];
}
