import { timingSafeEqual } from 'node:crypto';

/** Whether a string is a text that can be stored: PostgreSQL refuses NUL, and an unpaired surrogate is not a character. */
export function isText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** True for a UUID in lower case with hyphens, the form of all our ids. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** Compares in constant time for texts of the same length, so that the time does not reveal a secret character by character. */
export function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** "1 day", "3 days". `plural`: of a unit whose plural has no "s" at its end. */
export function formatCount(number: number, unit: string, plural = `${unit}s`): string {
  return `${number} ${number === 1 ? unit : plural}`;
}

/** "1,234,567". `number`: an integer, at least 0. */
export function formatNumber(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}
