/** Characters of a message at most, by the contract. */
export const MAX_MESSAGE = 500;

/** Cuts a text to a number of characters, counted by code point as maxLength counts them. */
export function clip(text: string, characters: number): string {
  const points = text.length <= characters ? null : [...text];
  return points === null || points.length <= characters ? text : `${points.slice(0, characters - 1).join('')}…`;
}
