import { DomainError } from '../domain/errors.ts';

/** By key, what was found; a key that is missing was not found. */
type Found<V> = ReadonlyMap<string, V>;

export type GroupOptions = {
  /** After so long a look-up has failed, and the next group no longer waits for it. */
  readonly seconds?: number;
  /** Requests that may wait at once. */
  readonly maxWaiting?: number;
};

/** So many are looked up without waiting for more: about half of what sixteen busy connections ask for at once. */
const ENOUGH = 8;

class Group<V> {
  readonly keys = new Set<string>();
  readonly #outcome = Promise.withResolvers<Found<V>>();
  waiting = 0;

  join(key: string): Promise<V | null> {
    this.waiting += 1;
    this.keys.add(key);
    return this.#outcome.promise.then((found) => found.get(key) ?? null);
  }

  /** Everybody in the group learns the same, a failure too. Never rejects. */
  async settle(looking: Promise<Found<V>>): Promise<void> {
    await looking.then(this.#outcome.resolve, this.#outcome.reject);
  }
}

/**
 * While one look-up is in flight, whoever comes waits and shares the next one: a fraction of the statements under load, and
 * no memory of earlier answers. Each look-up starts after everybody in its group has asked, so what it finds is as fresh as if
 * each had asked alone: a key that was revoked before is never found alive. A look-up that fails fails its own group only.
 */
export function groupLookUps<V>(
  lookUp: (keys: readonly string[]) => Promise<Found<V>>,
  { seconds = 5, maxWaiting = 2000 }: GroupOptions = {},
): (key: string) => Promise<V | null> {
  let gathering = new Group<V>();
  let isBusy = false;

  async function run(): Promise<void> {
    if (isBusy || gathering.waiting === 0) return;
    isBusy = true;
    const group = gathering;
    gathering = new Group();
    await group.settle(within(seconds, () => lookUp([...group.keys])));
    isBusy = false;
    // No turn of the event loop is waited for: pg sends the next look-up as soon as these are answered.
    void run();
  }

  return (key) => {
    if (gathering.waiting >= maxWaiting) return Promise.reject(tooMany());
    const found = gathering.join(key);
    // Not at once: what else has arrived on other connections in this turn of the event loop comes along. Of many not all,
    // so that the database looks the first ones up while the others are read.
    if (gathering.waiting === 1) setImmediate(run);
    else if (gathering.waiting === ENOUGH) void run();
    return found;
  };
}

async function within<T>(seconds: number, work: () => Promise<T>): Promise<T> {
  const timedOut = Promise.withResolvers<never>();
  const timer = setTimeout(() => timedOut.reject(tooSlow()), seconds * 1000);
  try {
    return await Promise.race([work(), timedOut.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function tooMany(): DomainError {
  return new DomainError('unavailable', 'Too many requests wait for the database.');
}

function tooSlow(): DomainError {
  return new DomainError('unavailable', 'The database did not answer in time.');
}
