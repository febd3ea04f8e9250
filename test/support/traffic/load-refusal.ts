import { until } from '../wait.ts';

/**
 * Whether a server refused a request because too many wait for the database, which a busy machine causes, too. The response in
 * an outage has the same body, but a longer Retry-After.
 */
export function isLoadRefusal({ status, retryAfter }: Refusal): boolean {
  return status === 503 && retryAfter === '1';
}

/** Repeats a request until it is not refused with 503, as a busy machine may do, and as any does in an outage. */
export function untilAdmitted<T extends { readonly status: number }>(send: () => Promise<T>): Promise<T> {
  return until('a response other than 503', async () => {
    const reply = await send();
    return reply.status !== 503 && reply;
  });
}

type Refusal = { readonly status: number; readonly retryAfter: string | undefined };
