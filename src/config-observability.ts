import { readInteger, readOneOf, readRatio, type Variable } from './config-values.ts';
import { StartUpError } from './domain/errors.ts';
import { SAMPLERS, type SamplerName } from './observability/instruments/tracing.ts';

// The environment variables for slow requests, metrics and traces.

export type ObservabilityConfig = {
  /** The duration from which a request counts as slow, and is logged as a warning. */
  readonly slowRequestMs: number;
  /** The address on which the metrics are served; the port is 0 for any free port. `null` if nothing is measured. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Where traces are exported, and which requests are traced (see TracesOptions). `null` if nothing is traced. */
  readonly traces: {
    readonly endpoint: string;
    readonly serviceName: string;
    readonly sampler: SamplerName;
    readonly ratio: number;
  } | null;
};

export function readObservabilityConfig(variable: Variable): ObservabilityConfig {
  return {
    slowRequestMs: readInteger('SLOW_REQUEST_MS', variable('SLOW_REQUEST_MS'), { fallback: 1000, min: 1, max: 60_000 }),
    metrics: readMetrics({ host: variable('METRICS_HOST'), port: variable('METRICS_PORT') }),
    traces: readTraces({
      endpoint: variable('OTEL_EXPORTER_OTLP_ENDPOINT'),
      serviceName: variable('OTEL_SERVICE_NAME'),
      sampler: variable('OTEL_TRACES_SAMPLER'),
      ratio: variable('OTEL_TRACES_SAMPLER_ARG'),
    }),
  };
}

/**
 * Reads where the metrics are served. By default they are not served, because several processes on one machine cannot share a
 * port, and nobody expects a second open port.
 */
function readMetrics({ host, port }: Record<'host' | 'port', string | undefined>): ObservabilityConfig['metrics'] {
  if (port !== undefined)
    return { host: host ?? '127.0.0.1', port: readInteger('METRICS_PORT', port, { fallback: 0, min: 0, max: 65535 }) };
  if (host === undefined) return null;
  throw new StartUpError(
    'METRICS_HOST is set, but METRICS_PORT is missing.',
    'Set METRICS_PORT to the port of the metrics, or unset METRICS_HOST.',
  );
}

type TraceVariable = 'endpoint' | 'serviceName' | 'sampler' | 'ratio';

/**
 * Reads where traces are exported. By default they are not exported, so that nothing leaves the machine. The variables are
 * OpenTelemetry's, so other programs on the machine may read them, too.
 */
function readTraces({
  endpoint,
  serviceName,
  sampler,
  ratio,
}: Record<TraceVariable, string | undefined>): ObservabilityConfig['traces'] {
  if (endpoint === undefined) return null;
  // The message does not contain the value, because the value may contain a password.
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new StartUpError(
      'OTEL_EXPORTER_OTLP_ENDPOINT is not an HTTP URL.',
      'Set it to the URL of a collector that receives OTLP over HTTP, such as http://127.0.0.1:4318, or unset it.',
    );
  }
  return {
    endpoint,
    serviceName: serviceName ?? 'charter',
    sampler: readOneOf('OTEL_TRACES_SAMPLER', sampler, { fallback: 'parentbased_always_on', allowed: SAMPLERS }),
    ratio: readRatio('OTEL_TRACES_SAMPLER_ARG', ratio, { allowsZero: true }),
  };
}
