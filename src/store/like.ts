/** A pattern of LIKE that matches what contains the text, whose own "%", "_" and "\" stand for themselves. */
export function partPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
