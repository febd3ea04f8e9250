import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/audit/actor.ts';
import { AbandonedError } from '../domain/errors.ts';
import type { ApiRequest } from './api-request.ts';
import type { RenderedResponse } from './response.ts';

/** Memory that an entry takes besides its characters, its 304 included. */
const OVERHEAD_BYTES = 1024;

/** `version` is the organization's, of the very data that the response shows; `undefined` if it is not known. */
export type Versioned = { readonly response: RenderedResponse; readonly version: string | undefined };

/**
 * Releases its response once that is rendered. When V8 replaces a Map's table, the old table keeps its entries and points to
 * its successor: in a Map that changes with every request, one table that reached the old generation would retain all later
 * tables, and everything in them, until a full collection.
 */
type Pending = { rendering: Promise<Versioned> | undefined };

/** "coalesced": the request waited for a response that another request was rendering. */
type FindResult = 'hit' | 'coalesced' | 'miss';

/**
 * Rendered responses to GET, in memory for as long as their organization's version lasts. Every change of the organization's
 * data bumps the version in its own transaction, and the look-up that accepts a request's key has just read it. So a cached
 * response is as fresh as a read of the database, on every process, without a message between them. Entries of an older
 * version are never asked for again. The least recently used entries make room, half of the memory at a time.
 */
export class ResponseCache {
  // Two generations, and no entry is ever deleted: V8's cost of a deletion grows with the entries that stay.
  #young = new Map<string, RenderedResponse>();
  #old: ReadonlyMap<string, RenderedResponse> = new Map();
  #youngBytes = 0;
  /** The bytes of the old entries, without those that have been used again, which are also young. */
  #oldBytes = 0;
  #oldEntries = 0;
  readonly #found: Record<FindResult, number> = { hit: 0, coalesced: 0, miss: 0 };
  #evicted = 0;
  readonly #pending = new Map<string, Pending>();
  readonly #maxYoungBytes: number;

  constructor(maxBytes: number) {
    this.#maxYoungBytes = maxBytes / 2;
  }

  /** Requests so far, by what they found. */
  get found(): Readonly<Record<FindResult, number>> {
    return this.#found;
  }

  get entries(): number {
    return this.#young.size + this.#oldEntries;
  }

  /** The estimated memory of all entries. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  /** Entries that have made room for others so far. */
  get evicted(): number {
    return this.#evicted;
  }

  find(caller: Caller, url: string): RenderedResponse | undefined {
    const found = this.#find(nameOf(caller, url));
    if (found !== undefined) this.#found.hit += 1;
    return found;
  }

  /**
   * Coalesces concurrent requests for one response: a request that finds it being rendered waits for that, and reads no
   * older data than its caller's version. A failure fails all of them, unless only the client of the first one has closed its
   * connection or its sending side: then the next one renders. A response that shows newer data than the version is returned
   * and not kept: should its commit be lost, as in a failover, the version would come again with other data.
   */
  async render(caller: Caller, url: string, work: () => Promise<Versioned>): Promise<RenderedResponse> {
    const name = nameOf(caller, url);
    for (;;) {
      const found = this.#find(name);
      if (found !== undefined) {
        this.#found.hit += 1;
        return found;
      }
      const begun = this.#pending.get(name)?.rendering;
      if (begun === undefined) break;
      try {
        const { response } = await begun;
        this.#found.coalesced += 1;
        return response;
      } catch (error) {
        if (!(error instanceof AbandonedError)) throw error;
      }
    }
    this.#found.miss += 1;
    const rendering = work();
    const pending: Pending = { rendering };
    this.#pending.set(name, pending);
    try {
      const { response, version } = await rendering;
      if (version === caller.organizationVersion) this.#keep(name, response);
      return response;
    } finally {
      pending.rendering = undefined;
      this.#pending.delete(name);
    }
  }

  #find(name: string): RenderedResponse | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old === undefined) return undefined;
    this.#oldEntries -= 1;
    this.#oldBytes -= sizeOf(name, old);
    this.#keep(name, old);
    return old;
  }

  #keep(name: string, response: RenderedResponse): void {
    const bytes = sizeOf(name, response);
    if (bytes > this.#maxYoungBytes) return;
    if (this.#youngBytes + bytes > this.#maxYoungBytes) {
      this.#evicted += this.#oldEntries;
      this.#old = this.#young;
      this.#oldEntries = this.#young.size;
      this.#oldBytes = this.#youngBytes;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(name, response);
    this.#youngBytes += bytes;
  }
}

/** Notes in the request a cached response that is still valid for its organization's version. */
export function lookInCache(request: ApiRequest, cache: ResponseCache | undefined): void {
  if (cache === undefined || !request.operation.isCacheable) return;
  request.cached = cache.find(request.caller, cacheUrlOf(request));
  request.isKnownValid = request.cached !== undefined && hasKnownHeaders(request.req, request.cached);
}

/** What tells the responses of an organization apart: the URL and, where it changes the response, what the key may read. */
export function cacheUrlOf({ url, operation: { permissions }, caller }: ApiRequest): string {
  return permissions.length < 2
    ? url
    : `${url} ${permissions.filter((each) => caller.permissions.some((held) => held === each))}`;
}

/** The URL was validated when the response was rendered, so only If-None-Match is left to judge. */
function hasKnownHeaders(req: IncomingMessage, { entityTag }: RenderedResponse): boolean {
  const { 'if-none-match': ifNoneMatch } = req.headers;
  return ifNoneMatch === undefined || ifNoneMatch === entityTag;
}

/**
 * Neither an id nor a version holds a space, so no URL makes one name look like another. The URL counts as it was sent:
 * another spelling of the same request has an entry of its own.
 */
function nameOf({ scope, organizationVersion }: Caller, url: string): string {
  return `${scope.organizationId} ${organizationVersion} ${url}`;
}

function sizeOf(name: string, { text = '', fields }: RenderedResponse): number {
  return OVERHEAD_BYTES + name.length + text.length + fields.reduce((sum, field) => sum + field.length, 0);
}
