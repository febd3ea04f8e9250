import { timingSafeEqual } from 'node:crypto';

/** Compares in constant time for texts of the same length, so that the time does not reveal a secret character by character. */
export function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
