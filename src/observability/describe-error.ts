const API_KEY = /charter_(live|test)_\w+/g;
const URL_PASSWORD = /:\/\/[^\s/]*@/g;
const AUTHORIZATION = /\b(Bearer|Basic)\s+\S+/gi;
const MAX_CAUSES = 5;

/**
 * The stacks, with names and messages, of an error and of its causes. Other members of an error can be private, such as a
 * statement with its parameters, or the row that violates a constraint.
 */
export function describeError(error: unknown, causes = MAX_CAUSES): string {
  if (!(error instanceof Error)) return redacted(String(error));
  const text = redacted(error.stack ?? error.message);
  return error.cause === undefined || causes === 0
    ? text
    : `${text}\ncaused by ${describeError(error.cause, causes - 1)}`;
}

function redacted(text: string): string {
  return text.replace(AUTHORIZATION, '$1 …').replace(API_KEY, 'charter_$1_…').replace(URL_PASSWORD, '://…@');
}
