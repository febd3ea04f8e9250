import { setTimeout as delay } from 'node:timers/promises';
import { OverloadError } from '../domain/errors.ts';
import type { KeyRecord } from '../domain/keys/api-key.ts';
import { limitsOf, lowerLimit, type RequestLimits } from '../domain/keys/request-limits.ts';
import { networkOf } from '../domain/network.ts';
import { LeasedTokens, type Settled, TokenLeases, type TokenLeasesOptions } from './token-leases.ts';

/** The limits of a key, with the tokens that this process has leased for them; `null` if there is no limit. */
export type KeyLimits = {
  readonly perKey: number;
  readonly perOrganization: number;
  /** Whether the key has its own limit, which is below that of its organization. */
  readonly isOwn: boolean;
  readonly key: LeasedTokens | null;
  readonly organization: LeasedTokens | null;
};

export type Admission = {
  readonly isAdmitted: boolean;
  readonly limits: KeyLimits;
  /** The limit that refuses the request or, if it is admitted, the limit with the fewest requests left. */
  readonly closest: 'key' | 'organization';
  /** The number of requests that the limit in `closest` certainly allows within the next second; 0 if the request is refused. */
  readonly remaining: number;
  /** The number of seconds after which a refused request can be sent again, at least 1. Default: 1. */
  readonly retryAfterSeconds?: number;
};

export type LimitedKey = Pick<KeyRecord, 'organizationId' | 'id' | 'organizationLimits' | 'requestsPerSecond'>;

export type RequestLimiterOptions = Pick<TokenLeasesOptions, 'lease' | 'onFailure'> & {
  readonly limits: RequestLimits;
  /** Returns the time in milliseconds, on a clock that never goes back. */
  readonly clock?: () => number;
  /**
   * The number of requests that may wait for the tokens of one key or organization, and of all addresses together. This number
   * limits the memory; the timeout of a lease alone would not limit it.
   */
  readonly maxWaiting?: number;
};

/**
 * The time after which the tokens of a key, organization or address can be forgotten if they are not used. Some are kept for up
 * to twice this time.
 */
const GENERATION_MS = 10_000;
const MAX_GENERATION_SIZE = 20_000;

const OVERLOADED = new OverloadError('rate limits');

/**
 * Limits the requests per second in all processes of a database together. PostgreSQL holds a token bucket for each subject. A
 * process leases tokens ahead of need, for all its subjects in one SQL statement, and spends them in memory. While the database
 * cannot lease tokens, all requests are admitted, because an outage must not look like a rate limit.
 */
export class RequestLimiter {
  readonly #limits: RequestLimits;
  readonly #clock: () => number;
  readonly #leases: TokenLeases;
  readonly #maxWaiting: number;
  readonly #keys = new Generations<KeyLimits>();
  readonly #organizations = new Generations<LeasedTokens>();
  readonly #addresses = new Generations<LeasedTokens>();
  #generationAt = 0;
  /** The number of requests without a valid key that wait for a lease. */
  #waitingOfAddresses = 0;
  readonly #refused: Record<Admission['closest'] | 'address', number> = { key: 0, organization: 0, address: 0 };

  constructor({ limits, lease, onFailure, clock = () => performance.now(), maxWaiting = 5000 }: RequestLimiterOptions) {
    this.#limits = limits;
    this.#clock = clock;
    this.#leases = new TokenLeases({ lease, onFailure, clock });
    this.#maxWaiting = maxWaiting;
  }

  /** Returns the number of requests refused so far, by the limit that refused them. */
  get refused(): Readonly<Record<Admission['closest'] | 'address', number>> {
    return this.#refused;
  }

  /** Returns the number of requests that wait for a lease. */
  get waiting(): number {
    return this.#leases.waiting;
  }

  /** Returns the number of leases that have failed so far. */
  get failedLeases(): number {
    return this.#leases.failed;
  }

  /**
   * Decides whether a request with the key is admitted. Returns `null` if the key has no limits. The result is a promise only if
   * the decision needs a lease. Throws an OverloadError if too many requests of the key or its organization wait for a lease.
   * `extraItems` is 0 for a request. For a batch that was already admitted as a request, `extraItems` is the number of the other
   * changes, which can be more than a bucket holds. These changes are admitted together, unless an earlier batch has emptied the
   * buckets, and later requests are refused until the buckets are refilled.
   */
  admitKey(key: LimitedKey, extraItems = 0): Admission | null | Promise<Admission> {
    const at = this.#clock();
    const limits = this.#limitsOf(key, at);
    if (limits.key === null && limits.organization === null) return null;
    const isAdmitted = this.#leases.tryTake(limits.key, limits.organization, at, extraItems);
    if (isAdmitted !== undefined) return this.#admissionOf(limits, { isAdmitted, at }, extraItems);
    if (this.#isFull(limits.key) || this.#isFull(limits.organization)) throw OVERLOADED;
    return this.#leases
      .wait(limits.key, limits.organization, extraItems)
      .then((settled) => this.#admissionOf(limits, settled, extraItems));
  }

  /**
   * Decides whether a request without a valid key is admitted. `ip` is the address of the client. The result is a promise only if
   * the decision needs a lease. Throws an OverloadError if too many requests from all addresses together wait for a lease,
   * because a client can have many addresses.
   */
  admitAddress(ip: string): boolean | Promise<boolean> {
    if (this.#limits.perAddress === 0) return true;
    const at = this.#clock();
    const tokens = this.#tokensIn(this.#addresses, `address:${networkOf(ip)}`, this.#limits.perAddress);
    this.#forgetIdle(at);
    const isAdmitted = this.#leases.tryTake(tokens, null, at);
    if (isAdmitted !== undefined) return this.#countRefusalOfAddress(isAdmitted);
    if (this.#waitingOfAddresses >= this.#maxWaiting) throw OVERLOADED;
    return this.#waitOfAddress(tokens);
  }

  async #waitOfAddress(tokens: LeasedTokens): Promise<boolean> {
    this.#waitingOfAddresses += 1;
    try {
      return this.#countRefusalOfAddress((await this.#leases.wait(tokens, null)).isAdmitted);
    } finally {
      this.#waitingOfAddresses -= 1;
    }
  }

  #isFull(tokens: LeasedTokens | null): boolean {
    return tokens !== null && tokens.waiting >= this.#maxWaiting;
  }

  #limitsOf(key: LimitedKey, at: number): KeyLimits {
    this.#forgetIdle(at);
    const { perKey: perEachKey, perOrganization } = limitsOf(key.organizationLimits, this.#limits);
    const perKey = key.requestsPerSecond === null ? perEachKey : lowerLimit(perEachKey, key.requestsPerSecond);
    const isOwn = perKey !== perEachKey;
    const known = this.#keys.findRecent(key.id);
    if (known?.perKey === perKey && known.perOrganization === perOrganization && known.isOwn === isOwn) return known;
    const previous = this.#keys.find(key.id)?.key;
    const limits = {
      perKey,
      perOrganization,
      isOwn,
      key: perKey === 0 ? null : previous?.rate === perKey ? previous : new LeasedTokens(`key:${key.id}`, perKey),
      organization:
        perOrganization === 0
          ? null
          : this.#tokensIn(this.#organizations, `organization:${key.organizationId}`, perOrganization),
    };
    this.#keys.set(key.id, limits);
    return limits;
  }

  #tokensIn(generations: Generations<LeasedTokens>, subject: string, rate: number): LeasedTokens {
    const known = generations.find(subject);
    if (known?.rate === rate) return known;
    const tokens = new LeasedTokens(subject, rate);
    generations.set(subject, tokens);
    return tokens;
  }

  /**
   * Forgets unused keys, organizations and addresses together, because a key that is kept refers to the tokens of its
   * organization.
   */
  #forgetIdle(at: number): void {
    const size = Math.max(this.#keys.recentSize, this.#organizations.recentSize, this.#addresses.recentSize);
    if (at - this.#generationAt < GENERATION_MS && size < MAX_GENERATION_SIZE) return;
    this.#generationAt = at;
    for (const each of [this.#keys, this.#organizations, this.#addresses]) each.age();
  }

  #admissionOf(limits: KeyLimits, { isAdmitted, at }: Settled, extraItems: number): Admission {
    const byKey = limits.key?.remaining(at) ?? Number.POSITIVE_INFINITY;
    const byOrganization = limits.organization?.remaining(at) ?? Number.POSITIVE_INFINITY;
    if (isAdmitted) {
      const closest = byKey <= byOrganization ? 'key' : 'organization';
      return { isAdmitted, limits, closest, remaining: Math.min(byKey, byOrganization) };
    }
    const closest = limits.key?.decide(at, extraItems) === 'refused' ? 'key' : 'organization';
    this.#refused[closest] += 1;
    const retryAfterSeconds = Math.max(1, Math.ceil(limits[closest]?.secondsUntilRefill(at) ?? 0));
    return { isAdmitted, limits, closest, remaining: 0, retryAfterSeconds };
  }

  #countRefusalOfAddress(isAdmitted: boolean): boolean {
    if (!isAdmitted) this.#refused.address += 1;
    return isAdmitted;
  }
}

/**
 * A Map that forgets entries that were not used during a whole generation. No entry is deleted individually, so forgetting is
 * cheap.
 */
class Generations<V> {
  #recent = new Map<string, V>();
  #previous: ReadonlyMap<string, V> = new Map();

  get recentSize(): number {
    return this.#recent.size;
  }

  /** Returns the value if it was used in the current generation. */
  findRecent(name: string): V | undefined {
    return this.#recent.get(name);
  }

  /** Returns the value if it was used in the current or the previous generation. The call counts as a use. */
  find(name: string): V | undefined {
    const recent = this.#recent.get(name);
    if (recent !== undefined) return recent;
    const previous = this.#previous.get(name);
    if (previous !== undefined) this.#recent.set(name, previous);
    return previous;
  }

  set(name: string, value: V): void {
    this.#recent.set(name, value);
  }

  /** Starts a new generation. */
  age(): void {
    this.#previous = this.#recent;
    this.#recent = new Map();
  }
}

/**
 * Returns a function that resolves after at most `milliseconds`: a call during the wait of an earlier call joins that wait, and
 * both resolve together.
 */
export function createPause(milliseconds: number): () => Promise<void> {
  let current: Promise<void> | undefined;
  const wait = async () => {
    await delay(milliseconds, undefined, { ref: false });
    current = undefined;
  };
  return () => {
    current ??= wait();
    return current;
  };
}

/**
 * The delay of refusals, in milliseconds. It limits the processor time for refusals, because a client can send the next request
 * as soon as it is refused.
 */
export const REFUSAL_PAUSE_MS = 100;

/**
 * Returns a function for requests that need no key, such as those for the sign-in page. It delays a request if its address sends
 * too many requests without a valid key. PostgreSQL may have to decide that; the request waits for the decision, too, but never
 * longer than one pause.
 */
export function createThrottle(limiter: Pick<RequestLimiter, 'admitAddress'>, pause: () => Promise<void>) {
  return async (ip: string): Promise<void> => {
    const admitted = admit(limiter, ip);
    if (admitted === true) return;
    const end = pause();
    if (!(await Promise.race([admitted, end.then(() => true)]))) await end;
  };
}

/**
 * Returns whether the address is below its limit. Returns `false` if too many requests wait for PostgreSQL, so that the request
 * is delayed and not refused.
 */
function admit(limiter: Pick<RequestLimiter, 'admitAddress'>, ip: string): boolean | Promise<boolean> {
  try {
    return limiter.admitAddress(ip);
  } catch (error) {
    if (error instanceof OverloadError) return false;
    throw error;
  }
}
