import { DomainError, OverloadError } from '../domain/errors.ts';
import { Distribution } from '../observability/instruments/measures.ts';
import { type Span, type Tracing, traceShared } from '../observability/instruments/tracing.ts';

/** Values by key. A missing key was not found. */
type Found<V> = ReadonlyMap<string, V>;

/** What the metrics show of the look-ups. */
export class LookUpMeasures {
  /** How many requests share a statement. */
  readonly requestsPerLookUp = new Distribution([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  /** Requests that wait for the next statement. */
  waiting = 0;
}

export type LookUpOptions = {
  /** Timeout of a look-up. It fails then, and the next one starts. */
  readonly seconds?: number;
  /** How long a request waits for its look-up to start, and then for the result. */
  readonly waitMs?: number | undefined;
  /** Maximum number of requests that wait for the next look-up. */
  readonly maxWaiting?: number;
  readonly measures?: LookUpMeasures | undefined;
  /** `null` if traces are off. */
  readonly tracing?: Tracing | null;
};

/** So many waiting requests start a look-up at once: about half of the requests that sixteen busy connections send at once. */
const FULL = 8;

const OVERLOADED = new OverloadError('keys');

class SharedLookUp<V> {
  readonly keys = new Set<string>();
  readonly #result = Promise.withResolvers<Found<V>>();
  /** Requests that wait for this look-up. */
  waiting = 0;
  /** The spans of the waiting requests, as far as they are recorded. */
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

  /** Refuses every request that waits. Does nothing once the look-up is settled. */
  refuse(error: DomainError): void {
    this.#result.reject(error);
  }
}

/**
 * Coalesces look-ups: requests that arrive while one look-up is in flight share the next one. Nothing is cached. A look-up starts
 * after each of its requests has arrived, so its result is as fresh as that of a separate look-up, and a key that was
 * revoked before a request is never found active. A failed look-up fails only its own requests.
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
    // The next look-up starts at once, not in the next turn of the event loop, so that pg sends it without delay.
    void run();
  }

  function lookUpAll({ keys, spans }: SharedLookUp<V>): Promise<Found<V>> {
    if (tracing === null) return lookUp([...keys]);
    return traceShared(tracing, { name: 'look up API keys', kind: 'internal', waiting: spans }, () =>
      lookUp([...keys]),
    );
  }

  /**
   * Refuses the requests of the look-up in flight, whose result nobody then waits for, and of the next one. Each has waited for at
   * most `waitMs`. Refusing them one by one would take a timer for each.
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
    // The look-up is deferred, so that requests of other connections in this turn of the event loop join it. A full one
    // starts at once, so that the database works on it while other requests are read.
    if (next.waiting === 1) setImmediate(run);
    else if (next.waiting === FULL) void run();
    return found;
  };
}

type Waiting = { readonly every: number; readonly refuse: () => void };

/** Calls `refuse` at intervals of `every` seconds, and rejects after `seconds`. Both share a timer. */
async function withTimeout<T>(seconds: number, { every, refuse }: Waiting, work: () => Promise<T>): Promise<T> {
  const timedOut = Promise.withResolvers<never>();
  let isOver = false;
  let left = seconds;
  // A process that was stopped itself first reads what has arrived meanwhile.
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
