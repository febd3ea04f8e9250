import type { Caller } from '../domain/caller.ts';
import type { Rendered } from './answer.ts';

/** What a page takes in memory besides its characters. */
const OVERHEAD_BYTES = 1024;

/**
 * Answers to GET, ready to be written, in memory for as long as their organization's version lasts: every change of its data
 * bumps the version in the same transaction, and the look-up that accepts a request's key has just read it. So an answer from
 * here is as fresh as a read of the database, on every process, with no message between them. Of an older version nothing is
 * asked for any more; what was longest not asked for makes room.
 */
export class RenderedPages {
  /** In the order in which they were last asked for. */
  readonly #kept = new Map<string, Rendered>();
  readonly #inMaking = new Map<string, Promise<Rendered>>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(caller: Caller, url: string): Rendered | undefined {
    const name = nameOf(caller, url);
    const page = this.#kept.get(name);
    if (page === undefined) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, page);
    return page;
  }

  /** Who asks for what is being made waits for that: it reads no older data than their version. */
  async make(caller: Caller, url: string, work: () => Promise<Rendered>): Promise<Rendered> {
    const name = nameOf(caller, url);
    const begun = this.#kept.get(name) ?? this.#inMaking.get(name);
    if (begun !== undefined) return begun;
    const making = work();
    this.#inMaking.set(name, making);
    try {
      const page = await making;
      this.#keep(name, page);
      return page;
    } finally {
      this.#inMaking.delete(name);
    }
  }

  #keep(name: string, page: Rendered): void {
    this.#kept.set(name, page);
    this.#bytes += sizeOf(name, page);
    for (const [oldName, oldPage] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#kept.delete(oldName);
      this.#bytes -= sizeOf(oldName, oldPage);
    }
  }
}

/** Neither an id nor a version holds a space, so no address makes one name look like another. */
function nameOf({ scope, organizationVersion }: Caller, url: string): string {
  return `${scope.organizationId} ${organizationVersion} ${url}`;
}

function sizeOf(name: string, { text }: Rendered): number {
  return OVERHEAD_BYTES + name.length + (text?.length ?? 0);
}
