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
  readonly owed: number;
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
   * Takes a token of each, or of neither. `owed`: takes so many instead, which need not be there. Returns `undefined` if only a
   * lease can tell.
   */
  tryTake(first: LeasedTokens | null, second: LeasedTokens | null, at: number, owed = 0): boolean | undefined {
    if (at < this.#openUntil) return true;
    const byFirst = first === null ? 'admitted' : first.decide(at, owed);
    const bySecond = second === null ? 'admitted' : second.decide(at, owed);
    if (byFirst === 'refused' || bySecond === 'refused') return false;
    if (byFirst === 'unknown' || bySecond === 'unknown') return undefined;
    if (first !== null) this.#takeOf(first, at, owed);
    if (second !== null) this.#takeOf(second, at, owed);
    return true;
  }

  #takeOf(tokens: LeasedTokens, at: number, owed: number): void {
    tokens.take(owed);
    if (tokens.isLow) this.#request(tokens, at);
  }

  #request(tokens: LeasedTokens, at: number): void {
    this.#low.add(tokens);
    this.#schedule(at);
  }

  /** As `tryTake`. Resolves once a lease can tell. */
  wait(first: LeasedTokens | null, second: LeasedTokens | null, owed = 0): Promise<Settled> {
    return new Promise((settle) => this.#enqueue({ first, second, owed, settle }));
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
    const asked = leased.map((tokens) => ({ tokens, request: tokens.request }));
    try {
      const leases = await within(LEASE_TIMEOUT_MS, this.#lease(asked.map(({ request }) => request)));
      const at = this.#clock();
      this.#hasFailed = false;
      for (const { tokens, request } of asked) {
        const lease = leases.get(tokens.subject);
        if (lease !== undefined) tokens.receive(lease, { ...request, at });
        // Requests during the lease found the stock low.
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
      const isAdmitted = this.tryTake(each.first, each.second, at, each.owed);
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
 * In seconds at the full rate: the tokens that a process holds at most, and those that it may spend before it has leased them.
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
  /** While the shared bucket holds less than none, after batches. */
  #indebtedUntil = 0;
  /** Taken without a lease, for the next one to take from the shared bucket, or for the one that is under way. */
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
   * Whether a token can be taken now. Takes none. `owed`: for so many tokens instead, which need not be there. They can be owed
   * once what was owed before is paid.
   */
  decide(at: number, owed = 0): Decision {
    if (owed > 0) return this.#decideToOwe(at);
    const held = this.#stock - this.#owed;
    if (held >= 1) return 'admitted';
    if (at < this.#emptyUntil) return 'refused';
    return held - 1 >= -this.#credit ? 'admitted' : 'unknown';
  }

  #decideToOwe(at: number): Decision {
    if (this.#owed > 0) return 'unknown';
    return at < this.#indebtedUntil ? 'refused' : 'admitted';
  }

  /** `owed`: takes so many tokens, which need not be there. Until the shared bucket is refilled, nobody gets any. */
  take(owed = 0): void {
    if (owed === 0) this.#stock -= 1;
    this.#owed += owed;
    this.#payFromStock();
  }

  /** What the next lease should ask for. */
  get request(): LeaseRequest {
    return { subject: this.subject, rate: this.rate, wanted: this.wanted, owed: this.#owed };
  }

  /** After a lease that failed. */
  forgive({ owed }: LeaseRequest): void {
    this.#owed -= owed;
  }

  #payFromStock(): void {
    const paid = Math.min(this.#owed, Math.max(0, this.#stock));
    this.#stock -= paid;
    this.#owed -= paid;
  }

  /** True when the next lease should be requested ahead of need. */
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

  /** Until the shared bucket holds a token again, if it is known to be empty. */
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
