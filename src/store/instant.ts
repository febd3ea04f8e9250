/** An instant as PostgreSQL prints it in UTC, alone ("2026-03-01 12:00:00.5+00") or in JSON, to "2026-03-01T12:00:00.500Z". */
export function rfc3339(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, text.indexOf('+')).padEnd(3, '0')}Z`;
}
