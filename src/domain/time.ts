// Durations in milliseconds, the unit of a Date. All days are in UTC.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A span of time: from `from` on, and before `to`. `null` means that this side has no bound. */
export type TimeSpan = { readonly from: Date | null; readonly to: Date | null };

/**
 * Returns the number of days from `now` to `at`: 0 on the same day, 1 on the next day. Days are in UTC, as pages and mails show
 * them.
 */
export function daysUntil(at: Date, now: Date): number {
  const dayOf = (each: Date) => Math.floor(each.getTime() / DAY_MS);
  return Math.max(0, dayOf(at) - dayOf(now));
}

// Dates are not formatted by Intl, whose output ("Sept", commas) changes with the version of its Unicode data.
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Formats a day such as "20 Sep 2026", in UTC. */
export function formatDay(at: Date): string {
  return `${formatMonthDay(at)} ${at.getUTCFullYear()}`;
}

/** Formats a day without its year, such as "20 Sep", in UTC. */
export function formatMonthDay(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
}

/** Formats a time such as "20 Sep 2026, 14:05 UTC". */
export function formatInstant(at: Date): string {
  return `${formatDay(at)}, ${at.toISOString().slice(11, 16)} UTC`;
}

/** Formats a time with seconds, such as "20 Sep 2026, 14:05:09 UTC". */
export function formatSecond(at: Date): string {
  return `${formatDay(at)}, ${at.toISOString().slice(11, 19)} UTC`;
}
