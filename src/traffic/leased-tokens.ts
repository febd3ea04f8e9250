import { capacityOf, type Lease, type LeaseRequest } from '../store/rate-limits.ts';

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
