// A collector that receives traces as OpenTelemetry exports them: OTLP over HTTP, in JSON.
import { pino } from 'pino';
import { startTraces, type Traces, type TracesOptions } from '../../../src/observability/open-telemetry.ts';
import { respondsWith, type ScriptedServer, startScriptedServer } from '../servers/scripted-server.ts';
import { until } from '../wait.ts';

export type ExportedSpan = {
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly traceId: string;
  readonly spanId: string;
  /** The parent span; `undefined` for the first span of a trace. */
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isError: boolean;
  /** The attributes of the process. */
  readonly resource: Readonly<Record<string, unknown>>;
};

type Collector = {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly server: ScriptedServer;
  readonly spans: () => readonly ExportedSpan[];
  /** Waits for the first span that `fits` accepts. */
  untilSpan(awaited: string, fits: (span: ExportedSpan) => boolean): Promise<ExportedSpan>;
  /** Returns all bodies that the collector received, as text. */
  text(): string;
};

/** Starts a collector for the tests of a file, and closes the collector after them. */
export async function useCollector(): Promise<Collector> {
  const server = await startScriptedServer();
  server.play(respondsWith(200, {}, {}));
  afterAll(() => server.close());
  const spans = () => server.received.filter(({ url }) => url === '/v1/traces').flatMap(({ body }) => spansIn(body));
  return {
    url: server.url,
    server,
    spans,
    untilSpan: (awaited, fits) => until(awaited, () => spans().find(fits)),
    text: () => server.received.map(({ body }) => body).join('\n'),
  };
}

/** Options that record every trace and export it at once. */
export const EVERY_TRACE = {
  serviceName: 'charter',
  sampler: 'parentbased_always_on',
  ratio: 1,
  logger: pino({ level: 'silent' }, { write() {} }),
  exportEveryMs: 10,
} satisfies Omit<TracesOptions, 'endpoint'>;

/** Exports traces until the tests of the file end. */
export async function useTraces(options: Pick<TracesOptions, 'endpoint'> & Partial<TracesOptions>): Promise<Traces> {
  const traces = await startTraces({ ...EVERY_TRACE, ...options });
  afterAll(() => traces.close());
  return traces;
}

/** Returns a value of the header `traceparent` that starts a new trace. */
export function newTraceparent({ isSampled = true }: { isSampled?: boolean } = {}) {
  const [traceId, spanId] = [
    crypto.randomUUID().replaceAll('-', ''),
    crypto.randomUUID().replaceAll('-', '').slice(16),
  ];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-0${isSampled ? 1 : 0}` };
}

type Attribute = { readonly key: string; readonly value: Value };
type Value = {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
};

type Span = Pick<ExportedSpan, 'name' | 'traceId' | 'spanId'> & {
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes?: readonly Attribute[];
  readonly links?: ExportedSpan['links'];
  readonly status?: { readonly code?: number };
};

type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};

/** The kinds of spans, by their number in OTLP. */
const KINDS = ['internal', 'internal', 'server', 'client'] as const;
const ERROR = 2;

function spansIn(body: string): ExportedSpan[] {
  const { resourceSpans }: Export = JSON.parse(body);
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId, kind, attributes = [], links = [], status }) => ({
        name,
        traceId,
        spanId,
        parentSpanId,
        kind: KINDS[kind] ?? 'internal',
        attributes: valuesOf(attributes),
        links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
        isError: status?.code === ERROR,
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(plain);
  if (intValue !== undefined) return Number(intValue);
  return stringValue ?? doubleValue ?? boolValue;
}
