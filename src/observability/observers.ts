import type { Tracing } from './instruments/tracing.ts';
import type { Logger } from './logs.ts';
import type { Metrics } from './metrics/metrics.ts';

/** Who learns what the server does. */
export type Observers = {
  readonly logger: Logger;
  /** The registry to which the parts of the server add their metrics; `undefined` if nothing is measured. */
  readonly metrics?: Metrics | undefined;
  /** Records the spans of requests; `null` if traces are off, which costs nothing. */
  readonly tracing: Tracing | null;
};
