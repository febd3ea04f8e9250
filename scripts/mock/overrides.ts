import { isMatch, type Match, type Matched } from './override-match.ts';

/** Responses that are forced from outside of the app that calls the mock. */
export type Override = {
  readonly id: number;
  /** An operationId, or "*" for every operation that has the response. */
  readonly operation: string;
  /** If it is `null`, `example` selects the response, or it is the usual one. */
  readonly status: number | null;
  readonly example: string | null;
  /** A body in place of the contract's. Present only if it was given, because `null` is a body, too. */
  readonly body?: unknown;
  /** The status and the body are sent although the contract forbids them, whatever the request is. */
  readonly allowInvalid?: boolean;
  /** Which requests of the operation get the response; all if it is omitted. */
  readonly match?: Match;
  readonly delay_ms: number;
  /** How many responses are left; `null` if it lasts until it is cleared. */
  readonly left: number | null;
};

export type NewOverride = Omit<Override, 'id'>;

export const ALL_OPERATIONS = '*';
export const MAX_OVERRIDES = 100;

/** The overrides in the order in which they were added. They outlast an edit of the contract. */
export class Overrides {
  #all: Override[] = [];
  #lastId = 0;

  get all(): readonly Override[] {
    return this.#all;
  }

  add(override: NewOverride): Override {
    this.#lastId += 1;
    const added = { id: this.#lastId, ...override };
    this.#all.push(added);
    return added;
  }

  /** Removes one, or all of them. Returns how many. */
  clear(id?: number): number {
    const before = this.#all.length;
    this.#all = id === undefined ? [] : this.#all.filter((override) => override.id !== id);
    return before - this.#all.length;
  }

  /** Whether the body decides which override an operation's request gets. */
  dependOnBody(fits: (override: Override) => boolean): boolean {
    return this.#all.some((override) => override.match?.body !== undefined && fits(override));
  }

  /** The first override that fits and matches, which then has one response less; `undefined` if there is none. */
  take(request: Matched, fits: (override: Override) => boolean): Override | undefined {
    const taken = this.#all.find((override) => fits(override) && isMatch(override.match, request));
    if (taken === undefined || taken.left === null) return taken;
    const rest = { ...taken, left: taken.left - 1 };
    this.#all = this.#all.flatMap((override) => (override !== taken ? [override] : rest.left > 0 ? [rest] : []));
    return rest;
  }
}

/** As a `Prefer` header: `code=503, delay=500`. */
export function preferHeaderOf({ status, example, delay_ms: delay }: Override): string {
  const preferences = { code: status, example, delay: delay === 0 ? null : delay };
  return Object.entries(preferences)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
    .join(', ');
}
