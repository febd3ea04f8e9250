import { capacityOf, type Lease, type LeaseRequest } from '../store/keys/rate-limits.ts';

export type TokenLeasesOptions = {
  readonly lease: (requests: readonly LeaseRequest[]) => Promise<ReadonlyMap<string, Lease>>;
  /** Called when leases begin to fail. */
  readonly onFailure: (error: unknown) => void;
  /** Returns the time in milliseconds, on a clock that never goes back. */
  readonly clock: () => number;
};

/** The minimum time between the starts of two leases, so that many subjects share one SQL statement. */
const LEASE_INTERVAL_MS = 15;
/** The time after which a lease counts as failed. */
const LEASE_TIMEOUT_MS = 5000;
/** How long all requests are admitted after a failed lease. */
const OPEN_MS = 1000;
const MAX_SUBJECTS_PER_LEASE = 1000;

/** The decision about a request that waited. `at` is the time of the decision. */
export type Settled = { readonly isAdmitted: boolean; readonly at: number };

type Waiting = {
  readonly first: LeasedTokens | null;
  readonly second: LeasedTokens | null;
  readonly extraItems: number;
  readonly settle: (settled: Settled) => void;
};

/**
 * Takes tokens of one or two subjects together, and leases tokens from PostgreSQL, either ahead of need or for waiting requests.
 */
export class TokenLeases {
  readonly #lease: TokenLeasesOptions['lease'];
  readonly #onFailure: TokenLeasesOptions['onFailure'];
  readonly #clock: () => number;
  #low = new Set<LeasedTokens>();
  #waiting: Waiting[] = [];
  #isScheduled = false;
  #lastLeaseAt = Number.NEGATIVE_INFINITY;
  #openUntil = 0;
  #hasFailed = false;
  #failed = 0;

  constructor({ lease, onFailure, clock }: TokenLeasesOptions) {
    this.#lease = lease;
    this.#onFailure = onFailure;
    this.#clock = clock;
  }

  /** Returns the number of requests that wait for a lease. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Returns the number of leases that have failed so far. */
  get failed(): number {
    return this.#failed;
  }

  /**
   * Takes one token of each subject, or of neither. With `extraItems`, takes a token for each of these items of a batch, even if
   * there are not enough. Returns `undefined` if the decision needs a lease.
   */
  tryTake(first: LeasedTokens | null, second: LeasedTokens | null, at: number, extraItems = 0): boolean | undefined {
    if (at < this.#openUntil) return true;
    const byFirst = first === null ? 'admitted' : first.decide(at, extraItems);
    const bySecond = second === null ? 'admitted' : second.decide(at, extraItems);
    if (byFirst === 'refused' || bySecond === 'refused') return false;
    if (byFirst === 'unknown' || bySecond === 'unknown') return undefined;
    if (first !== null) this.#takeOf(first, at, extraItems);
    if (second !== null) this.#takeOf(second, at, extraItems);
    return true;
  }

  #takeOf(tokens: LeasedTokens, at: number, extraItems: number): void {
    tokens.take(extraItems);
    if (tokens.isLow) this.#request(tokens, at);
  }

  #request(tokens: LeasedTokens, at: number): void {
    this.#low.add(tokens);
    this.#schedule(at);
  }

  /** Takes tokens as `tryTake` does, after the next lease. */
  wait(first: LeasedTokens | null, second: LeasedTokens | null, extraItems = 0): Promise<Settled> {
    return new Promise((settle) => this.#enqueue({ first, second, extraItems, settle }));
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
    // A lease is deferred even if it is due, so that other requests in this turn of the event loop share it.
    if (waitMs <= 0) setImmediate(() => void this.#run());
    else setTimeout(() => void this.#run(), waitMs);
  }

  async #run(): Promise<void> {
    const leased = this.#takeLow();
    this.#lastLeaseAt = this.#clock();
    const asked = leased.map((tokens) => ({ tokens, request: tokens.request }));
    try {
      const leases = await within(LEASE_TIMEOUT_MS, this.#lease(asked.map(({ request }) => request)));
      const at = this.#clock();
      this.#hasFailed = false;
      for (const { tokens, request } of asked) {
        const lease = leases.get(tokens.subject);
        if (lease !== undefined) tokens.receive(lease, { ...request, at });
        // Requests that arrived during the lease saw a low stock and put the tokens on the list for the next lease. If the stock
        // is no longer low, the tokens are removed from that list.
        if (!tokens.isLow) this.#low.delete(tokens);
      }
    } catch (error) {
      for (const { tokens, request } of asked) tokens.forgive(request);
      this.#openUntil = this.#clock() + OPEN_MS;
      this.#failed += 1;
      if (!this.#hasFailed) this.#onFailure(error);
      this.#hasFailed = true;
    }
    this.#isScheduled = false;
    this.#settleWaiting();
    if (this.#low.size > 0) this.#schedule(this.#clock());
  }

  /**
   * Returns the tokens that the next lease requests, each subject once, because an SQL statement cannot update a row twice. After
   * a change of limits, a subject briefly has two sets of tokens. The second set waits for the lease after the next lease.
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

  /** Settles the waiting requests in order of arrival. Requests that still cannot be decided wait for the next lease. */
  #settleWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { first, second } of waiting) {
      if (first !== null) first.waiting -= 1;
      if (second !== null) second.waiting -= 1;
    }
    const at = this.#clock();
    for (const each of waiting) {
      const isAdmitted = this.tryTake(each.first, each.second, at, each.extraItems);
      if (isAdmitted === undefined) this.#enqueue(each);
      else each.settle({ isAdmitted, at });
    }
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

/**
 * The maximum stock of tokens in a process, and the maximum credit: the tokens that the process may spend before it has leased
 * them. Both are given as the seconds for which the tokens last at the full rate. Together with the burst, two processes can
 * exceed the limit by at most as many requests as the limit allows in 0.46 seconds: by 4.6% within ten seconds.
 */
const STOCK_SECONDS = 0.08;
const CREDIT_SECONDS = 0.05;

/** A decision about a request. "unknown" means that the decision needs a lease. */
export type Decision = 'admitted' | 'refused' | 'unknown';

/**
 * The tokens of one limit that this process has leased from the shared bucket in PostgreSQL. A request takes one token. All times
 * are milliseconds of one clock that never goes back.
 */
export class LeasedTokens {
  readonly subject: string;
  /** The rate limit in requests per second, at least 1. */
  readonly rate: number;
  /** The number of requests that wait for the next lease. */
  waiting = 0;
  readonly #capacity: number;
  readonly #fullStock: number;
  readonly #credit: number;
  /** The number of tokens. If it is negative, tokens were taken on credit, and the next lease settles the debt. */
  #stock = 0;
  #left: number;
  #leasedAt = 0;
  #emptyUntil = 0;
  /** The time until which the shared bucket has a negative number of tokens, because of batches. */
  #indebtedUntil = 0;
  /** The number of tokens that were taken without a lease. The current or the next lease takes them from the shared bucket. */
  #owed = 0;

  constructor(subject: string, rate: number) {
    this.subject = subject;
    this.rate = rate;
    this.#capacity = capacityOf(rate);
    this.#fullStock = Math.floor(rate * STOCK_SECONDS);
    this.#credit = Math.floor(rate * CREDIT_SECONDS);
    this.#left = this.#capacity;
  }

  /**
   * Decides whether a token can be taken now, without taking it. With `extraItems`, decides whether a token for each of these
   * items of a batch can be taken. There may be fewer tokens than items, as long as earlier debts are paid.
   */
  decide(at: number, extraItems = 0): Decision {
    if (extraItems > 0) return this.#decideToOwe(at);
    const held = this.#stock - this.#owed;
    if (held >= 1) return 'admitted';
    if (at < this.#emptyUntil) return 'refused';
    return held - 1 >= -this.#credit ? 'admitted' : 'unknown';
  }

  #decideToOwe(at: number): Decision {
    if (this.#owed > 0) return 'unknown';
    return at < this.#indebtedUntil ? 'refused' : 'admitted';
  }

  /**
   * Takes one token for a request, or one for each of a batch's `extraItems`. If there are too few tokens for a batch, nobody
   * gets a token until the shared bucket is refilled.
   */
  take(extraItems = 0): void {
    if (extraItems === 0) this.#stock -= 1;
    this.#owed += extraItems;
    this.#payFromStock();
  }

  /** Returns what the next lease should request. */
  get request(): LeaseRequest {
    return { subject: this.subject, rate: this.rate, wanted: this.wanted, owed: this.#owed };
  }

  /** Forgets the debts that a failed lease should have paid. */
  forgive({ owed }: LeaseRequest): void {
    this.#owed -= owed;
  }

  #payFromStock(): void {
    const paid = Math.min(this.#owed, Math.max(0, this.#stock));
    this.#stock -= paid;
    this.#owed -= paid;
  }

  /** Returns whether more tokens should be leased, because the stock is low or the tokens of a batch are owed. */
  get isLow(): boolean {
    return this.#stock < this.#fullStock / 2 || this.#stock < 0 || this.#owed > 0;
  }

  /** Returns the number of tokens to lease: for what was taken on credit, for the waiting requests, and to fill the stock. */
  get wanted(): number {
    return Math.max(0, Math.min(Math.floor(this.#capacity), this.#fullStock - this.#stock + this.waiting));
  }

  receive(
    { granted, left }: Lease,
    { wanted, owed, at }: Pick<LeaseRequest, 'wanted' | 'owed'> & { readonly at: number },
  ): void {
    this.#stock += granted;
    this.#owed -= owed;
    this.#payFromStock();
    this.#left = left;
    this.#leasedAt = at;
    this.#indebtedUntil = at - (left / this.rate) * 1000;
    // Until the shared bucket has a whole token again, another lease would be useless.
    if (granted < wanted || left < 0) this.#emptyUntil = at + ((1 - left) / this.rate) * 1000;
  }

  /** Returns the time in seconds until the shared bucket has a token again; 0 if the bucket is not known to be empty. */
  secondsUntilRefill(at: number): number {
    return Math.max(0, this.#emptyUntil - at) / 1000;
  }

  /**
   * Returns how many requests can still be sent within the next second, if nobody else sends any. From a full bucket, that is the
   * rate; each missing token makes it one less. It is never below 0.
   */
  remaining(at: number): number {
    const shared = Math.min(this.#capacity, this.#left + ((at - this.#leasedAt) / 1000) * this.rate);
    const missing = Math.max(0, this.#capacity - shared - this.#stock + this.#owed);
    return Math.max(0, Math.floor(this.rate - missing));
  }
}
