import { DAY_MS, HOUR_MS, type TimeSpan } from '../time.ts';
import { findKeyInText } from './api-key.ts';

// The usage of a key is the number of requests in each hour and each day, by result. Hours and days are in UTC.

/** The result of a request: it was successful, it was refused because of a mistake of the client, or the server failed. */
export const REQUEST_RESULTS = ['successful', 'refused', 'failed'] as const;
export type RequestResult = (typeof REQUEST_RESULTS)[number];

export type ResultCounts = Readonly<Record<RequestResult, number>>;

export const USE_PERIODS = ['hour', 'day'] as const;
export type UsePeriod = (typeof USE_PERIODS)[number];

/** The requests of one hour or day. */
export type PeriodUse = ResultCounts & { readonly startsAt: Date };

/**
 * The requests of one period. `limited` is the number of requests that a rate limit refused. They are also counted in `refused`.
 */
export type KeyPeriodUse = PeriodUse & { readonly limited: number };

/** The requests of each shown period, the oldest first. The last period is the current one. */
export type KeyUsage = Readonly<Record<UsePeriod, readonly KeyPeriodUse[]>>;

const ALL_TIMES: TimeSpan = { from: null, to: null };

/** The number of periods that are kept and shown, including the current one. */
export const SHOWN_PERIODS: Readonly<Record<UsePeriod, number>> = { hour: 48, day: 30 };

/** The maximum number of networks that are kept for each key. The least recently used ones are removed. */
export const MAX_USED_NETWORKS = 20;

/** A network from which a key was used: an IPv4 address or an IPv6 /64. */
export type UsedNetwork = {
  readonly network: string;
  /** The date of the last use in UTC, such as "2026-01-31". */
  readonly day: string;
};

/** Returns whether the network was used today or yesterday. */
export function isUsedLately({ day }: UsedNetwork, now: Date): boolean {
  return day >= new Date(now.getTime() - DAY_MS).toISOString().slice(0, day.length);
}

const PERIOD_MS: Readonly<Record<UsePeriod, number>> = { hour: HOUR_MS, day: DAY_MS };

/** Returns the start of the oldest period that is shown. */
export function firstShown(period: UsePeriod, now: Date): Date {
  const ms = PERIOD_MS[period];
  return new Date((Math.floor(now.getTime() / ms) - SHOWN_PERIODS[period] + 1) * ms);
}

/**
 * Returns the use of all shown periods that start in the span: adds the periods without requests, and leaves out older periods.
 * `found` has each period at most once.
 */
export function usageOf(found: KeyUsage, now: Date, span = ALL_TIMES): KeyUsage {
  const shownOf = (period: UsePeriod) => {
    const byStart = new Map(found[period].map((use) => [use.startsAt.getTime(), use]));
    return shownStarts(period, now, span).map(
      (startsAt) => byStart.get(startsAt.getTime()) ?? { startsAt, successful: 0, refused: 0, failed: 0, limited: 0 },
    );
  };
  return { hour: shownOf('hour'), day: shownOf('day') };
}

function shownStarts(period: UsePeriod, now: Date, { from, to }: TimeSpan): Date[] {
  const first = firstShown(period, now).getTime();
  return Array.from({ length: SHOWN_PERIODS[period] }, (_, i) => new Date(first + i * PERIOD_MS[period])).filter(
    (start) => (from === null || start >= from) && (to === null || start < to),
  );
}

/** A request with a known key, and its result. Contains no part of the request's URL or body, and no key. */
export type RecordedRequest = {
  /** The X-Request-Id of the response. */
  readonly requestId: string;
  /** The time at which the key was looked up. */
  readonly at: Date;
  /** The operationId. */
  readonly operation: string;
  readonly status: number;
  /** The name of the exception in the contract, such as "ValidationException"; empty if the request was successful. */
  readonly exception: string;
  /** The message of the exception as it was sent; empty if the request was successful. */
  readonly message: string;
  /** The time from the arrival of the headers of the request to its response. */
  readonly durationMs: number;
};

/** The maximum numbers of unsuccessful and of successful requests that are kept for each key, and the number of days. */
export const KEPT_REQUESTS = { unsuccessful: 1000, successful: 200, days: 7 };

/** The lowest status of a request that was refused or failed. */
export const FIRST_UNSUCCESSFUL = 400;

export function isUnsuccessful({ status }: Pick<RecordedRequest, 'status'>): boolean {
  return status >= FIRST_UNSUCCESSFUL;
}

export function totalOf(uses: readonly ResultCounts[]): ResultCounts {
  const sum = (result: RequestResult) => uses.reduce((total, use) => total + use[result], 0);
  return { successful: sum('successful'), refused: sum('refused'), failed: sum('failed') };
}

export function requestsOf({ successful, refused, failed }: ResultCounts): number {
  return successful + refused + failed;
}

/** The maximum length of a recorded product. */
const MAX_CHARACTERS = 60;
/** The syntax of a product: token ["/" product-version] (RFC 9110 section 10.1.5). */
const PRODUCT = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?/;

/**
 * Returns the first product in a User-Agent header, such as "python-requests/2.32.3", cut to 60 characters. Returns `null` if the
 * header is missing or malformed, or the product contains an API key, which must not be stored.
 */
export function clientProductOf(userAgent: string | undefined): string | null {
  const product = PRODUCT.exec(userAgent ?? '')?.[0] ?? null;
  if (product === null || product.split('/').some((part) => findKeyInText(part) !== null)) return null;
  // The text is copied, because a slice of a string keeps the whole string in memory.
  return Buffer.from(product.slice(0, MAX_CHARACTERS)).toString();
}
