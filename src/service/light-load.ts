const RECENT_MS = 1000;

/** Remembers which tenant last had a task while it used less than its share. */
export class LightLoad {
  #tenant: object | undefined;
  #at = Number.NEGATIVE_INFINITY;

  note(tenant: object, isLight: boolean): void {
    if (isLight) {
      this.#tenant = tenant;
      this.#at = performance.now();
    } else if (this.#tenant === tenant) this.#tenant = undefined;
  }

  /** Whether another tenant had such a task within a second. `now`: from `performance.now()`. */
  isOfAnother(tenant: object, now: number): boolean {
    return this.#tenant !== undefined && this.#tenant !== tenant && now - this.#at <= RECENT_MS;
  }
}
