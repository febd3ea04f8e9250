/** No row is from a later one, and PostgreSQL reads no year of five digits. */
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** An instant in the contract's format. A leap second, which no Date holds, is the second after it, as PostgreSQL has it. */
export function readInstant(text: string): Date {
  const isLeap = text.slice(17, 19) === '60';
  const instant = isLeap ? Date.parse(`${text.slice(0, 17)}59${text.slice(19)}`) + 1000 : Date.parse(text);
  return new Date(Math.min(instant, LATEST));
}
