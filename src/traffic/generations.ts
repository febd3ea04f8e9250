/** A Map that forgets what was not used in a whole generation. No entry is deleted individually, so forgetting is cheap. */
export class Generations<V> {
  #recent = new Map<string, V>();
  #previous: ReadonlyMap<string, V> = new Map();

  get recentSize(): number {
    return this.#recent.size;
  }

  /** Only what was used in this generation. */
  findRecent(name: string): V | undefined {
    return this.#recent.get(name);
  }

  /** Counts as a use. */
  find(name: string): V | undefined {
    const recent = this.#recent.get(name);
    if (recent !== undefined) return recent;
    const previous = this.#previous.get(name);
    if (previous !== undefined) this.#recent.set(name, previous);
    return previous;
  }

  set(name: string, value: V): void {
    this.#recent.set(name, value);
  }

  /** Starts a new generation. */
  age(): void {
    this.#previous = this.#recent;
    this.#recent = new Map();
  }
}
