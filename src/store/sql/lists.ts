/** A position in a list, and the side of it on which the requested page lies. */
export type Edge<Position> = Position & { readonly side: 'after' | 'before' };

/** A LIKE pattern for values that contain the text; "%", "_" and "\" in the text match themselves. */
export function partPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/**
 * SQL: whether the expression matches the pattern, whatever the letter case and the Unicode normal form of both. The trigram
 * indexes are of this expression.
 */
export function likeInSearchForm(expression: string, pattern: string): string {
  return `${searchForm(expression)} like ${searchForm(pattern)}`;
}

/** SQL: the form in which searches compare texts. A migration defines it. */
export function searchForm(expression: string): string {
  return `search_form(${expression})`;
}
