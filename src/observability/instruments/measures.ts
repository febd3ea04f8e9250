/**
 * A histogram: the number of values in each of several ranges, and the sum of all values. Recording a value allocates nothing and
 * takes a few nanoseconds, so that every request can be recorded.
 */
export class Distribution {
  /** The upper bounds of the ranges in ascending order. Each bound is included in its range. */
  readonly bounds: readonly number[];
  /** The number of values in each range. The last number is for values above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  record(value: number): void {
    let range = 0;
    while (value > (this.bounds[range] ?? Number.POSITIVE_INFINITY)) range += 1;
    this.#counts[range] = (this.#counts[range] ?? 0) + 1;
    this.#sum += value;
  }

  get sum(): number {
    return this.#sum;
  }

  /** Returns how many values are less than or equal to each bound; the last number counts all values. */
  cumulativeCounts(): number[] {
    let total = 0;
    return this.#counts.map((count) => {
      total += count;
      return total;
    });
  }
}

/** Counts by name. Each count starts at 0. */
export class Tally<Name extends string> {
  readonly #counts: Map<Name, number>;

  constructor(names: readonly Name[]) {
    this.#counts = new Map(names.map((name) => [name, 0]));
  }

  count(name: Name): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  entries(): readonly (readonly [Name, number])[] {
    return [...this.#counts];
  }
}

/** "retried": the attempt failed, and another one follows. "failed": the last attempt of a delivery failed. */
const ATTEMPT_RESULTS = ['succeeded', 'retried', 'failed'] as const;

export class DeliveryMeasures {
  readonly attempts = new Tally(ATTEMPT_RESULTS);
  /** The durations of attempts, in seconds. */
  readonly durations = new Distribution([0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]);
  /** The number of pending deliveries in the whole database at the last count, and how many of them were due. */
  backlog = { pending: 0, due: 0 };
}
