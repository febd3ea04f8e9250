/**
 * Returns the candidate that begins with `typed` or, if there is none, the candidate that differs from `typed` in the fewest
 * letters. Returns `undefined` if no candidate is similar.
 */
export function nearest(typed: string, candidates: Iterable<string>): string | undefined {
  const longer = [...candidates].find((candidate) => typed.length > 3 && candidate.startsWith(typed));
  if (longer !== undefined) return longer;
  const near = [...candidates]
    .map((candidate) => ({ candidate, letters: distance(typed.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ letters }) => letters <= Math.max(2, typed.length / 4))
    .sort((a, b) => a.letters - b.letters);
  return near[0]?.candidate;
}

/** Returns the Levenshtein distance: the number of letters that must be inserted, deleted or replaced to turn `a` into `b`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const [above = 0, aboveLeft = 0, left = 0] = [row[j + 1], row[j], next[j]];
      next.push(Math.min(above + 1, left + 1, aboveLeft + Number(letter !== other)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
