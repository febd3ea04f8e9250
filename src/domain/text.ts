import { timingSafeEqual } from 'node:crypto';

/** Returns whether the string can be stored. PostgreSQL refuses NUL, and an unpaired surrogate is not a character. */
export function isText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns whether the text is a UUID in lower case with hyphens, which is the form of all our ids. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/**
 * Returns whether the texts are equal. Compares texts of the same length in constant time, so that the time does not reveal a
 * secret character by character.
 */
export function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Returns a number with its unit, such as "1 day" or "3 days". `plural` is needed if the plural of the unit does not end in "s".
 */
export function formatCount(number: number, unit: string, plural = `${unit}s`): string {
  return `${number} ${number === 1 ? unit : plural}`;
}

/** Returns an integer of at least 0 with separators, such as "1,234,567". */
export function formatNumber(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Returns the Levenshtein distance: the number of characters to insert, delete or replace to turn one text into the other. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, character] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const [above = 0, aboveLeft = 0, left = 0] = [row[j + 1], row[j], next[j]];
      next.push(Math.min(above + 1, left + 1, aboveLeft + Number(character !== other)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
