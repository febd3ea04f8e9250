import type { Overloaded } from '../domain/errors.ts';
import type { Logger } from './logs.ts';
import { type SampledLog, sampleLog } from './sampled-log.ts';

/**
 * Logs refusals under load, with what was overloaded and their number: the first one at once, and all others of the same ten
 * seconds as one line. A line for each of them would take more time than the refusal.
 */
export function logRefusals(logger: Logger): SampledLog<Overloaded> {
  const warn = (refused: Readonly<Record<string, number>>) => logger.warn({ refused }, 'refused requests under load');
  return sampleLog({
    oneByOne: 1,
    logOne: (overloaded) => warn({ [overloaded]: 1 }),
    kindOf: (overloaded) => overloaded,
    logFurther: warn,
  });
}
