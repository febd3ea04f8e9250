import type { Caller } from '../domain/caller.ts';
import type { Rendered } from './answer.ts';

/** What a page takes in memory besides its characters, its 304 included. */
const OVERHEAD_BYTES = 1024;

/** `version`: the organization's, of the very data that the page shows; undefined: not known. */
export type Made = { readonly page: Rendered; readonly version: string | undefined };

/**
 * Lets go of its page once that is made. A Map's table that is replaced keeps its entries, and leads to its successor: of a Map
 * that changes with every request, one table that got old keeps all later ones, and all that they hold, for a full collection.
 */
type Making = { made: Promise<Made> | undefined };

/**
 * Answers to GET, ready to be written, in memory for as long as their organization's version lasts: every change of its data
 * bumps the version in the same transaction, and the look-up that accepts a request's key has just read it. So an answer from
 * here is as fresh as a read of the database, on every process, with no message between them. Of an older version nothing is
 * asked for any more; what was longest not asked for makes room, a half of the memory at a time.
 */
export class RenderedPages {
  // Two generations, and no entry is ever deleted: V8 takes time for that in proportion to the entries that stay.
  #young = new Map<string, Rendered>();
  #old: ReadonlyMap<string, Rendered> = new Map();
  #youngBytes = 0;
  readonly #inMaking = new Map<string, Making>();
  readonly #maxYoungBytes: number;

  constructor(maxBytes: number) {
    this.#maxYoungBytes = maxBytes / 2;
  }

  find(caller: Caller, url: string): Rendered | undefined {
    return this.#find(nameOf(caller, url));
  }

  /**
   * Who asks for what is being made waits for that: it reads no older data than their version. Where it fails, it fails for all.
   * Data newer than the version are shown and not kept: should their commit be lost, as in a failover, the version comes again.
   */
  async make(caller: Caller, url: string, work: () => Promise<Made>): Promise<Rendered> {
    const name = nameOf(caller, url);
    const found = this.#find(name);
    if (found !== undefined) return found;
    const begun = this.#inMaking.get(name)?.made;
    if (begun !== undefined) return (await begun).page;
    const made = work();
    const making: Making = { made };
    this.#inMaking.set(name, making);
    try {
      const { page, version } = await made;
      if (version === caller.organizationVersion) this.#keep(name, page);
      return page;
    } finally {
      making.made = undefined;
      this.#inMaking.delete(name);
    }
  }

  #find(name: string): Rendered | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) this.#keep(name, old);
    return old;
  }

  #keep(name: string, page: Rendered): void {
    const bytes = sizeOf(name, page);
    if (bytes > this.#maxYoungBytes) return;
    if (this.#youngBytes + bytes > this.#maxYoungBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(name, page);
    this.#youngBytes += bytes;
  }
}

/**
 * Neither an id nor a version holds a space, so no address makes one name look like another. The address stands as it was
 * sent: another spelling of the same request has a page of its own.
 */
function nameOf({ scope, organizationVersion }: Caller, url: string): string {
  return `${scope.organizationId} ${organizationVersion} ${url}`;
}

function sizeOf(name: string, { text = '', fields }: Rendered): number {
  return OVERHEAD_BYTES + name.length + text.length + fields.reduce((sum, field) => sum + field.length, 0);
}
