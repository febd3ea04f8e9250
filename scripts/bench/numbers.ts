/** A whole number as people read it: 17,696. */
export function grouped(number: number): string {
  return Math.round(number).toLocaleString('en');
}
