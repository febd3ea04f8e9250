import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/audit/actor.ts';
import { AbandonedError } from '../domain/errors.ts';
import type { ApiRequest } from './api-request.ts';
import type { RenderedResponse } from './response.ts';

/** The memory of an entry in addition to its characters, including its 304 response. */
const OVERHEAD_BYTES = 1024;

/**
 * A response, and the version of the organization in the snapshot that the response shows; `undefined` if the version is unknown.
 */
export type Versioned = { readonly response: RenderedResponse; readonly version: string | undefined };

/**
 * A response that is being rendered. Afterwards, `rendering` is set to `undefined` to release the response, because a Map can
 * retain removed entries until a full garbage collection: when V8 replaces the internal table of a Map, the old table keeps its
 * entries and refers to the new table. If one table has reached V8's old generation, that table retains all later tables.
 */
type Pending = { rendering: Promise<Versioned> | undefined };

/** What a request found. "coalesced" means that the request waited for a response that another request was rendering. */
type FindResult = 'hit' | 'coalesced' | 'miss';

/**
 * Keeps rendered responses to GET in memory as long as the version of the organization is unchanged. Every change of the
 * organization's data increments the version in the same transaction, and each request reads the version when its key is looked
 * up. A cached response is therefore as current as the database, in every process, without messages between processes. Entries of
 * an older version are never found again. When the memory is used up, the least recently used half is removed.
 */
export class ResponseCache {
  // The cache has two generations and deletes no single entry, because the cost of a deletion in V8 grows with the number of
  // remaining entries.
  #young = new Map<string, RenderedResponse>();
  #old: ReadonlyMap<string, RenderedResponse> = new Map();
  #youngBytes = 0;
  /** The size of the old entries, except those that were used again and are therefore also young. */
  #oldBytes = 0;
  #oldEntries = 0;
  readonly #found: Record<FindResult, number> = { hit: 0, coalesced: 0, miss: 0 };
  #evicted = 0;
  readonly #pending = new Map<string, Pending>();
  readonly #maxYoungBytes: number;

  constructor(maxBytes: number) {
    this.#maxYoungBytes = maxBytes / 2;
  }

  /** Returns the numbers of hits, coalesced requests and misses so far. */
  get found(): Readonly<Record<FindResult, number>> {
    return this.#found;
  }

  get entries(): number {
    return this.#young.size + this.#oldEntries;
  }

  /** Returns the estimated memory of all entries, in bytes. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  /** Returns the number of entries that have been removed so far to make room for others. */
  get evicted(): number {
    return this.#evicted;
  }

  find(caller: Caller, url: string): RenderedResponse | undefined {
    const found = this.#find(nameOf(caller, url));
    if (found !== undefined) this.#found.hit += 1;
    return found;
  }

  /**
   * Returns the response of the cache, of another request that is rendering it, or of `work`. A response that another request
   * renders is at least as current as the caller's version. If rendering fails, all requests that wait for it fail, with one
   * exception: if it failed because the first client closed its connection or its sending side, the next request renders the
   * response. A response with newer data than the caller's version is returned but not cached: if the commit of that data is lost
   * in a failover, the same version could occur again with other data.
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

/** Stores the cached response in the request, if there is one for the current version of the organization. */
export function lookInCache(request: ApiRequest, cache: ResponseCache | undefined): void {
  if (cache === undefined || !request.operation.isCacheable) return;
  request.cached = cache.find(request.caller, cacheUrlOf(request));
  request.isKnownValid = request.cached !== undefined && hasKnownHeaders(request.req, request.cached);
}

/**
 * Returns the part of the cache's key that depends on the request: the URL and, if the response depends on it, what the key may
 * read.
 */
export function cacheUrlOf({ url, operation: { permissions }, caller }: ApiRequest): string {
  return permissions.length < 2
    ? url
    : `${url} ${permissions.filter((each) => caller.permissions.some((held) => held === each))}`;
}

/**
 * Returns whether the request needs no validation, because its If-None-Match is missing or is the entity tag of the response. No
 * other header can change the response, and the URL was validated when the response was rendered.
 */
function hasKnownHeaders(req: IncomingMessage, { entityTag }: RenderedResponse): boolean {
  const { 'if-none-match': ifNoneMatch } = req.headers;
  return ifNoneMatch === undefined || ifNoneMatch === entityTag;
}

/**
 * Returns the cache's key of a response. Ids and versions contain no spaces, so different responses cannot have the same cache
 * key. The URL is used as it was sent, so another spelling of the same request has its own entry.
 */
function nameOf({ scope, organizationVersion }: Caller, url: string): string {
  return `${scope.organizationId} ${organizationVersion} ${url}`;
}

function sizeOf(name: string, { text = '', fields }: RenderedResponse): number {
  return OVERHEAD_BYTES + name.length + text.length + fields.reduce((sum, field) => sum + field.length, 0);
}
