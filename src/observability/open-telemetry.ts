// The only file that imports OpenTelemetry. The server loads this file only if traces are exported.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Context,
  type Span as OpenTelemetrySpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type TracerProviderOptions,
} from '@opentelemetry/sdk-trace';
import { RELEASE_VERSION } from '../domain/release.ts';
import type { SamplerName, SlowEnd, Span, SpanEnd, SpanStart, Tracing } from './instruments/tracing.ts';
import { createSampledLog, type Logger } from './logs.ts';

export type TracesOptions = {
  /** The URL of a collector that accepts OTLP over HTTP, without `/v1/traces`. */
  readonly endpoint: string;
  readonly serviceName: string;
  readonly sampler: SamplerName;
  /** The share of traces, from 0 to 1, that the samplers whose names contain "traceidratio" record. */
  readonly ratio: number;
  readonly logger: Logger;
  /** The time between two exports. Default: 5,000. */
  readonly exportEveryMs?: number;
  /** The time limit of one export including its retries. Default: 5,000. */
  readonly exportTimeoutMs?: number;
};

export type Traces = Tracing & {
  /** Exports the remaining spans, which takes at most five seconds. */
  close(): Promise<void>;
};

const EXPORT_EVERY_MS = 5000;
const EXPORT_TIMEOUT_MS = 5000;
const CLOSE_MS = 5000;
/**
 * The maximum number of spans that wait for their export. Further spans are dropped, so that a slow collector does not fill the
 * memory.
 */
const MAX_QUEUED_SPANS = 2048;
const MAX_SPANS_OF_EXPORT = 512;
const WARN_EVERY_MS = 60_000;
/** The length of the id of a span in W3C Trace Context. */
const SPAN_ID_BYTES = 8;

/**
 * Starts exporting spans to a collector. A collector that does not respond delays no request and causes no errors; its spans are
 * lost.
 */
export async function startTraces(options: TracesOptions): Promise<Traces> {
  const { endpoint, logger, exportEveryMs = EXPORT_EVERY_MS, exportTimeoutMs = EXPORT_TIMEOUT_MS } = options;
  const failures = createSampledLog<Error | undefined>({
    oneByOne: 1,
    logOne: (error) => logger.warn({ err: error }, 'could not export traces; these spans are lost'),
    kindOf: () => 'exports',
    logCounts: (failed) => logger.warn({ failed }, 'could not export traces; these spans are lost'),
    everyMs: WARN_EVERY_MS,
  });
  const url = new URL('v1/traces', endpoint.endsWith('/') ? endpoint : `${endpoint}/`);
  // The exporter's own time limit does not include the time to open a connection, so the agent limits that time.
  const agentOptions = { keepAlive: true, timeout: exportTimeoutMs };
  const agent = url.protocol === 'https:' ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  const exporter = new OTLPTraceExporter({
    url: url.href,
    timeoutMillis: exportTimeoutMs,
    httpAgentOptions: () => agent,
  });
  const shared = {
    resource: resourceOf(options.serviceName),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: withFailureReports(exporter, failures.log),
        maxQueueSize: MAX_QUEUED_SPANS,
        maxExportBatchSize: MAX_SPANS_OF_EXPORT,
        scheduledDelayMillis: exportEveryMs,
        // This limit is longer than the exporter's own time limit, so that the exporter's limit applies and is reported as a
        // failure.
        exportTimeoutMillis: 2 * exportTimeoutMs,
      }),
    ],
  };
  const provider = new TracerProvider({ ...shared, sampler: samplerOf(options) });
  logger.info({ url: `${url.origin}${url.pathname}` }, 'traces are exported');
  const exportSlow = options.sampler === 'always_off' ? null : createExportSlow(shared);
  const spans = new Spans(provider.getTracer('charter'), exportSlow);
  return {
    current: () => spans.current(),
    run: (span, work) => spans.run(span, work),
    start: (step) => spans.start(step),
    startTrace: (step, traceparent) => spans.startTrace(step, traceparent),
    async close() {
      const flushed = provider.shutdown().catch(() => {});
      await Promise.race([flushed, delay(CLOSE_MS, undefined, { ref: false })]);
      agent.destroy();
      failures.stop();
    },
  };
}

/** Returns the attributes of this process, which every export contains. OTEL_RESOURCE_ATTRIBUTES adds attributes. */
function resourceOf(serviceName: string) {
  return defaultResource()
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
    .merge(
      resourceFromAttributes({
        'service.name': serviceName,
        'service.version': RELEASE_VERSION,
        'service.instance.id': randomUUID(),
      }),
    );
}

function samplerOf({ sampler, ratio }: Pick<TracesOptions, 'sampler' | 'ratio'>): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** Calls `onFailure` if an export fails. OpenTelemetry reports failures only to its global logger, which is not set. */
function withFailureReports(exporter: SpanExporter, onFailure: (error: Error | undefined) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) onFailure(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/**
 * Records the spans of this process. The current span is passed on through asynchronous calls. Nothing is registered globally.
 */
class Spans implements Tracing {
  readonly #tracer: Tracer;
  readonly #exportSlow: ExportSlow | null;
  readonly #current = new AsyncLocalStorage<Span | undefined>();

  /** `exportSlow` is `null` if slow requests that the sampler leaves out are not exported. */
  constructor(tracer: Tracer, exportSlow: ExportSlow | null) {
    this.#tracer = tracer;
    this.#exportSlow = exportSlow;
  }

  current(): Span | undefined {
    return this.#current.getStore();
  }

  run<T>(span: Span | undefined, work: () => T): T {
    return this.#current.run(span, work);
  }

  start(step: SpanStart): Span | undefined {
    const parent = this.current();
    if (parent?.isRecording !== true) return undefined;
    return this.#start(step, trace.setSpanContext(ROOT_CONTEXT, contextOf(parent)));
  }

  startTrace(step: SpanStart, traceparent?: string): Span {
    // `tracestate` is ignored, because only servers that pass the trace on to other servers need it.
    const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
    const context = caller === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
    const span = this.#start(step, context);
    if (span.isRecording || this.#exportSlow === null) return span;
    return new UnsampledSpan(span, { step, context, exportSlow: this.#exportSlow });
  }

  #start({ name, kind, attributes = {}, links = [] }: SpanStart, context: Context): Span {
    const options = { kind: KINDS[kind], attributes, links: links.map((span) => ({ context: contextOf(span) })) };
    return new RecordedSpan(this.#tracer.startSpan(name, options, context));
  }
}

type LeftOut = { readonly step: SpanStart; readonly context: Context; readonly traceId: string };
type ExportSlow = (leftOut: LeftOut, end: SpanEnd, slow: SlowEnd) => void;

/**
 * Returns a function that exports the span of a request that was not recorded, with the parts of the request as children. The
 * sampler decides when a request begins, before anybody knows whether the request is slow. Recording every request until its end
 * would cost as much as not sampling at all. The spans of a slow request are therefore created afterwards, from the times that
 * the log also contains.
 */
function createExportSlow(shared: Pick<TracerProviderOptions, 'resource' | 'spanProcessors'>): ExportSlow {
  let ofRequest = '';
  const provider = new TracerProvider({
    ...shared,
    sampler: new AlwaysOnSampler(),
    // The log line of the request already has the id of its trace.
    idGenerator: {
      generateTraceId: () => ofRequest,
      generateSpanId: () => randomBytes(SPAN_ID_BYTES).toString('hex'),
    },
  });
  const tracer = provider.getTracer('charter');
  return ({ step, context, traceId }, end, { milliseconds, times }) => {
    ofRequest = traceId;
    const endedAt = Date.now();
    let startTime = endedAt - milliseconds;
    const { name, kind, attributes = {} } = step;
    const span = tracer.startSpan(name, { kind: KINDS[kind], attributes, startTime }, context);
    const parts = trace.setSpan(ROOT_CONTEXT, span);
    for (const [part, partMs] of Object.entries(times)) {
      if (partMs > 0) tracer.startSpan(part, { startTime }, parts).end(startTime + partMs);
      startTime += partMs;
    }
    new RecordedSpan(span).end(end);
  };
}

/** The first span of a trace that the sampler left out. The span is exported if it turns out to be slow. */
class UnsampledSpan implements Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly isRecording = false;
  readonly #leftOut: LeftOut;
  readonly #exportSlow: ExportSlow;

  constructor(
    { traceId, spanId }: Span,
    { exportSlow, ...leftOut }: Omit<LeftOut, 'traceId'> & { readonly exportSlow: ExportSlow },
  ) {
    this.traceId = traceId;
    this.spanId = spanId;
    this.#leftOut = { ...leftOut, traceId };
    this.#exportSlow = exportSlow;
  }

  link(): void {}

  end(end: SpanEnd = {}, slow?: SlowEnd): void {
    if (slow !== undefined) this.#exportSlow(this.#leftOut, end, slow);
  }
}

/** Returns the OpenTelemetry context of a span that is recording. */
function contextOf({ traceId, spanId }: Span): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

class RecordedSpan implements Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly #span: OpenTelemetrySpan;

  constructor(span: OpenTelemetrySpan) {
    const { traceId, spanId } = span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
    this.#span = span;
  }

  get isRecording(): boolean {
    return this.#span.isRecording();
  }

  link(other: Span): void {
    if (this.isRecording) this.#span.addLink({ context: contextOf(other) });
  }

  end({ name, attributes = {}, error }: SpanEnd = {}): void {
    if (!this.isRecording) return;
    if (name !== undefined) this.#span.updateName(name);
    this.#span.setAttributes(attributes);
    if (error !== undefined) this.#span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}
