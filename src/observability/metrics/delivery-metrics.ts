import type { DeliveryMeasures } from '../instruments/delivery-measures.ts';
import { counter, gauge, histogram, type Metric, samplesBy } from './metric.ts';

/** What the delivery of webhooks counts. */
export function deliveryMetrics(measures: DeliveryMeasures): Metric[] {
  return [
    counter({ name: 'charter_webhook_attempts_total', help: 'Attempts to deliver webhooks.' }, () =>
      samplesBy('outcome', measures.attempts.entries()),
    ),
    histogram(
      { name: 'charter_webhook_attempt_duration_seconds', help: 'Duration of attempts to deliver webhooks.' },
      () => [{ labels: {}, distribution: measures.durations }],
    ),
    gauge(
      {
        name: 'charter_webhook_deliveries',
        help: 'Deliveries that have not ended, and those that are due. Counted once a minute, over all processes.',
      },
      () => samplesBy('state', Object.entries(measures.backlog)),
    ),
  ];
}
