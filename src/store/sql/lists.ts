/** A position in a list, and whether the requested page lies after or before it. */
export type Edge<Position> = Position & { readonly side: 'after' | 'before' };

/** Returns a LIKE pattern for values that contain the text. The characters "%", "_" and "\" in the text match themselves. */
export function partPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/**
 * Returns the SQL condition that the expression matches the pattern, ignoring differences in letter case and Unicode
 * normalization. The trigram indexes are on the same expression.
 */
export function likeInSearchForm(expression: string, pattern: string): string {
  return `${searchForm(expression)} like ${searchForm(pattern)}`;
}

/** Returns SQL for the form in which searches compare strings. A migration defines the SQL function `search_form`. */
export function searchForm(expression: string): string {
  return `search_form(${expression})`;
}
