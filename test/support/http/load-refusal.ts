/**
 * Whether a server refused a request because too many wait for the database, which a busy machine causes, too. The response in
 * an outage has the same body, but a longer Retry-After.
 */
export function isLoadRefusal({ status, retryAfter }: Refusal): boolean {
  return status === 503 && retryAfter === '1';
}

type Refusal = { readonly status: number; readonly retryAfter: string | undefined };
