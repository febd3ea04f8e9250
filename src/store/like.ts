/** A LIKE pattern for values that contain the text; "%", "_" and "\" in the text match themselves. */
export function partPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/**
 * SQL: whether the expression matches the pattern, whatever the letter case. The trigram indexes are of this expression. The
 * columns have the collation "C", which knows letter case in ASCII only.
 */
export function likeInAnyCase(expression: string, pattern: string): string {
  return `${lower(expression)} like ${lower(pattern)}`;
}

function lower(text: string): string {
  return `lower((${text}) collate pg_catalog."default")`;
}
