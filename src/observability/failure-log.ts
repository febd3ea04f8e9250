import { MissingEncryptionKeyError } from '../domain/keyring.ts';
import { isOutage } from '../store/sql/database-errors.ts';
import type { Tracing } from './instruments/tracing.ts';
import type { Logger } from './logs.ts';

const EVERY_MS = 10_000;

/**
 * Logs each request that failed, with its error. While the database is unavailable, thousands of requests fail alike: only
 * the first one in ten seconds has its error then. A request that needs a missing encryption key has the remedy instead.
 */
export function logFailures(
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
