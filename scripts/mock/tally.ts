import { formatCount } from '../../src/domain/format.ts';

/** Counts requests and disagreements with the contract; equal disagreements are counted together. */
export class Tally {
  readonly #counts = new Map<string, number>();
  #requests = 0;
  #disagreements = 0;

  get requests(): number {
    return this.#requests;
  }

  get disagreements(): number {
    return this.#disagreements;
  }

  /** `subject` is the operation and the status. */
  add(subject: string, disagreements: readonly string[]): void {
    this.#requests += 1;
    this.#disagreements += disagreements.length;
    for (const disagreement of disagreements) {
      const line = `${subject}: ${disagreement}`;
      this.#counts.set(line, (this.#counts.get(line) ?? 0) + 1);
    }
  }

  /** The totals in a line, then a line for each disagreement, the most frequent first. */
  summary(): string[] {
    const counts = [...this.#counts].sort(([, a], [, b]) => b - a);
    return [
      `${formatCount(this.#requests, 'request')}, ${formatCount(this.#disagreements, 'disagreement')} with the contract.`,
      ...counts.map(([line, times]) => `${String(times).padStart(6)}  ${line}`),
    ];
  }
}
