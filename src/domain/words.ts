// What people read in a message or on a page, in one form everywhere.

/** "1 day", "3 days". */
export function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}
