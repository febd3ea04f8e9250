// Durations in milliseconds, as Date counts. A day is one of UTC.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** 0: on the same day as `now`; 1: on the next one. Both days are those of UTC, as pages and mails show them. */
export function daysUntil(at: Date, now: Date): number {
  const dayOf = (each: Date) => Math.floor(each.getTime() / DAY_MS);
  return Math.max(0, dayOf(at) - dayOf(now));
}
