import type { Distribution } from '../instruments/measures.ts';

export type Labels = Readonly<Record<string, string>>;

export type Sample = {
  readonly labels: Labels;
  readonly value: number;
  /** The name of the sample. Default: the name of the metric. */
  readonly metricName?: string;
};

/** A metric with its values at one moment, in the form in which prom-client exports metrics. */
export type MetricSnapshot = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly Sample[];
};

/**
 * Reads a metric when Prometheus requests the metrics. The parts of the server count in plain numbers and know nothing about
 * metrics, because prom-client's own counters look up their labels at each count, which takes too long for every request.
 */
export type Metric = () => MetricSnapshot;

type Described = { readonly name: string; readonly help: string };

/** Returns a counter. `read` returns a single value, or several values with their labels. */
export function counter(described: Described, read: () => number | readonly Sample[]): Metric {
  return () => ({ ...described, type: 'counter', values: samplesOf(read()) });
}

export function gauge(described: Described, read: () => number | readonly Sample[]): Metric {
  return () => ({ ...described, type: 'gauge', values: samplesOf(read()) });
}

export function histogram(
  described: Described,
  read: () => readonly { readonly labels: Labels; readonly distribution: Distribution }[],
): Metric {
  return () => ({
    ...described,
    type: 'histogram',
    values: read().flatMap(({ labels, distribution }) => samplesOfDistribution(described.name, labels, distribution)),
  });
}

/** Returns the samples of a metric that has only the label `label`, from pairs of the label's value and the sample's value. */
export function samplesBy(label: string, values: readonly (readonly [string, number])[]): Sample[] {
  return values.map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function samplesOf(values: number | readonly Sample[]): readonly Sample[] {
  return typeof values === 'number' ? [{ labels: {}, value: values }] : values;
}

function samplesOfDistribution(name: string, labels: Labels, distribution: Distribution): Sample[] {
  const counts = distribution.cumulativeCounts();
  const total = counts.at(-1) ?? 0;
  const buckets = counts.map((value, i) => ({
    labels: { ...labels, le: String(distribution.bounds[i] ?? '+Inf') },
    value,
    metricName: `${name}_bucket`,
  }));
  return [
    ...buckets,
    { labels, value: distribution.sum, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}
