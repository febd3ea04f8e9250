import { setTimeout as delay } from 'node:timers/promises';
import { OrganizationScope } from '../domain/organizations/organization-scope.ts';
import { MAX_FAILING_DAYS } from '../domain/webhooks/webhook-endpoint.ts';
import type { DeliveryMeasures } from '../observability/instruments/measures.ts';
import type { Outbox } from '../service/mail.ts';
import { disableEndpoint, type OwnReason } from '../service/webhooks/disabling.ts';
import type { Database } from '../store/sql/database.ts';
import { isOutage } from '../store/sql/database-errors.ts';
import {
  type AttemptResult,
  type ClaimedDelivery,
  claimDeliveries,
  countPendingDeliveries,
  type DeliveryClaim,
  type EndpointAtUrl,
  type EndpointKey,
  FIRST_ENDPOINT,
  listPendingEndpoints,
  type PendingEndpoint,
  recordAttempts,
} from '../store/webhooks/webhook-deliveries.ts';
import { Attempter, type AttempterOptions, isSuccessful } from './attempt.ts';
import { TIMEOUT_SECONDS } from './sender.ts';

/** The minimum poll interval in milliseconds while no delivery is due. A random time of up to 500 ms is added. */
const POLL_MS = 500;
/** The time in milliseconds during which results are collected, to be written together. */
const GATHER_MS = 20;
const ENDPOINTS_AT_ONCE = 200;
const RESULTS_AT_ONCE = 200;
/**
 * How long a claim lasts. An attempt begins at most 15 seconds after its claim (the statement timeout) and takes at most 15
 * seconds; 5 seconds are a margin.
 */
const LEASE_SECONDS = 2 * TIMEOUT_SECONDS + 5;
const REPORT_SECONDS = 60;
/** How long a shutdown waits for attempts in progress, and for the database to take their results. */
const STOP_MS = 5000;
const GONE = 410;

export type DeliveryOptions = AttempterOptions & {
  /** Sends the mail to administrators that an endpoint was disabled. */
  readonly outbox: Outbox;
  readonly publicUrl: string | undefined;
  readonly leaseSeconds?: number;
  /** The interval in seconds at which the number of deliveries is logged; 60 if it is omitted. */
  readonly reportSeconds?: number;
  readonly measures?: DeliveryMeasures | undefined;
};

export type Deliveries = {
  /** Begins no more attempts, waits at most five seconds for those in progress, and writes their results. */
  stop(): Promise<void>;
};

/** Sends due webhook deliveries until it is stopped. Uses at most one database connection at a time. */
export function startDeliveries(db: Database, options: DeliveryOptions): Deliveries {
  const dispatcher = new Dispatcher(db, options);
  const running = dispatcher.run();
  const stop = () => {
    dispatcher.stop();
    return running;
  };
  return { stop };
}

class Dispatcher {
  readonly #db: Database;
  readonly #options: DeliveryOptions;
  readonly #limits = new ConcurrencyLimits();
  readonly #attempter: Attempter;
  readonly #attempts = new Set<Promise<void>>();
  /** The results that are not written yet. */
  #results: AttemptResult[] = [];
  /**
   * The endpoints to disable. They are stored separately from the results for which they are disabled, because results are
   * written only once, but disabling an endpoint may have to be repeated.
   */
  readonly #toDisable: { readonly endpoint: EndpointAtUrl; readonly reason: OwnReason }[] = [];
  /** The endpoint that had the last turn. */
  #after: EndpointKey = FIRST_ENDPOINT;
  #isPaused = false;
  #isStopping = false;
  #wake = () => {};
  #report = { since: performance.now(), succeeded: 0, failed: 0 };

  constructor(db: Database, options: DeliveryOptions) {
    this.#db = db;
    this.#options = options;
    this.#attempter = new Attempter(db.keyring, options);
  }

  async run(): Promise<void> {
    while (!this.#isStopping) {
      const isBusy = await this.#turn();
      await this.#wait(isBusy ? GATHER_MS : POLL_MS * (1 + Math.random()));
    }
    await this.#finish();
  }

  stop(): void {
    this.#isStopping = true;
    this.#wake();
  }

  /** Does everything that is due. Returns whether there may be more to do immediately. */
  async #turn(): Promise<boolean> {
    try {
      await this.#writeResults();
      const claimed = await this.#claim();
      await this.#reportSometimes();
      if (this.#isPaused) this.#options.logger.info('webhook deliveries continue');
      this.#isPaused = false;
      return claimed > 0 || this.#results.length > 0 || this.#after !== FIRST_ENDPOINT;
    } catch (error) {
      if (!this.#isPaused) this.#options.logger.warn({ err: error }, 'webhook deliveries pause; will try again');
      this.#isPaused = true;
      return false;
    }
  }

  /** Waits for this time, or until a result arrives or `stop` is called. */
  async #wait(ms: number): Promise<void> {
    if (this.#isStopping) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms).unref();
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }

  /** Claims deliveries, and returns their number. */
  async #claim(): Promise<number> {
    if (this.#limits.isFull) return 0;
    const pending = await listPendingEndpoints(this.#db, { after: this.#after, limit: ENDPOINTS_AT_ONCE });
    const claims = this.#limits.divide(pending.filter(({ isReady }) => isReady));
    const { leaseSeconds = LEASE_SECONDS } = this.#options;
    const claimed = claims.length === 0 ? [] : await claimDeliveries(this.#db, claims, { leaseSeconds });
    const failing = new Set(pending.filter(({ isFailing }) => isFailing).map(({ endpointId }) => endpointId));
    for (const delivery of claimed) this.#start(delivery, failing.has(delivery.endpointId));
    // If no place is free any more, the next turn begins after the last endpoint that got a place.
    const last = this.#limits.isFull ? claims.at(-1) : pending[ENDPOINTS_AT_ONCE - 1];
    this.#after = last ?? FIRST_ENDPOINT;
    return claimed.length;
  }

  #start(delivery: ClaimedDelivery, isFailing: boolean): void {
    const place = { ...delivery, isFailing };
    this.#limits.start(place);
    const attempt = this.#attempter.attempt(delivery).then((result) => {
      const isSuccess = result !== null && isSuccessful(result);
      this.#limits.end(place, { isSuccess, durationMs: result?.durationMs ?? 0 });
      this.#attempts.delete(attempt);
      if (result === null) return;
      this.#results.push(result);
      if (this.#results.length === 1 && !this.#isPaused) setTimeout(() => this.#wake(), GATHER_MS);
    });
    this.#attempts.add(attempt);
  }

  /**
   * Writes the results. During an outage, keeps the results for the next call. Any other failure concerns a single result, and
   * must not prevent the other results from being written.
   */
  async #writeResults(): Promise<void> {
    let size = RESULTS_AT_ONCE;
    while (this.#results.length > 0) {
      const results = this.#results.slice(0, size);
      try {
        await this.#write(results);
      } catch (error) {
        if (isOutage(error)) throw error;
        if (results.length > 1) {
          size = 1;
          continue;
        }
        this.#options.logger.error({ err: error }, 'could not write the result of a webhook delivery');
      }
      this.#results.splice(0, results.length);
    }
    await this.#disableEndpoints();
  }

  async #write(results: readonly AttemptResult[]): Promise<void> {
    const failing = await recordAttempts(this.#db, results, { failingDays: MAX_FAILING_DAYS });
    for (const result of results) this.#count(result);
    // An endpoint is listed only once for each URL, because several attempts that are in progress at the same time can each get a
    // 410.
    const gone = new Map(
      results.filter(({ status }) => status === GONE).map((result) => [`${result.endpointId} ${result.url}`, result]),
    );
    for (const endpoint of gone.values()) this.#toDisable.push({ endpoint, reason: 'gone' });
    for (const endpoint of failing) this.#toDisable.push({ endpoint, reason: 'failing' });
  }

  /**
   * Disables the endpoints. During an outage, keeps the endpoints that are not disabled yet, so that the next call disables them.
   */
  async #disableEndpoints(): Promise<void> {
    for (;;) {
      const [next] = this.#toDisable;
      if (next === undefined) return;
      try {
        await this.#disable(next.endpoint, next.reason);
      } catch (error) {
        if (isOutage(error)) throw error;
        this.#options.logger.error({ err: error }, 'could not disable a webhook endpoint');
      }
      this.#toDisable.shift();
    }
  }

  #count(result: AttemptResult): void {
    const { organizationId, endpointId, messageId, number, durationMs, status, error, retryMs } = result;
    const { measures, logger } = this.#options;
    measures?.durations.record(durationMs / 1000);
    if (isSuccessful(result)) {
      this.#report.succeeded += 1;
      measures?.attempts.count('succeeded');
      return;
    }
    this.#report.failed += 1;
    measures?.attempts.count(retryMs === null ? 'failed' : 'retried');
    if (retryMs !== null) return;
    const line = { organizationId, endpointId, messageId, attempts: number, status, error };
    logger.warn(line, 'a webhook delivery has failed for good');
  }

  async #disable({ organizationId, endpointId, url }: EndpointAtUrl, reason: OwnReason): Promise<void> {
    const { logger, outbox, publicUrl } = this.#options;
    const scope = OrganizationScope.grant(organizationId);
    const deps = { db: this.#db, outbox, publicUrl };
    if (await disableEndpoint(deps, scope, { id: endpointId, url, reason }))
      logger.warn({ organizationId, endpointId, reason }, 'a webhook endpoint was disabled');
  }

  async #reportSometimes(): Promise<void> {
    const { since, succeeded, failed } = this.#report;
    const now = performance.now();
    const { logger, reportSeconds = REPORT_SECONDS, measures } = this.#options;
    if (now - since < reportSeconds * 1000) return;
    const backlog = await countPendingDeliveries(this.#db);
    this.#report = { since: now, succeeded: 0, failed: 0 };
    if (measures !== undefined) measures.backlog = backlog;
    if (succeeded + failed + backlog.pending === 0) return;
    const seconds = Math.round((now - since) / 1000);
    logger.info({ seconds, succeeded, failed, ...backlog }, 'webhook deliveries');
  }

  async #finish(): Promise<void> {
    await Promise.race([Promise.all(this.#attempts), delay(STOP_MS, undefined, { ref: false })]);
    this.#options.sender.close();
    await Promise.all(this.#attempts);
    for (const endsAt = performance.now() + STOP_MS; ; await delay(POLL_MS)) {
      try {
        return await this.#writeResults();
      } catch (error) {
        if (performance.now() < endsAt) continue;
        const message = 'could not write the last results of webhook deliveries; they are sent again';
        return this.#options.logger.warn({ err: error }, message);
      }
    }
  }
}

/** The maximum number of attempts of this process that are in progress at the same time. */
const MAX_ATTEMPTS = 512;
/** The maximum number of attempts in progress at endpoints whose last attempt failed. */
const MAX_FAILING = 128;
/**
 * The limits on attempts in progress at one endpoint: the limit with which an endpoint begins, and the highest limit, which an
 * endpoint reaches while its attempts succeed quickly.
 */
const FIRST_LIMIT = 8;
const MAX_LIMIT = 32;
const SLOW_MS = 1000;
/** The maximum number of endpoints whose limits are remembered, in about 2 MB of memory. */
const MAX_KNOWN = 10_000;

export type AttemptSummary = { readonly isSuccess: boolean; readonly durationMs: number };

type Place = EndpointKey & { readonly isFailing: boolean };

/**
 * Limits the attempts that are in progress at the same time. The limit of an endpoint is 8 at first. Each quick success increases
 * the limit by one, up to 32; each slow response and each failure halves the limit. An endpoint whose last attempt failed has the
 * limit 1. Endpoints that do not respond therefore take few places and do not delay other endpoints.
 */
export class ConcurrencyLimits {
  /** The endpoints, by id, that have attempts in progress or a limit below FIRST_LIMIT. */
  readonly #endpoints = new Map<string, { running: number; limit: number }>();
  #running = 0;
  #failing = 0;

  get isFull(): boolean {
    return this.#running >= MAX_ATTEMPTS;
  }

  /** Divides the free places equally among the endpoints, within their limits. */
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

  end({ endpointId, isFailing }: Place, { isSuccess, durationMs }: AttemptSummary): void {
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
