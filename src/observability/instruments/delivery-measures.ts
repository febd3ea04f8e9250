import { Distribution } from './distribution.ts';
import { Tally } from './tally.ts';

/** "retried": the attempt failed, and another one follows. "failed": the last attempt failed. */
const OUTCOMES = ['succeeded', 'retried', 'failed'] as const;

/** The measures of webhook delivery that the metrics show. */
export class DeliveryMeasures {
  readonly attempts = new Tally(OUTCOMES);
  /** Of attempts, in seconds. */
  readonly durations = new Distribution([0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]);
  /** Pending deliveries of the whole database at the last count, and how many of them were due. */
  backlog = { pending: 0, due: 0 };
}
