import type { UnreadableRequest } from '../domain/unreadable-request.ts';
import type { Logger } from './logs.ts';
import { type SampledLog, sampleLog } from './sampled-log.ts';

/**
 * Logs unreadable and incomplete HTTP requests. In ten seconds, the first ten have a line each. The others are counted by status,
 * and have one line when the ten seconds are over: such a request costs its client nearly nothing.
 */
export function logUnreadable(logger: Logger, { everyMs }: { everyMs?: number } = {}): SampledLog<UnreadableRequest> {
  return sampleLog({
    oneByOne: 10,
    logOne: (seen) => logger.info(seen, 'unreadable or incomplete HTTP request'),
    kindOf: ({ status }) => String(status),
    logFurther: (statuses) => logger.info({ statuses }, 'further unreadable or incomplete HTTP requests'),
    everyMs,
  });
}
