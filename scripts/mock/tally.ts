/** Counts what was passed on, and what of it disagreed with the contract, alike ones together. */
export class Tally {
  readonly #alike = new Map<string, number>();
  #requests = 0;
  #disagreements = 0;

  get requests(): number {
    return this.#requests;
  }

  get disagreements(): number {
    return this.#disagreements;
  }

  /** `of` names what is alike: an operation and a status. */
  add(of: string, disagreements: readonly string[]): void {
    this.#requests += 1;
    this.#disagreements += disagreements.length;
    for (const text of disagreements) {
      const line = `${of}: ${text}`;
      this.#alike.set(line, (this.#alike.get(line) ?? 0) + 1);
    }
  }

  /** The count in a line, then each kind of disagreement, the most frequent first. */
  summary(): string[] {
    const alike = [...this.#alike].sort(([, a], [, b]) => b - a);
    return [
      `${count(this.#requests, 'request')}, ${count(this.#disagreements, 'disagreement')} with the contract.`,
      ...alike.map(([line, times]) => `${String(times).padStart(6)}  ${line}`),
    ];
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
