import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import type { Labels, Metric } from './metric.ts';

/** The metrics of one process at one moment, as plain data that can be sent to another process. */
export type Snapshot = readonly object[];

/** The metrics of this process: those of Node, and those that the parts of the server add. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #metrics: Metric[] = [];
  readonly #labels: Labels;

  /** Adds `labels` to every metric of the process. */
  constructor(labels: Labels = {}) {
    this.#labels = labels;
    this.#registry.setDefaultLabels(labels);
    collectDefaultMetrics({ register: this.#registry });
  }

  add(metrics: readonly Metric[]): void {
    this.#metrics.push(...metrics);
  }

  async read(): Promise<Snapshot> {
    const ofNode = await this.#registry.getMetricsAsJSON();
    const ours = this.#metrics.map((read) => {
      const metric = read();
      const values = metric.values.map((sample) => ({ ...sample, labels: { ...sample.labels, ...this.#labels } }));
      return { ...metric, values };
    });
    return [...ofNode, ...ours];
  }
}

export const CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** Formats the metrics of all processes in the text format of Prometheus. The processes must have different labels. */
export async function formatSnapshots(snapshots: readonly Snapshot[]): Promise<string> {
  // No two samples have the same labels, so there is nothing to aggregate. The aggregator "first" also keeps metrics that
  // prom-client would otherwise omit.
  const kept = snapshots.map((snapshot) => snapshot.map((metric) => ({ ...metric, aggregator: 'first' })));
  return AggregatorRegistry.aggregate(kept).metrics();
}
