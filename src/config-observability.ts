import { type Given, integer, oneOf, ratioOf } from './config-values.ts';
import { StartUpError } from './domain/errors.ts';
import { SAMPLERS, type SamplerName } from './observability/instruments/tracing.ts';

// The variables of metrics and traces.

export type ObservabilityConfig = {
  /** Where the metrics are served; port 0 stands for any free port. If it is `null`, nothing is measured. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Where traces are exported to, and which; see TracesOptions. If it is `null`, nothing is traced. */
  readonly traces: {
    readonly endpoint: string;
    readonly serviceName: string;
    readonly sampler: SamplerName;
    readonly ratio: number;
  } | null;
};

export function readObservabilityConfig(given: Given): ObservabilityConfig {
  return {
    metrics: metrics({ host: given('METRICS_HOST'), port: given('METRICS_PORT') }),
    traces: traces({
      endpoint: given('OTEL_EXPORTER_OTLP_ENDPOINT'),
      serviceName: given('OTEL_SERVICE_NAME'),
      sampler: given('OTEL_TRACES_SAMPLER'),
      ratio: given('OTEL_TRACES_SAMPLER_ARG'),
    }),
  };
}

/** Off by default: processes that share a machine cannot share a port, and nobody expects a second one to be open. */
function metrics({ host, port }: Record<'host' | 'port', string | undefined>): ObservabilityConfig['metrics'] {
  if (port !== undefined)
    return { host: host ?? '127.0.0.1', port: integer('METRICS_PORT', port, { fallback: 0, min: 0, max: 65535 }) };
  if (host === undefined) return null;
  throw new StartUpError(
    'METRICS_HOST is set, but METRICS_PORT is missing.',
    'Set METRICS_PORT to the port of the metrics, or unset METRICS_HOST.',
  );
}

type TraceVariable = 'endpoint' | 'serviceName' | 'sampler' | 'ratio';

/** Off by default: nothing leaves the machine. The variables are OpenTelemetry's own, which other programs read, too. */
function traces({
  endpoint,
  serviceName,
  sampler,
  ratio,
}: Record<TraceVariable, string | undefined>): ObservabilityConfig['traces'] {
  if (endpoint === undefined) return null;
  // The message omits the value, which may contain a password.
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new StartUpError(
      'OTEL_EXPORTER_OTLP_ENDPOINT is not an HTTP URL.',
      'Set it to the URL of a collector that receives OTLP over HTTP, such as http://127.0.0.1:4318, or unset it.',
    );
  }
  return {
    endpoint,
    serviceName: serviceName ?? 'charter',
    sampler: oneOf('OTEL_TRACES_SAMPLER', sampler, { fallback: 'parentbased_always_on', allowed: SAMPLERS }),
    ratio: ratioOf('OTEL_TRACES_SAMPLER_ARG', ratio, { allowsZero: true }),
  };
}
