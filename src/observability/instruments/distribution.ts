/**
 * How many values lie in each of some ranges, and their sum. Recording a value allocates nothing and takes some nanoseconds, so
 * that every request can be recorded.
 */
export class Distribution {
  /** Ascending. A range reaches from above the bound before it up to its own bound. */
  readonly bounds: readonly number[];
  /** By range. The last one is for values above all bounds. */
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

  /** How many values are at most each bound; the last number counts all values. */
  cumulativeCounts(): number[] {
    let total = 0;
    return this.#counts.map((count) => {
      total += count;
      return total;
    });
  }
}
