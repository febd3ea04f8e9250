import type { Clock } from './clock.ts';

/**
 * Keeps batches within the rate limit. A batch takes up to 100 requests from it, and the next one is sent when they are back: a
 * refused one would wait for whole seconds.
 */
export class Pace {
  readonly #clock: Clock;
  #readyAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects with the signal's reason as soon as the signal is aborted. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    const waitMs = this.#readyAt - this.#clock.now();
    if (waitMs > 0) await this.#clock.wait(waitMs, signal);
  }

  /** `headers` are those of the response to a batch. */
  sent(headers: Headers): void {
    this.#readyAt = this.#clock.now() + refillMs(headers);
  }
}

/**
 * The time until a limit of Charter is untouched again, at most a second. 0 without one, or with another one, such as that of a
 * proxy for an hour (draft-ietf-httpapi-ratelimit-headers-11).
 */
function refillMs(headers: Headers): number {
  const [, name = '', left = ''] = /^"([a-z]+)";r=(\d+);t=1$/.exec(headers.get('RateLimit') ?? '') ?? [];
  const [, quota = ''] = new RegExp(`"${name}";q=(\\d+);w=1(?!\\d)`).exec(headers.get('RateLimit-Policy') ?? '') ?? [];
  return left === '' || quota === '' ? 0 : Math.max(0, 1000 - (1000 * Number(left)) / Number(quota));
}
