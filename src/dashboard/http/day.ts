/** Midnight UTC of a day such as "2026-01-31"; `undefined` without a text, and `null` if the text is not a day. */
export function readDay(text: string): Date | null | undefined {
  if (text === '') return undefined;
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime());
  return isDay && day.toISOString().startsWith(text) ? day : null;
}
