/** Whether a name is probably meant to be the other one: they differ in case, in separators or by a typing mistake. */
export function isSimilar(name: string, other: string): boolean {
  const [written, meant] = [lettersOf(name), lettersOf(other)];
  return distance(written, meant) <= meant.length / 4;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_.-]/g, '');
}

/** The number of characters to add, remove or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const replaced = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
