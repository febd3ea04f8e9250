/** A tenant counts for this long after its last task arrived. */
const RECENT_MS = 1000;

/** The tenants that had a task within the last second while they used less than their share. */
export class LightLoad {
  /** By name, when the last task of the tenant arrived, from `performance.now()`. The longest ago is first. */
  readonly #arrivedAt = new Map<string, number>();

  /** Notes that a task arrived. `isLight`: its tenant uses less than its share. */
  note(tenantName: string, isLight: boolean): void {
    const now = performance.now();
    this.#forgetOld(now);
    this.#arrivedAt.delete(tenantName);
    if (isLight) this.#arrivedAt.set(tenantName, now);
  }

  /** Whether there is such a tenant with another name. `now`: from `performance.now()`. */
  hasOther(tenantName: string, now: number): boolean {
    this.#forgetOld(now);
    return this.#arrivedAt.size > (this.#arrivedAt.has(tenantName) ? 1 : 0);
  }

  #forgetOld(now: number): void {
    for (const [tenantName, arrivedAt] of this.#arrivedAt) {
      if (now - arrivedAt <= RECENT_MS) return;
      this.#arrivedAt.delete(tenantName);
    }
  }
}
