import { editDistance } from '../../src/domain/text.ts';

/**
 * Returns the candidate that begins with `typed` or, if there is none, the candidate that differs from `typed` in the fewest
 * letters. Returns `undefined` if no candidate is similar.
 */
export function nearest(typed: string, candidates: Iterable<string>): string | undefined {
  const longer = [...candidates].find((candidate) => typed.length > 3 && candidate.startsWith(typed));
  if (longer !== undefined) return longer;
  const near = [...candidates]
    .map((candidate) => ({ candidate, letters: editDistance(typed.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ letters }) => letters <= Math.max(2, typed.length / 4))
    .sort((a, b) => a.letters - b.letters);
  return near[0]?.candidate;
}
