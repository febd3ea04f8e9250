import { DomainError, OverloadError } from '../domain/errors.ts';
import { Distribution } from '../observability/instruments/measures.ts';
import { type Span, type Tracing, traceShared } from '../observability/instruments/tracing.ts';

/** Values by key. A missing key was not found. */
type Found<V> = ReadonlyMap<string, V>;

/** What the metrics show of the look-ups. */
export class LookUpMeasures {
  /** Requests that share a statement. */
  readonly batchSizes = new Distribution([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  /** Requests that wait for the next statement. */
  waiting = 0;
}

export type BatchOptions = {
  /** Timeout of a look-up. It fails then, and the next batch starts. */
  readonly seconds?: number;
  /** How long a request waits for the next batch to start, and for the result of its own. */
  readonly waitMs?: number | undefined;
  /** Maximum number of requests that wait for the next batch. */
  readonly maxWaiting?: number;
  readonly measures?: LookUpMeasures | undefined;
  /** `null` if traces are off. */
  readonly tracing?: Tracing | null;
};

/** Batch size that starts a look-up at once: about half of the requests that sixteen busy connections send at once. */
const FULL_BATCH = 8;

const OVERLOADED = new OverloadError('keys');

class Batch<V> {
  readonly keys = new Set<string>();
  readonly #outcome = Promise.withResolvers<Found<V>>();
  /** Requests that wait for this batch. */
  waiting = 0;
  /** The spans of the waiting requests, as far as they are recorded. */
  readonly spans: Span[] = [];

  join(key: string): Promise<V | null> {
    this.waiting += 1;
    this.keys.add(key);
    return this.#outcome.promise.then((found) => found.get(key) ?? null);
  }

  /** Passes the outcome of the look-up, or its failure, to every request of the batch. Never rejects. */
  async settle(lookUp: Promise<Found<V>>): Promise<void> {
    await lookUp.then(this.#outcome.resolve, this.#outcome.reject);
  }

  /** Refuses every request of the batch. Does nothing once the batch is settled. */
  refuse(error: DomainError): void {
    this.#outcome.reject(error);
  }
}

/**
 * Coalesces look-ups: requests that arrive while one look-up is in flight share the next one. Nothing is cached. A look-up starts
 * after every request of its batch has arrived, so its result is as fresh as that of a separate look-up, and a key that was
 * revoked before a request is never found active. A failed look-up fails only its own batch.
 */
export function batchLookUps<V>(
  lookUp: (keys: readonly string[]) => Promise<Found<V>>,
  { seconds = 5, waitMs = 1500, maxWaiting = 5000, measures = new LookUpMeasures(), tracing = null }: BatchOptions = {},
): (key: string) => Promise<V | null> {
  let next = new Batch<V>();
  let isInFlight = false;

  async function run(): Promise<void> {
    if (isInFlight || next.waiting === 0) return;
    isInFlight = true;
    measures.batchSizes.record(next.waiting);
    measures.waiting = 0;
    const batch = next;
    next = new Batch();
    await batch.settle(
      within(seconds, { every: waitMs / 1000, refuse: () => refuseWaiting(batch) }, () => lookUpAll(batch)),
    );
    isInFlight = false;
    // The next look-up starts at once, not in the next turn of the event loop, so that pg sends it without delay.
    void run();
  }

  function lookUpAll({ keys, spans }: Batch<V>): Promise<Found<V>> {
    if (tracing === null) return lookUp([...keys]);
    return traceShared(tracing, { name: 'look up API keys', kind: 'internal', waiting: spans }, () =>
      lookUp([...keys]),
    );
  }

  /**
   * Refuses the requests of the batch in flight, whose result nobody then waits for, and of the next one. Each has waited for at
   * most `waitMs`. Refusing them one by one would take a timer for each.
   */
  function refuseWaiting(inFlight: Batch<V>): void {
    inFlight.refuse(tooSlow());
    if (next.waiting === 0) return;
    next.refuse(OVERLOADED);
    next = new Batch();
    measures.waiting = 0;
  }

  return (key) => {
    if (next.waiting >= maxWaiting) return Promise.reject(OVERLOADED);
    const found = next.join(key);
    const span = tracing?.current();
    if (span?.isRecording) next.spans.push(span);
    measures.waiting = next.waiting;
    // The look-up is deferred, so that requests of other connections in this turn of the event loop join the batch. A full batch
    // starts at once, so that the database works on it while other requests are read.
    if (next.waiting === 1) setImmediate(run);
    else if (next.waiting === FULL_BATCH) void run();
    return found;
  };
}

type Waiting = { readonly every: number; readonly refuse: () => void };

/** Calls `refuse` at intervals of `every` seconds, and rejects after `seconds`. Both share a timer. */
async function within<T>(seconds: number, { every, refuse }: Waiting, work: () => Promise<T>): Promise<T> {
  const timedOut = Promise.withResolvers<never>();
  let isOver = false;
  let left = seconds;
  // A process that was stopped itself first reads what has arrived meanwhile.
  const tick = () =>
    setImmediate(() => {
      if (isOver) return;
      left -= every;
      if (left <= 0) return timedOut.reject(tooSlow());
      refuse();
      timer = start();
    });
  const start = () => setTimeout(tick, Math.min(every, left) * 1000);
  let timer = start();
  try {
    return await Promise.race([work(), timedOut.promise]);
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

function tooSlow(): DomainError {
  return new DomainError('unavailable', 'The database did not answer in time.');
}
