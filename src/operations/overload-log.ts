import type { Overloaded } from '../domain/errors.ts';
import type { Logger } from './logs.ts';

const EVERY_MS = 10_000;

/**
 * Counts refusals under load, and logs a warning with their number at the first one and then at most every ten seconds. A line
 * for each of them would take more time than the refusal.
 */
export function countRefusals(logger: Logger): (overloaded: Overloaded) => void {
  let refused: Partial<Record<Overloaded, number>> = {};
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    timer = undefined;
    if (Object.keys(refused).length === 0) return;
    logger.warn({ refused }, 'refused requests under load');
    refused = {};
    timer = setTimeout(report, EVERY_MS).unref();
  };
  return (overloaded) => {
    refused[overloaded] = (refused[overloaded] ?? 0) + 1;
    if (timer === undefined) report();
  };
}
