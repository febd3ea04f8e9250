import type { ApiRequest } from '../../src/api/api-request.ts';
import { applyAdmission } from '../../src/api/key-steps.ts';
import { hashKey } from '../../src/domain/keys/api-key.ts';
import { DEFAULT_LIMITS, type RequestLimits } from '../../src/domain/keys/request-limits.ts';
import type { Admission } from '../../src/traffic/request-limiter.ts';

/** The limits in requests per second; 0 means no limit. The default is the limits of a server. */
export type MockLimits = Partial<Pick<RequestLimits, 'perKey' | 'perOrganization'>>;

/**
 * The token bucket of one limit. It holds at most the tokens of one second. After a large batch, the number of tokens can be
 * negative.
 */
class Bucket {
  readonly rate: number;
  #tokens: number;
  #at: number;

  constructor(rate: number, at: number) {
    this.rate = rate;
    this.#tokens = rate;
    this.#at = at;
  }

  /** Returns the number of tokens at the time `at`, in milliseconds. */
  tokens(at: number): number {
    this.#tokens = Math.min(this.rate, this.#tokens + ((at - this.#at) / 1000) * this.rate);
    this.#at = at;
    return this.#tokens;
  }

  take(count: number): void {
    this.#tokens -= count;
  }
}

/** The maximum number of keys with a bucket, more than any test suite uses. */
const MAX_KEYS = 1000;

/** Counts requests against the rate limits, like an installation with one server. */
export class MockRateLimits {
  readonly #limits: Required<MockLimits>;
  readonly #clock: () => number;
  readonly #organizationOf: (keyHash: string) => string;
  readonly #keys = new Map<string, Bucket>();
  readonly #organizations = new Map<string, Bucket>();

  /** Creates the limits. `organizationOf` returns the id of the organization of a key, by the hash of the key. */
  constructor(organizationOf: (keyHash: string) => string, limits: MockLimits = {}, clock = () => performance.now()) {
    this.#organizationOf = organizationOf;
    const { perKey, perOrganization } = DEFAULT_LIMITS;
    this.#limits = { perKey: limits.perKey ?? perKey, perOrganization: limits.perOrganization ?? perOrganization };
    this.#clock = clock;
  }

  reset(): void {
    this.#keys.clear();
    this.#organizations.clear();
  }

  /** Sets the rate limit headers of the response. Throws a 429 if a limit refuses the request or the further items of a batch. */
  limit(request: ApiRequest): void {
    const admission = this.#admit(
      hashKey((request.headers.authorization ?? '').replace(/^bearer +/i, '')),
      request.extraItems,
    );
    if (admission !== null) applyAdmission(request, admission);
  }

  /** Does the same as `limit`, but returns the 429 or `null` and does not throw. */
  check(request: ApiRequest): unknown {
    try {
      this.limit(request);
      return null;
    } catch (error) {
      return error;
    }
  }

  /**
   * Returns the rate limit headers of a forced response. The request counts against the limits, but is not refused above a limit.
   */
  headersOf(request: ApiRequest): Readonly<Record<string, string | undefined>> {
    this.check(request);
    const [, policy, , left] = request.rateLimitFields;
    request.rateLimitFields = [];
    return { 'RateLimit-Policy': policy, RateLimit: left };
  }

  #admit(key: string, extraItems: number): Admission | null {
    const at = this.#clock();
    const buckets = this.#bucketsOf(key, at);
    const [first] = buckets;
    if (first === undefined) return null;
    const limits = { ...this.#limits, isOwn: false, key: null, organization: null };
    // A batch is admitted as a whole, unless an earlier batch has left a negative number of tokens.
    const empty = buckets.find(({ bucket }) => bucket.tokens(at) < (extraItems > 0 ? 0 : 1));
    if (empty !== undefined) {
      const { name: closest, bucket } = empty;
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens(at)) / bucket.rate));
      return { isAdmitted: false, limits, closest, remaining: 0, retryAfterSeconds };
    }
    for (const { bucket } of buckets) bucket.take(extraItems || 1);
    const closest = buckets.reduce((least, each) => (each.bucket.tokens(at) < least.bucket.tokens(at) ? each : least));
    const remaining = Math.max(0, Math.floor(closest.bucket.tokens(at)));
    return { isAdmitted: true, limits, closest: closest.name, remaining };
  }

  #bucketsOf(key: string, at: number): { readonly name: Admission['closest']; readonly bucket: Bucket }[] {
    const { perKey, perOrganization } = this.#limits;
    if (this.#keys.size >= MAX_KEYS && !this.#keys.has(key)) this.#keys.clear();
    const ofKey = this.#keys.get(key) ?? new Bucket(perKey, at);
    this.#keys.set(key, ofKey);
    const organizationId = this.#organizationOf(key);
    const ofOrganization = this.#organizations.get(organizationId) ?? new Bucket(perOrganization, at);
    this.#organizations.set(organizationId, ofOrganization);
    return [
      { name: 'key' as const, bucket: ofKey },
      { name: 'organization' as const, bucket: ofOrganization },
    ].filter(({ bucket }) => bucket.rate > 0);
  }
}
