/** No row has a later instant, and PostgreSQL does not read a year of five digits. */
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** Digits after the milliseconds that are not all zero. */
const FINER = /\.\d{3}0*[1-9]/;

/**
 * Reads an instant in the contract's format. A finer one than a Date can hold is rounded up, because a row of the millisecond
 * before it is too early. A leap second becomes the second after it, as in PostgreSQL: a Date has none.
 */
export function readInstant(text: string): Date {
  const isLeap = text.slice(17, 19) === '60';
  const instant = isLeap ? Date.parse(`${text.slice(0, 17)}59${text.slice(19)}`) + 1000 : Date.parse(text);
  return new Date(Math.min(FINER.test(text) ? instant + 1 : instant, LATEST));
}
