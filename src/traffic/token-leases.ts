import { capacityOf, type Lease, type LeaseRequest } from '../store/keys/rate-limits.ts';

export type TokenLeasesOptions = {
  readonly lease: (requests: readonly LeaseRequest[]) => Promise<ReadonlyMap<string, Lease>>;
  /** Called when leases begin to fail. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds, from a clock that never goes back. */
  readonly clock: () => number;
};

/** Minimum time between the starts of two leases, so that the needs of many subjects share one statement. */
const LEASE_INTERVAL_MS = 15;
/** A lease that takes longer counts as failed. */
const LEASE_TIMEOUT_MS = 5000;
/** After a failed lease, everything is admitted for this time. */
const OPEN_MS = 1000;
const MAX_SUBJECTS_PER_LEASE = 1000;

/** `at`: the time of the decision. */
export type Settled = { readonly isAdmitted: boolean; readonly at: number };

type Waiting = {
  readonly first: LeasedTokens | null;
  readonly second: LeasedTokens | null;
  readonly extraItems: number;
  readonly settle: (settled: Settled) => void;
};

/** Takes tokens of one or two subjects at once, and leases them from PostgreSQL: ahead of need, or for requests that wait. */
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

  /** Requests that wait for a lease. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Leases that failed so far. */
  get failed(): number {
    return this.#failed;
  }

  /**
   * Takes a token of each, or of neither. `extraItems`: takes a token for each of these items of a batch instead, which need not
   * be there. Returns `undefined` if only a lease can tell.
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

  /** Takes tokens as `tryTake` does, once a lease can tell. */
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
        // The requests during the lease have found the stock low, and noted that more tokens are needed.
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
   * Returns the tokens that the next lease asks for, each subject once: a statement cannot update a row twice. After a change of
   * limits, a subject has two sets of tokens for a moment, and the second one waits for the lease after this one.
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

  /** Settles requests in the order of arrival. Those about which the lease could not tell wait for the next one. */
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
 * The tokens that a process holds at most, and those that it may spend before it has leased them, in seconds at the full rate.
 * With the burst, two processes let at most 0.46 seconds' requests through beyond the limit: 4.6% within ten seconds.
 */
const STOCK_SECONDS = 0.08;
const CREDIT_SECONDS = 0.05;

/** "unknown": only a lease can tell. */
export type Decision = 'admitted' | 'refused' | 'unknown';

/**
 * The tokens of one limit that this process has leased from its shared bucket in PostgreSQL. A request takes one. All times
 * are milliseconds of one clock that never goes back.
 */
export class LeasedTokens {
  readonly subject: string;
  /** Requests per second, at least 1. */
  readonly rate: number;
  /** Requests that wait for the next lease. */
  waiting = 0;
  readonly #capacity: number;
  readonly #fullStock: number;
  readonly #credit: number;
  /** Tokens below 0 were taken on credit, for the next lease to settle. */
  #stock = 0;
  #left: number;
  #leasedAt = 0;
  #emptyUntil = 0;
  /** Until this time, the shared bucket holds less than no token, because of batches. */
  #indebtedUntil = 0;
  /** Tokens that were taken without a lease. The next lease, or the present one, takes them from the shared bucket. */
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
   * Decides whether a token can be taken now, and takes none. `extraItems`: decides about a token for each of these items of a
   * batch instead. They need not be there: they can be owed once earlier debts are paid.
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
   * Takes a token for a request, or one for each of a batch's `extraItems`. Those need not be there: nobody gets a token until
   * the shared bucket is refilled.
   */
  take(extraItems = 0): void {
    if (extraItems === 0) this.#stock -= 1;
    this.#owed += extraItems;
    this.#payFromStock();
  }

  /** What the next lease should ask for. */
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

  /** Whether the next lease should be requested ahead of need. */
  get isLow(): boolean {
    return this.#stock < this.#fullStock / 2 || this.#stock < 0 || this.#owed > 0;
  }

  /** Tokens to lease: to settle what was taken on credit, to serve the requests that wait, and to fill the stock. */
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
    // The shared bucket holds less than one token. Until it holds one, another lease would be in vain.
    if (granted < wanted || left < 0) this.#emptyUntil = at + ((1 - left) / this.rate) * 1000;
  }

  /** The time until the shared bucket holds a token again; 0 if it is not known to be empty. */
  secondsUntilRefill(at: number): number {
    return Math.max(0, this.#emptyUntil - at) / 1000;
  }

  /**
   * Requests that can certainly be sent within the next second, if nobody else sends any: the rate, less what is missing
   * from a full bucket. 0 to `rate`.
   */
  remaining(at: number): number {
    const shared = Math.min(this.#capacity, this.#left + ((at - this.#leasedAt) / 1000) * this.rate);
    const missing = Math.max(0, this.#capacity - shared - this.#stock + this.#owed);
    return Math.max(0, Math.floor(this.rate - missing));
  }
}
