/** The latest instant that is passed to PostgreSQL, which does not read a year of five digits. No row has a later instant. */
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** Matches an instant with digits after the milliseconds that are not all zero. */
const FINER = /\.\d{3}0*[1-9]/;

/**
 * Parses an instant in the contract's format. A Date has only milliseconds, so an instant between two milliseconds becomes the
 * later millisecond, because the earlier millisecond is before the instant. A Date has no leap seconds, so a leap second becomes
 * the second after it, as in PostgreSQL.
 */
export function parseInstant(text: string): Date {
  const isLeap = text.slice(17, 19) === '60';
  // V8 misreads a fraction of more than nine digits.
  const whole = text.replace(/(\.\d{3})\d+/, '$1');
  const instant = isLeap ? Date.parse(`${whole.slice(0, 17)}59${whole.slice(19)}`) + 1000 : Date.parse(whole);
  return new Date(Math.min(FINER.test(text) ? instant + 1 : instant, LATEST));
}

/** A date and time in the format of RFC 3339 section 5.6. */
const PARTS = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-](\d\d):(\d\d))$/i;

/**
 * Returns the part of a date and time that does not exist, such as "day 30: this month has 28 days". Returns `null` if all parts
 * exist, or if the text does not look like a date and time.
 */
export function impossiblePartOf(text: string): string | null {
  const parts = PARTS.exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] = parts;
  if (month < 1 || month > 12) return `month ${month}`;
  // The last day of the month is day 0 of the next month.
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (day < 1 || day > days) return `day ${day}: this month has ${days} days`;
  if (hour > 23) return `hour ${hour}`;
  if (minute > 59) return `minute ${minute}`;
  if (second > 60) return `second ${second}`;
  if (offsetHour > 23 || offsetMinute > 59) return `offset ${text.slice(-6)}`;
  return second === 60 ? 'second 60 here: a leap second is the last second of a day in UTC' : null;
}
