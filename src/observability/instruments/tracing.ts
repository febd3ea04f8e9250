/** The names are those of OpenTelemetry's semantic conventions. No value may be secret or name an organization. */
export type SpanAttributes = Readonly<Record<string, string | number | string[]>>;

export type SpanStart = {
  /** The name is one of few, which no request chooses. */
  readonly name: string;
  /** "server": the handling of a request; "client": a request to another server, or to the database. */
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /** Spans of other traces that wait for this one. */
  readonly links?: readonly Span[];
};

export type SpanEnd = {
  /** Replaces the name of the start. */
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  /** The error is one of few words, such as a status; `undefined` if there was none. */
  readonly error?: string | undefined;
};

/** A step in the handling of a request, with its start and its end. */
export type Span = {
  /** The id of the trace: 32 hexadecimal digits. */
  readonly traceId: string;
  /** The id of the span: 16 hexadecimal digits. */
  readonly spanId: string;
  /** `false` if sampling has left the trace out, or the span has ended. */
  readonly isRecording: boolean;
  link(other: Span): void;
  end(result?: SpanEnd): void;
};

/** Records spans. It is `null` where traces are off. */
export type Tracing = {
  /** The span that the caller is a part of. */
  current(): Span | undefined;
  /** Runs the work as a part of a span; `undefined` for no span. */
  run<T>(span: Span | undefined, work: () => T): T;
  /** Starts a part of the current span. Returns `undefined` if no span is recording. */
  start(step: SpanStart): Span | undefined;
  /** Starts a trace, or continues the one in the header `traceparent` (W3C Trace Context). */
  startTrace(step: SpanStart, traceparent?: string): Span;
};

/** Runs the work as a part of the current span. */
export async function traceStep<T>(tracing: Tracing, step: SpanStart, work: () => Promise<T>): Promise<T> {
  const span = tracing.start(step);
  if (span === undefined) return work();
  try {
    const result = await tracing.run(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end({ error: error instanceof Error ? error.name : 'unknown' });
    throw error;
  }
}

/**
 * Runs work that several spans wait for. It becomes a part of the first one. If there are others, it has a span of its own, and
 * links lead from it to the others and back.
 */
export async function traceShared<T>(
  tracing: Tracing,
  { waiting, ...step }: SpanStart & { readonly waiting: readonly Span[] },
  work: () => Promise<T>,
): Promise<T> {
  const [first, ...others] = waiting;
  return tracing.run(first, () => {
    if (others.length === 0) return work();
    return traceStep(tracing, { ...step, links: others }, () => {
      const shared = tracing.current();
      if (shared !== undefined) for (const other of others) other.link(shared);
      return work();
    });
  });
}

/** The values of OTEL_TRACES_SAMPLER. With "parentbased", the caller decides about the requests that have a `traceparent`. */
export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];
