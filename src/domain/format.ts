// Text for numbers and times, the same in every message and on every page.

/** "1 day", "3 days". `plural`: of a unit whose plural has no "s" at its end. */
export function formatCount(number: number, unit: string, plural = `${unit}s`): string {
  return `${number} ${number === 1 ? unit : plural}`;
}

/** "1,234,567". `number`: an integer, at least 0. */
export function formatNumber(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

// Not Intl, whose output ("Sept", commas) changes with the version of its Unicode data.
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** "20 Sep 2026", in UTC. */
export function formatDay(at: Date): string {
  return `${formatMonthDay(at)} ${at.getUTCFullYear()}`;
}

/** "20 Sep", in UTC. */
export function formatMonthDay(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
}

/** "20 Sep 2026, 14:05 UTC". */
export function formatInstant(at: Date): string {
  return `${formatDay(at)}, ${at.toISOString().slice(11, 16)} UTC`;
}

/** "20 Sep 2026, 14:05:09 UTC". */
export function formatSecond(at: Date): string {
  return `${formatDay(at)}, ${at.toISOString().slice(11, 19)} UTC`;
}
