import type { KeyRecord } from '../domain/api-key.ts';
import { OverloadError } from '../domain/errors.ts';
import { networkOf } from '../domain/network.ts';
import { limitsOf, type RequestLimits } from '../domain/request-limits.ts';
import type { Lease, LeaseRequest } from '../store/rate-limits.ts';
import { Generations } from './generations.ts';
import { LeasedTokens } from './leased-tokens.ts';

/** The limits of a key, with the tokens that this process has leased; null: no limit. */
export type KeyLimits = {
  readonly perKey: number;
  readonly perOrganization: number;
  readonly key: LeasedTokens | null;
  readonly organization: LeasedTokens | null;
};

export type Admission = {
  readonly isAdmitted: boolean;
  readonly limits: KeyLimits;
  /** The limit that has the fewest requests left, or that refuses. */
  readonly closest: 'key' | 'organization';
  /** Requests that it certainly allows within the next second; 0 if it refuses. */
  readonly remaining: number;
};

export type LimitedKey = Pick<KeyRecord, 'organizationId' | 'id' | 'organizationLimits'>;

export type RequestLimiterOptions = {
  readonly limits: RequestLimits;
  readonly lease: (requests: readonly LeaseRequest[]) => Promise<ReadonlyMap<string, Lease>>;
  /** Called when leases begin to fail. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds, from a clock that never goes back. */
  readonly clock?: () => number;
  /**
   * Requests that may wait for the tokens of one key or organization, and for those of all addresses together. It bounds the
   * memory, which the time-out of a lease alone does not.
   */
  readonly maxWaiting?: number;
};

/** Minimum time between the starts of two leases, so that the needs of many subjects share one statement. */
export const LEASE_INTERVAL_MS = 15;
/** A lease that takes longer counts as failed. */
const LEASE_TIMEOUT_MS = 5000;
/** After a failed lease, everything is admitted for this time. */
const OPEN_MS = 1000;
const MAX_SUBJECTS_PER_LEASE = 1000;
/** Subjects that were not used for this time, or twice as long, are forgotten. */
const GENERATION_MS = 10_000;
const MAX_GENERATION_SIZE = 20_000;

const OVERLOADED = new OverloadError('rate limits');

/** `at`: the time of the decision. */
type Settled = { readonly isAdmitted: boolean; readonly at: number };

type Waiting = {
  readonly first: LeasedTokens | null;
  readonly second: LeasedTokens | null;
  readonly settle: (settled: Settled) => void;
};

/**
 * Limits requests per second, for all processes of a database together. PostgreSQL holds a token bucket for each subject.
 * A process leases tokens ahead of need, for all its subjects in one statement, and spends them in memory. While the
 * database cannot lease, everything is admitted: an outage must not look like a limit.
 */
export class RequestLimiter {
  readonly #limits: RequestLimits;
  readonly #lease: RequestLimiterOptions['lease'];
  readonly #onFailure: RequestLimiterOptions['onFailure'];
  readonly #clock: () => number;
  readonly #maxWaiting: number;
  readonly #keys = new Generations<KeyLimits>();
  readonly #organizations = new Generations<LeasedTokens>();
  readonly #addresses = new Generations<LeasedTokens>();
  #generationAt = 0;
  #low = new Set<LeasedTokens>();
  #waiting: Waiting[] = [];
  /** How many of them have no valid key. */
  #waitingOfAddresses = 0;
  #isScheduled = false;
  #lastLeaseAt = Number.NEGATIVE_INFINITY;
  #openUntil = 0;
  #hasFailed = false;
  readonly #refused: Record<Admission['closest'] | 'address', number> = { key: 0, organization: 0, address: 0 };
  #failedLeases = 0;

  constructor({ limits, lease, onFailure, clock = () => performance.now(), maxWaiting = 5000 }: RequestLimiterOptions) {
    this.#limits = limits;
    this.#lease = lease;
    this.#onFailure = onFailure;
    this.#clock = clock;
    this.#maxWaiting = maxWaiting;
  }

  /** Requests that were refused so far, by the limit that refused them. */
  get refused(): Readonly<Record<Admission['closest'] | 'address', number>> {
    return this.#refused;
  }

  /** Requests that wait for a lease. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Leases that failed so far. */
  get failedLeases(): number {
    return this.#failedLeases;
  }

  /**
   * Null: the key has no limits. Synchronous unless only a lease can tell. Throws an OverloadError if too many requests of the
   * key or its organization wait for one.
   */
  admitKey(key: LimitedKey): Admission | null | Promise<Admission> {
    const at = this.#clock();
    const limits = this.#limitsOf(key, at);
    if (limits.key === null && limits.organization === null) return null;
    const isAdmitted = this.#tryTake(limits.key, limits.organization, at);
    if (isAdmitted !== undefined) return this.#admissionOf(limits, isAdmitted, at);
    if (this.#isFull(limits.key) || this.#isFull(limits.organization)) throw OVERLOADED;
    return this.#wait(limits.key, limits.organization).then((settled) =>
      this.#admissionOf(limits, settled.isAdmitted, settled.at),
    );
  }

  /**
   * For a request without a valid key. `ip`: the address of the client. Synchronous unless only a lease can tell. Throws an
   * OverloadError if too many requests wait for one: of all addresses together, because a client can have many.
   */
  admitAddress(ip: string): boolean | Promise<boolean> {
    if (this.#limits.perAddress === 0) return true;
    const at = this.#clock();
    const tokens = this.#tokensIn(this.#addresses, `address:${networkOf(ip)}`, this.#limits.perAddress);
    this.#forgetIdle(at);
    const isAdmitted = this.#tryTake(tokens, null, at);
    if (isAdmitted !== undefined) return this.#countRefusalOfAddress(isAdmitted);
    if (this.#waitingOfAddresses >= this.#maxWaiting) throw OVERLOADED;
    return this.#waitOfAddress(tokens);
  }

  async #waitOfAddress(tokens: LeasedTokens): Promise<boolean> {
    this.#waitingOfAddresses += 1;
    try {
      return this.#countRefusalOfAddress((await this.#wait(tokens, null)).isAdmitted);
    } finally {
      this.#waitingOfAddresses -= 1;
    }
  }

  #isFull(tokens: LeasedTokens | null): boolean {
    return tokens !== null && tokens.waiting >= this.#maxWaiting;
  }

  #limitsOf(key: LimitedKey, at: number): KeyLimits {
    this.#forgetIdle(at);
    const { perKey, perOrganization } = limitsOf(key.organizationLimits, this.#limits);
    const known = this.#keys.findRecent(key.id);
    if (known !== undefined && known.perKey === perKey && known.perOrganization === perOrganization) return known;
    const previous = this.#keys.find(key.id)?.key;
    const limits = {
      perKey,
      perOrganization,
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

  /** All three at once: a key that is kept refers to the tokens of its organization. */
  #forgetIdle(at: number): void {
    const size = Math.max(this.#keys.recentSize, this.#organizations.recentSize, this.#addresses.recentSize);
    if (at - this.#generationAt < GENERATION_MS && size < MAX_GENERATION_SIZE) return;
    this.#generationAt = at;
    for (const each of [this.#keys, this.#organizations, this.#addresses]) each.age();
  }

  /** Takes a token of each, or of neither. Undefined: only a lease can tell. */
  #tryTake(first: LeasedTokens | null, second: LeasedTokens | null, at: number): boolean | undefined {
    if (at < this.#openUntil) return true;
    const byFirst = first === null ? 'admitted' : first.decide(at);
    const bySecond = second === null ? 'admitted' : second.decide(at);
    if (byFirst === 'refused' || bySecond === 'refused') return false;
    if (byFirst === 'unknown' || bySecond === 'unknown') return undefined;
    if (first !== null) this.#takeOf(first, at);
    if (second !== null) this.#takeOf(second, at);
    return true;
  }

  #takeOf(tokens: LeasedTokens, at: number): void {
    tokens.take();
    if (tokens.isLow) this.#request(tokens, at);
  }

  #request(tokens: LeasedTokens, at: number): void {
    this.#low.add(tokens);
    this.#schedule(at);
  }

  #wait(first: LeasedTokens | null, second: LeasedTokens | null): Promise<Settled> {
    return new Promise((settle) => this.#enqueue({ first, second, settle }));
  }

  #enqueue(waiting: Waiting): void {
    const at = this.#clock();
    this.#waiting.push(waiting);
    for (const tokens of [waiting.first, waiting.second]) {
      if (tokens === null) continue;
      tokens.waiting += 1;
      this.#request(tokens, at);
    }
  }

  #schedule(at: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const waitMs = this.#lastLeaseAt + LEASE_INTERVAL_MS - at;
    // Deferred even if it is due, so that other requests in this turn of the event loop share it.
    if (waitMs <= 0) setImmediate(() => void this.#run());
    else setTimeout(() => void this.#run(), waitMs);
  }

  async #run(): Promise<void> {
    const leased = this.#takeLow();
    this.#lastLeaseAt = this.#clock();
    const requests = leased.map(({ subject, rate, wanted }) => ({ subject, rate, wanted }));
    try {
      const leases = await within(LEASE_TIMEOUT_MS, this.#lease(requests));
      const at = this.#clock();
      this.#hasFailed = false;
      for (const [i, tokens] of leased.entries()) {
        const lease = leases.get(tokens.subject);
        if (lease !== undefined) tokens.receive(lease, { wanted: requests[i]?.wanted ?? 0, at });
        // Requests during the lease found the stock low.
        if (!tokens.isLow) this.#low.delete(tokens);
      }
    } catch (error) {
      this.#openUntil = this.#clock() + OPEN_MS;
      this.#failedLeases += 1;
      if (!this.#hasFailed) this.#onFailure(error);
      this.#hasFailed = true;
    }
    this.#isScheduled = false;
    this.#settleWaiting();
    if (this.#low.size > 0) this.#schedule(this.#clock());
  }

  /**
   * What the next lease asks for, each subject once: a statement cannot update a row twice. After a change of limits, a subject
   * has two sets of tokens for a moment, and the second one waits for the lease after this one.
   */
  #takeLow(): LeasedTokens[] {
    const leased = new Map<string, LeasedTokens>();
    const left = new Set<LeasedTokens>();
    for (const tokens of this.#low) {
      if (leased.has(tokens.subject) || leased.size === MAX_SUBJECTS_PER_LEASE) left.add(tokens);
      else leased.set(tokens.subject, tokens);
    }
    this.#low = left;
    return [...leased.values()];
  }

  /** In the order of arrival. Those about which the lease could not tell wait for the next one. */
  #settleWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { first, second } of waiting) {
      if (first !== null) first.waiting -= 1;
      if (second !== null) second.waiting -= 1;
    }
    const at = this.#clock();
    for (const each of waiting) {
      const isAdmitted = this.#tryTake(each.first, each.second, at);
      if (isAdmitted === undefined) this.#enqueue(each);
      else each.settle({ isAdmitted, at });
    }
  }

  #admissionOf(limits: KeyLimits, isAdmitted: boolean, at: number): Admission {
    const byKey = limits.key?.remaining(at) ?? Number.POSITIVE_INFINITY;
    const byOrganization = limits.organization?.remaining(at) ?? Number.POSITIVE_INFINITY;
    if (isAdmitted) {
      const closest = byKey <= byOrganization ? 'key' : 'organization';
      return { isAdmitted, limits, closest, remaining: Math.min(byKey, byOrganization) };
    }
    const closest = limits.key?.decide(at) === 'refused' ? 'key' : 'organization';
    this.#refused[closest] += 1;
    return { isAdmitted, limits, closest, remaining: 0 };
  }

  #countRefusalOfAddress(isAdmitted: boolean): boolean {
    if (!isAdmitted) this.#refused.address += 1;
    return isAdmitted;
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`A lease of tokens took longer than ${ms} ms.`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
