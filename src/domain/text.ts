/** Whether a string is a text that can be stored: PostgreSQL refuses NUL, and an unpaired surrogate is not a character. */
export function isText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}
