import { formatSnapshots, type Metrics } from '../../../src/observability/metrics/metrics.ts';

/** Values by the name and labels of a time series, in the format of Prometheus: `name{label="value"}`. */
export type Series = ReadonlyMap<string, number>;

export async function readSeries(metrics: Metrics): Promise<Series> {
  return parseSeries(await formatSnapshots([await metrics.read()]));
}

/** Parses metrics in the text format of Prometheus. Throws on a line that is neither a comment nor a value. */
export function parseSeries(text: string): Series {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name, value] = /^(\S+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`No line of the text format: ${line}`);
      return [name, Number(value.replace('Inf', 'Infinity'))];
    }),
  );
}

/** Returns the values of a metric with exactly one label, by the value of this label. */
export function byLabel(series: Series, metric: string, label: string): Record<string, number> {
  const pattern = new RegExp(`^${metric}\\{${label}="([^"]*)"\\}$`);
  return Object.fromEntries(
    [...series].flatMap(([name, value]) => {
      const found = pattern.exec(name)?.[1];
      return found === undefined ? [] : [[found, value]];
    }),
  );
}

/** Sends a request, and throws unless the response comes from the response cache. */
export async function fromCache<T>(metrics: Metrics, send: () => Promise<T>): Promise<T> {
  const hits = async () => (await readSeries(metrics)).get('charter_response_cache_requests_total{result="hit"}') ?? 0;
  const before = await hits();
  const reply = await send();
  if ((await hits()) !== before + 1) throw new Error('The response does not come from the cache.');
  return reply;
}
