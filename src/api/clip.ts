/** The contract's bound of a message, in characters. */
export const MAX_MESSAGE = 500;

/** At most so many characters, counted as the contract's maxLength counts them: by code point. */
export function clip(text: string, characters: number): string {
  const points = text.length <= characters ? null : [...text];
  return points === null || points.length <= characters ? text : `${points.slice(0, characters - 1).join('')}…`;
}
