import type { IncomingHttpHeaders } from 'node:http';

/** Bodies of successes that were given to the mock, by the headers of the request that gets them: all that a handler sees of it. */
export class OwnBodies {
  readonly #bodies = new WeakMap<IncomingHttpHeaders, { readonly body: unknown }>();

  set(headers: IncomingHttpHeaders, body: unknown): void {
    this.#bodies.set(headers, { body });
  }

  /** `undefined` if the request gets the usual body. */
  find(headers: IncomingHttpHeaders): { readonly body: unknown } | undefined {
    return this.#bodies.get(headers);
  }
}
