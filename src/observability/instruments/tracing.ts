/**
 * The attributes of a span. Their names are those of OpenTelemetry's semantic conventions. A value must not be secret or identify
 * an organization.
 */
export type SpanAttributes = Readonly<Record<string, string | number | string[]>>;

export type SpanStart = {
  /** The name, which is one of a few fixed names and never depends on a request's data. */
  readonly name: string;
  /**
   * "server": the handling of a request; "client": a request to another server or to the database; "internal": any other step.
   */
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /** Spans of other traces that wait for this span. */
  readonly links?: readonly Span[];
};

export type SpanEnd = {
  /** Replaces the name given at the start. */
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  /** The kind of error, which is one of a few words, such as a status; `undefined` if there was no error. */
  readonly error?: string | undefined;
};

/** How long a slow step took, and the milliseconds of its parts by their names, in the order in which they took place. */
export type SlowEnd = { readonly milliseconds: number; readonly times: Readonly<Record<string, number>> };

/** A step in the handling of a request, from its start to its end. */
export type Span = {
  /** The id of the trace: 32 hexadecimal digits. */
  readonly traceId: string;
  /** The id of the span: 16 hexadecimal digits. */
  readonly spanId: string;
  /** `false` if the trace is not sampled, or if the span has ended. */
  readonly isRecording: boolean;
  link(other: Span): void;
  /**
   * Ends the span. If `slow` is given, and the sampler has left out a trace that begins with this span, the span is exported
   * nevertheless, with its parts as children.
   */
  end(result?: SpanEnd, slow?: SlowEnd): void;
};

/** Records spans. Where a `Tracing` may be `null`, `null` means that traces are off. */
export type Tracing = {
  /** Returns the span in which the caller runs; `undefined` if there is none. */
  current(): Span | undefined;
  /** Runs the work within a span, or within no span if `span` is `undefined`. */
  run<T>(span: Span | undefined, work: () => T): T;
  /** Starts a child of the current span. Returns `undefined` if there is no current span that is recording. */
  start(step: SpanStart): Span | undefined;
  /** Starts a trace, or continues the one in the header `traceparent` (W3C Trace Context). */
  startTrace(step: SpanStart, traceparent?: string): Span;
};

/** Runs the work within a new child of the current span. */
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
 * Runs work that several spans wait for, within the first of these spans. If there are other spans, the work gets its own span, a
 * child of the first one. Links connect the span of the work and the other spans in both directions.
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

/** The values of OTEL_TRACES_SAMPLER. With "parentbased", the caller's decision applies to requests with a `traceparent`. */
export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];
