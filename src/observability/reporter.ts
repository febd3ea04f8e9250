import { KEY_REFUSAL_REASONS, type KeyRefusalReason, OVERLOADED, type Overloaded } from '../domain/errors.ts';
import { MissingEncryptionKeyError } from '../domain/keyring.ts';
import type { Exchange, UnreadableRequest } from '../domain/request.ts';
import { isOutage } from '../store/sql/database-errors.ts';
import { Tally } from './instruments/measures.ts';
import type { Tracing } from './instruments/tracing.ts';
import { createSampledLog, type Logger, type SampledLog } from './logs.ts';
import type { Metrics } from './metrics/metrics.ts';

/** The log, the metrics and the traces, to which all parts of the server report. */
export type Observers = {
  readonly logger: Logger;
  /** The registry to which the parts of the server add their metrics; `undefined` if nothing is measured. */
  readonly metrics?: Metrics | undefined;
  /** Records the spans of requests; `null` if traces are off. */
  readonly tracing: Tracing | null;
};

/**
 * Why an active key may not make a request: the address of the client is not allowed, the organization is suspended, or the key
 * lacks a permission.
 */
const FORBIDDEN_REASONS = ['address', 'suspended', 'permission'] as const;
type RefusalReason = KeyRefusalReason | (typeof FORBIDDEN_REASONS)[number];

export type Reporter = ReturnType<typeof createReporter>;

/** Creates the reporter, which logs and counts the faults and refusals that the parts of the application report. */
export function createReporter({ logger, tracing }: Observers) {
  const logFailure = createFailureLog(logger, tracing);
  const refusals = createOverloadLog(logger);
  const overloads = new Tally(OVERLOADED);
  const mailFailures = { count: 0 };
  const keyRefusals = new Tally<RefusalReason>([...KEY_REFUSAL_REASONS, ...FORBIDDEN_REASONS]);
  let lacksEncryptionKey = false;
  return {
    overloads,
    keyRefusals,
    mailFailures,
    /** Returns whether a request has needed an encryption key that this process does not have. */
    lacksEncryptionKey: () => lacksEncryptionKey,
    /** Logs a bug or an outage that made a request fail. */
    onFault(error: unknown, requestId: string): void {
      // Until the process is restarted, it reports that it is not ready, because another process may have the key and be able to
      // serve the requests.
      if (error instanceof MissingEncryptionKeyError) lacksEncryptionKey = true;
      logFailure(error, requestId);
    },
    onOverload(overloaded: Overloaded, exchange: Exchange): void {
      refusals.log(overloaded);
      overloads.count(overloaded);
      exchange.isLogged = false;
    },
    onRefusedKey: (reason: RefusalReason) => keyRefusals.count(reason),
    onBrokenResponse({ isWithheld, ...broken }: { readonly isWithheld: boolean }): void {
      const line = { ...broken, traceId: tracing?.current()?.traceId };
      if (isWithheld) logger.error(line, 'a response broke the contract and was withheld');
      else logger.warn(line, 'a response broke the contract');
    },
    onMailFailure(error: unknown): void {
      mailFailures.count += 1;
      logger.warn({ err: error }, 'could not send a mail');
    },
    onLeaseFailure: (error: unknown) =>
      logger.warn({ err: error }, 'could not count requests: for a second, no limit applies'),
    onUseFailure: (error: unknown) =>
      logger.warn({ err: error }, 'could not write the last uses of API keys; will try again'),
    stop: refusals.stop,
  };
}

const EVERY_MS = 10_000;

/**
 * Returns a function that logs each failed request with its error. While the database is unavailable, thousands of requests fail
 * alike, so only the first of them in ten seconds is logged with its error. A request that needs a missing encryption key is
 * logged with the remedy instead.
 */
export function createFailureLog(
  logger: Logger,
  tracing: Pick<Tracing, 'current'> | null,
): (error: unknown, requestId: string) => void {
  let describedAt = Number.NEGATIVE_INFINITY;
  return (error, requestId) => {
    const ids = { requestId, traceId: tracing?.current()?.traceId };
    if (error instanceof MissingEncryptionKeyError) return logger.error(ids, `a request failed: ${error.message}`);
    if (!isOutage(error)) return logger.error({ err: error, ...ids }, 'a request failed');
    const now = performance.now();
    if (now - describedAt < EVERY_MS) return logger.error({ ...ids, outage: true }, 'a request failed');
    describedAt = now;
    logger.error({ err: error, ...ids, outage: true }, 'a request failed');
  };
}

/**
 * Creates a log of refusals under load, which counts them by the part of the server that was overloaded. The first refusal is
 * logged immediately. All others of the same ten seconds are logged as one line, because a line for each would take more time
 * than the refusal.
 */
export function createOverloadLog(logger: Logger): SampledLog<Overloaded> {
  const warn = (refused: Readonly<Record<string, number>>) => logger.warn({ refused }, 'refused requests under load');
  return createSampledLog({
    oneByOne: 1,
    logOne: (overloaded) => warn({ [overloaded]: 1 }),
    kindOf: (overloaded) => overloaded,
    logCounts: warn,
  });
}

/**
 * Creates a log of unreadable and incomplete HTTP requests. In ten seconds, the first ten get a line each. The others are counted
 * by status and logged as one line at the end, because such requests cost their client nearly nothing.
 */
export function createUnreadableLog(
  logger: Logger,
  { everyMs }: { everyMs?: number } = {},
): SampledLog<UnreadableRequest> {
  return createSampledLog({
    oneByOne: 10,
    logOne: (seen) => logger.info(seen, 'unreadable or incomplete HTTP request'),
    kindOf: ({ status }) => String(status),
    logCounts: (statuses) => logger.info({ statuses }, 'further unreadable or incomplete HTTP requests'),
    everyMs,
  });
}
