import { DomainError, OverloadError } from '../domain/errors.ts';
import { Distribution } from '../observability/instruments/measures.ts';
import { type Span, type Tracing, traceShared } from '../observability/instruments/tracing.ts';

/** The values that were found, by key. Keys that were not found are missing. */
type Found<V> = ReadonlyMap<string, V>;

/** The measures of look-ups for the metrics. */
export class LookUpMeasures {
  /** The distribution of the number of requests that share an SQL query. */
  readonly requestsPerLookUp = new Distribution([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  /** The number of requests that wait for the next query. */
  waiting = 0;
}

export type LookUpOptions = {
  /** The timeout of a look-up in seconds. When it ends, the look-up fails and the next look-up starts. */
  readonly seconds?: number;
  /** How long, in milliseconds, a request waits for its look-up to start, and again for its result. */
  readonly waitMs?: number | undefined;
  /** The maximum number of requests that may wait for the next look-up. */
  readonly maxWaiting?: number;
  readonly measures?: LookUpMeasures | undefined;
  /** Records spans; `null` if traces are off. */
  readonly tracing?: Tracing | null;
};

/**
 * The number of waiting requests with which a look-up starts immediately. It is about half of the number that sixteen busy
 * connections send together.
 */
const REQUESTS_TO_START_AT_ONCE = 8;

const OVERLOADED = new OverloadError('keys');

class SharedLookUp<V> {
  readonly keys = new Set<string>();
  readonly #result = Promise.withResolvers<Found<V>>();
  /** The number of requests that wait for this look-up. */
  waiting = 0;
  /** The spans of the waiting requests that are traced. */
  readonly spans: Span[] = [];

  join(key: string): Promise<V | null> {
    this.waiting += 1;
    this.keys.add(key);
    return this.#result.promise.then((found) => found.get(key) ?? null);
  }

  /** Passes the result of the look-up, or its failure, to every request that waits. Never rejects. */
  async settle(lookUp: Promise<Found<V>>): Promise<void> {
    await lookUp.then(this.#result.resolve, this.#result.reject);
  }

  /** Refuses every request that waits. Does nothing if the look-up is already settled. */
  refuse(error: DomainError): void {
    this.#result.reject(error);
  }
}

/**
 * Coalesces look-ups: requests that arrive while a look-up is in flight share the next look-up. Nothing is cached. A look-up
 * starts after all its requests have arrived, so its result is as fresh as that of a separate look-up, and a key that was revoked
 * before a request is never found active. A failed look-up fails only its own requests.
 */
export function coalesceLookUps<V>(
  lookUp: (keys: readonly string[]) => Promise<Found<V>>,
  {
    seconds = 5,
    waitMs = 1500,
    maxWaiting = 5000,
    measures = new LookUpMeasures(),
    tracing = null,
  }: LookUpOptions = {},
): (key: string) => Promise<V | null> {
  let next = new SharedLookUp<V>();
  let isInFlight = false;

  async function run(): Promise<void> {
    if (isInFlight || next.waiting === 0) return;
    isInFlight = true;
    measures.requestsPerLookUp.record(next.waiting);
    measures.waiting = 0;
    const current = next;
    next = new SharedLookUp();
    await current.settle(
      withTimeout(seconds, { every: waitMs / 1000, refuse: () => refuseWaiting(current) }, () => lookUpAll(current)),
    );
    isInFlight = false;
    // The next look-up starts immediately, not in the next turn of the event loop, so that pg sends it without delay.
    void run();
  }

  function lookUpAll({ keys, spans }: SharedLookUp<V>): Promise<Found<V>> {
    if (tracing === null) return lookUp([...keys]);
    return traceShared(tracing, { name: 'look up API keys', kind: 'internal', waiting: spans }, () =>
      lookUp([...keys]),
    );
  }

  /**
   * Refuses the requests of the look-up in flight, whose result is then ignored, and the requests that wait for the next look-up.
   * No such request has waited for longer than `waitMs`. Refusing the requests one by one would need a timer for each request.
   */
  function refuseWaiting(inFlight: SharedLookUp<V>): void {
    inFlight.refuse(tooSlowError());
    if (next.waiting === 0) return;
    next.refuse(OVERLOADED);
    next = new SharedLookUp();
    measures.waiting = 0;
  }

  return (key) => {
    if (next.waiting >= maxWaiting) return Promise.reject(OVERLOADED);
    const found = next.join(key);
    const span = tracing?.current();
    if (span?.isRecording) next.spans.push(span);
    measures.waiting = next.waiting;
    // The look-up is deferred, so that requests of other connections in this turn of the event loop share it. A full look-up
    // starts immediately, so that the database works on it while other requests are read.
    if (next.waiting === 1) setImmediate(run);
    else if (next.waiting === REQUESTS_TO_START_AT_ONCE) void run();
    return found;
  };
}

type Waiting = { readonly every: number; readonly refuse: () => void };

/** Calls `refuse` every `every` milliseconds while `work` runs, and rejects after `seconds`. One timer serves both purposes. */
async function withTimeout<T>(seconds: number, { every, refuse }: Waiting, work: () => Promise<T>): Promise<T> {
  const timedOut = Promise.withResolvers<never>();
  let isOver = false;
  let left = seconds;
  // A process that was suspended must first read what has arrived meanwhile.
  const tick = () =>
    setImmediate(() => {
      if (isOver) return;
      left -= every;
      if (left <= 0) return timedOut.reject(tooSlowError());
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

function tooSlowError(): DomainError {
  return new DomainError('unavailable', 'The database did not answer in time.');
}
