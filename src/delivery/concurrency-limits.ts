import type { DeliveryClaim, EndpointKey, PendingEndpoint } from '../store/webhooks/webhook-deliveries.ts';

/** Attempts in progress of this process. */
const MAX_ATTEMPTS = 512;
/** How many of these may be attempts at endpoints whose last attempt failed. */
const MAX_FAILING = 128;
/** Attempts in progress at one endpoint: at first, and while all attempts succeed quickly. */
const FIRST_LIMIT = 8;
const MAX_LIMIT = 32;
const SLOW_MS = 1000;
/** About 2 MB of memory. */
const MAX_KNOWN = 10_000;

export type AttemptOutcome = { readonly isSuccess: boolean; readonly durationMs: number };

type Place = EndpointKey & { readonly isFailing: boolean };

/**
 * Limits the attempts that are in progress at the same time. An endpoint begins with 8. Each quick success adds one, up to 32,
 * and each failure or slow response halves the limit, down to one; an endpoint whose last attempt failed has one. So endpoints
 * that do not respond hold few of the places, and delay no other endpoint.
 */
export class ConcurrencyLimits {
  /** By endpoint, while it has attempts in progress or a lower limit than at first. */
  readonly #endpoints = new Map<string, { running: number; limit: number }>();
  #running = 0;
  #failing = 0;

  /** Whether no attempt may begin. */
  get isFull(): boolean {
    return this.#running >= MAX_ATTEMPTS;
  }

  /** Divides the free places among the endpoints: equal shares, within the limits. */
  divide(endpoints: readonly PendingEndpoint[]): DeliveryClaim[] {
    let free = MAX_ATTEMPTS - this.#running;
    let freeForFailing = MAX_FAILING - this.#failing;
    return endpoints.flatMap(({ organizationId, endpointId, isFailing }, i) => {
      const share = Math.ceil(free / (endpoints.length - i));
      const { running, limit } = this.#endpoints.get(endpointId) ?? { running: 0, limit: FIRST_LIMIT };
      const room = isFailing ? Math.min(1 - running, freeForFailing) : limit - running;
      const count = Math.min(share, free, room);
      if (count <= 0) return [];
      free -= count;
      if (isFailing) freeForFailing -= count;
      return [{ organizationId, endpointId, count }];
    });
  }

  start({ endpointId, isFailing }: Place): void {
    const endpoint = this.#endpoints.get(endpointId) ?? this.#add(endpointId);
    endpoint.running += 1;
    this.#running += 1;
    if (isFailing) this.#failing += 1;
  }

  end({ endpointId, isFailing }: Place, { isSuccess, durationMs }: AttemptOutcome): void {
    this.#running -= 1;
    if (isFailing) this.#failing -= 1;
    const endpoint = this.#endpoints.get(endpointId);
    if (endpoint === undefined) return;
    const isGood = isSuccess && durationMs < SLOW_MS;
    endpoint.limit = isGood ? Math.min(endpoint.limit + 1, MAX_LIMIT) : Math.max(1, Math.floor(endpoint.limit / 2));
    endpoint.running -= 1;
    if (endpoint.running === 0 && endpoint.limit >= FIRST_LIMIT) this.#endpoints.delete(endpointId);
  }

  #add(endpointId: string) {
    if (this.#endpoints.size >= MAX_KNOWN) {
      for (const [id, { running }] of this.#endpoints) if (running === 0) this.#endpoints.delete(id);
    }
    const endpoint = { running: 0, limit: FIRST_LIMIT };
    this.#endpoints.set(endpointId, endpoint);
    return endpoint;
  }
}
