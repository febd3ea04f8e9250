import {
  isUnsuccessful,
  KEPT_REQUESTS,
  MAX_USED_NETWORKS,
  REQUEST_RESULTS,
  type RecordedRequest,
  type RequestResult,
} from '../domain/keys/key-usage.ts';
import { HOUR_MS } from '../domain/time.ts';
import { writeKeyRequests } from '../store/keys/key-requests.ts';
import { type KeyUse, noteNetworks, writeKeyUses } from '../store/keys/key-uses.ts';
import type { Database } from '../store/sql/database.ts';

export type ScopedKeyId = { readonly organizationId: string; readonly id: string };

export type UsingClient = Pick<KeyUse, 'network' | 'client'>;

/** What the client of a request is parsed from. */
export type ClientSource = {
  /** The address of the other end of the connection; `undefined` if the connection is closed. */
  readonly remoteAddress?: string | undefined;
  readonly forwardedFor?: string | string[] | undefined;
  readonly userAgent?: string | undefined;
};

/** Records the requests with one key in one hour. Its methods neither wait nor look anything up. */
export type UseRecorder = {
  /** Records that the key was accepted. */
  noteAcceptance(at: Date): void;
  /**
   * Returns whether `noteClient` was not called within the last second, or was last called with another source. To parse the
   * client of every request would cost too much.
   */
  lacksClient(source: ClientSource, at: Date): boolean;
  noteClient(client: UsingClient, source: ClientSource, at: Date): void;
  /** Counts a request that was refused because the key had been rotated or revoked. */
  countRefusedUse(): void;
  /**
   * Counts a response to a request of this operation. "limited" means that a limit of the key or its organization refused the
   * request. `items` is the number of changes of a batch, and 1 for every other request.
   */
  countResponse(operation: string, result: RequestResult | 'limited', items?: number): void;
  /** Returns whether no successful request of this operation has been recorded since the last write. */
  lacksSample(operation: string): boolean;
  /** Records a request that was refused or failed, or is part of the sample. */
  noteRequest(request: RecordedRequest): void;
};

export type KeyUses = {
  /** Returns the recorder for a request with a known key. Costs one look-up in a Map. */
  of(key: ScopedKeyId, at: Date): UseRecorder;
};

/** Records nothing, for keys that are not in a database. */
export const NO_KEY_USES: KeyUses = {
  of: () => ({
    noteAcceptance() {},
    lacksClient: () => false,
    noteClient() {},
    countRefusedUse() {},
    countResponse() {},
    lacksSample: () => false,
    noteRequest() {},
  }),
};

export type KeyUseWriter = KeyUses & {
  /** Writes the recorded uses now. If that fails, the uses are kept for the next write. Never rejects. */
  flush(): Promise<void>;
  /** Writes the recorded uses for a page that shows them, unless there are so many that the page would have to wait. */
  freshen(): Promise<void>;
  /**
   * Returns the number of seconds after which every process has written a use to the database, if the other processes are as busy
   * as this one.
   */
  delaySeconds(): number;
  /** Stops the periodic writes and writes the recorded uses. */
  stop(): Promise<void>;
};

export type KeyUseOptions = {
  onFailure: (error: unknown) => void;
  /** The shortest interval between writes in seconds; 5 if it is omitted. */
  everySeconds?: number;
  /**
   * The maximum number of keys whose uses are recorded between two writes; a key counts once for each hour. Uses of further keys
   * are dropped.
   */
  maxKeys?: number;
};

const EVERY_SECONDS = 5;
/** The longest interval between writes in seconds. */
const MAX_EVERY_SECONDS = 60;
/** The interval is at least this number of times the duration of the last write, so that writing takes at most 5% of the time. */
const INTERVAL_RATIO = 20;
/**
 * The time in seconds within which a use is written. It is twice the longest interval between writes, because a write takes time,
 * too.
 */
const UNWRITTEN_SECONDS = 2 * MAX_EVERY_SECONDS;
/** The default of `maxKeys`. So many keys take about 55 MB of memory, and a few seconds to write. */
const MAX_KEYS = 50_000;
/**
 * The number of keys in one SQL statement. The statement locks the keys, so a revocation waits for the statement. The statement
 * must also end within its timeout.
 */
const KEYS_AT_ONCE = 1000;
/** The maximum number of requests that are recorded between two writes. They take about 2 MB of memory. */
const MAX_REQUESTS = 4000;
/**
 * The maximum number of requests of one key in one hour when half of MAX_REQUESTS is used up, so that requests of other keys can
 * still be recorded.
 */
const FEW_REQUESTS = 20;
/** The maximum number of samples among the MAX_REQUESTS requests. */
const MAX_SAMPLES = 400;

/**
 * Records in memory when keys were used, how often rotated or revoked keys were refused, and how many requests succeeded, were
 * refused and failed. Also records all refused and failed requests, and a sample of the successful requests, one by one. Writes
 * the records to the database every 5 seconds, or less often if writing takes long, so that requests need not wait. A process
 * that is killed loses the records that are not written.
 */
export function startKeyUses(
  db: Database,
  { onFailure, everySeconds = EVERY_SECONDS, maxKeys = MAX_KEYS }: KeyUseOptions,
): KeyUseWriter {
  let buffer = new UseBuffer(maxKeys);
  let writing = Promise.resolve();
  /** The number of keys in the write that is in progress. */
  let keysInWrite = 0;
  let intervalMs = everySeconds * 1000;
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    const startedAt = performance.now();
    keysInWrite = buffer.uses.size;
    await writeAll();
    keysInWrite = 0;
    const durationMs = performance.now() - startedAt;
    intervalMs = Math.max(everySeconds * 1000, Math.min(MAX_EVERY_SECONDS * 1000, INTERVAL_RATIO * durationMs));
  }

  async function writeAll(): Promise<void> {
    const uses = [...buffer.uses.values()];
    if (uses.length === 0) return;
    const newer = new UseBuffer(maxKeys);
    buffer.next = newer;
    buffer = newer;
    while (uses.length > 0) {
      const part = uses.splice(0, KEYS_AT_ONCE);
      try {
        await writeKeyUses(db, part);
      } catch (error) {
        // The part that failed is written last the next time, so that it does not prevent the other parts from being written.
        for (const use of [...uses, ...part]) newer.find(use).add(use);
        onFailure(error);
        return;
      }
      // A part whose networks or requests could not be recorded is not kept for the next write, because that write would count
      // its uses twice.
      await noteNetworks(db, part).catch(onFailure);
      await writeKeyRequests(db, part).catch(onFailure);
    }
  }

  // Only one write runs at a time, because a failed write returns its uses to the buffer.
  const flush = () => (writing = writing.then(write));
  const schedule = () => {
    timer = setTimeout(() => void flush().then(() => timer !== undefined && schedule()), intervalMs).unref();
  };
  schedule();
  return {
    of: ({ organizationId, id }, at) =>
      buffer.find({ organizationId, keyId: id, hourNumber: Math.floor(at.getTime() / HOUR_MS) }),
    flush,
    async freshen() {
      if (keysInWrite + buffer.uses.size <= KEYS_AT_ONCE) await flush();
    },
    delaySeconds: () => Math.ceil((2 * intervalMs) / 1000),
    stop() {
      clearTimeout(timer);
      timer = undefined;
      return flush();
    },
  };
}

/** A key in one hour. `hourNumber` is the number of hours since 1970. */
type KeyHour = { readonly organizationId: string; readonly keyId: string; readonly hourNumber: number };

/** The uses that are recorded between two writes. */
class UseBuffer {
  readonly uses = new Map<string, PendingUse>();
  /** The buffer that replaced this buffer when the write of this buffer began; `null` if this is the current buffer. */
  next: UseBuffer | null = null;
  /** The number of recorded requests, and of the samples among them. */
  requests = 0;
  samples = 0;
  readonly #maxUses: number;

  constructor(maxUses: number) {
    this.#maxUses = maxUses;
  }

  find(of: KeyHour): PendingUse {
    const name = `${of.organizationId} ${of.keyId} ${of.hourNumber}`;
    const found = this.uses.get(name);
    if (found !== undefined) return found;
    const use = new PendingUse(this, of);
    // Above the limit, the new recorder is not stored, so its uses are never written.
    if (this.uses.size < this.#maxUses) this.uses.set(name, use);
    return use;
  }
}

const CLIENT_EVERY_MS = 1000;
const DAY_CHARACTERS = '2026-01-31'.length;
/**
 * An empty map that is shared by all keys for which no network has been recorded since the last write, so that these keys need no
 * map of their own.
 */
const NO_NETWORKS = new Map<string, string>();
/**
 * Empty lists that are shared by all keys for which no request has been recorded since the last write, so that these keys need no
 * lists of their own.
 */
const NO_REQUESTS: RecordedRequest[] = [];
const NO_OPERATIONS: string[] = [];
const MAX_REFUSED = 2_147_483_647;

class PendingUse implements KeyHour, KeyUse, UseRecorder {
  readonly organizationId: string;
  readonly keyId: string;
  readonly hourNumber: number;
  lastUsedAt: Date | null = null;
  network: string | null = null;
  client: string | null = null;
  networks = NO_NETWORKS;
  readonly operations = new Map<string, Record<RequestResult, number>>();
  refusedUses = 0;
  limited = 0;
  unlisted = 0;
  requests = NO_REQUESTS;
  /** The operations of the requests that are samples. */
  #sampled = NO_OPERATIONS;
  /** How many requests were replaced by later ones. */
  #replaced = 0;
  readonly #buffer: UseBuffer;
  #clientSource: ClientSource | null = null;
  #clientSeenAtMs = -Infinity;

  constructor(buffer: UseBuffer, { organizationId, keyId, hourNumber }: KeyHour) {
    this.#buffer = buffer;
    this.organizationId = organizationId;
    this.keyId = keyId;
    this.hourNumber = hourNumber;
  }

  get hour(): Date {
    return new Date(this.hourNumber * HOUR_MS);
  }

  noteAcceptance(at: Date): void {
    const use = this.#current();
    use.lastUsedAt = later(use.lastUsedAt, at);
  }

  lacksClient({ remoteAddress, forwardedFor, userAgent }: ClientSource, at: Date): boolean {
    const use = this.#current();
    if (at.getTime() - use.#clientSeenAtMs >= CLIENT_EVERY_MS) return true;
    const last = use.#clientSource;
    return (
      last?.remoteAddress !== remoteAddress || last?.forwardedFor !== forwardedFor || last?.userAgent !== userAgent
    );
  }

  noteClient({ network, client }: UsingClient, source: ClientSource, at: Date): void {
    const use = this.#current();
    use.network = network;
    use.client = client;
    use.#clientSource = source;
    use.#clientSeenAtMs = at.getTime();
    if (network !== null) use.#addNetwork(network, at.toISOString().slice(0, DAY_CHARACTERS));
  }

  countRefusedUse(): void {
    const use = this.#current();
    use.refusedUses = Math.min(use.refusedUses + 1, MAX_REFUSED);
  }

  countResponse(operation: string, result: RequestResult | 'limited', items = 1): void {
    const use = this.#current();
    if (result === 'limited') use.limited += items;
    use.#countsOf(operation)[result === 'limited' ? 'refused' : result] += items;
  }

  lacksSample(operation: string): boolean {
    return !this.#current().#sampled.includes(operation);
  }

  noteRequest(request: RecordedRequest): void {
    const use = this.#current();
    if (isUnsuccessful(request)) use.#addUnsuccessful(request);
    else use.#addSample(request);
  }

  add(other: KeyUse): void {
    const { lastUsedAt, network, client, networks, refusedUses, limited } = other;
    for (const [each, day] of networks) if (day > (this.networks.get(each) ?? '')) this.#addNetwork(each, day);
    if (lastUsedAt !== null && later(this.lastUsedAt, lastUsedAt) === lastUsedAt) {
      this.lastUsedAt = lastUsedAt;
      this.network = network;
      this.client = client;
    }
    this.refusedUses = Math.min(this.refusedUses + refusedUses, MAX_REFUSED);
    this.limited += limited;
    this.unlisted += other.unlisted;
    for (const [operation, counts] of other.operations) {
      const sum = this.#countsOf(operation);
      for (const result of REQUEST_RESULTS) sum[result] += counts[result];
    }
    for (const request of other.requests) this.noteRequest(request);
  }

  #countsOf(operation: string): Record<RequestResult, number> {
    let counts = this.operations.get(operation);
    if (counts === undefined) {
      counts = { successful: 0, refused: 0, failed: 0 };
      this.operations.set(operation, counts);
    }
    return counts;
  }

  #addUnsuccessful(request: RecordedRequest): void {
    const buffer = this.#buffer;
    const most = buffer.requests < MAX_REQUESTS / 2 ? KEPT_REQUESTS.unsuccessful : FEW_REQUESTS;
    const { length } = this.requests;
    if (length < most && buffer.requests < MAX_REQUESTS) {
      this.#addRequest(request);
      return;
    }
    this.unlisted += 1;
    if (length === 0) return;
    // The oldest request is replaced, so that the latest ones are kept.
    this.requests[this.#replaced % length] = request;
    this.#replaced += 1;
  }

  #addSample(request: RecordedRequest): void {
    const buffer = this.#buffer;
    if (buffer.samples >= MAX_SAMPLES || buffer.requests >= MAX_REQUESTS) return;
    buffer.samples += 1;
    if (this.#sampled === NO_OPERATIONS) this.#sampled = [];
    this.#sampled.push(request.operation);
    this.#addRequest(request);
  }

  #addRequest(request: RecordedRequest): void {
    if (this.requests === NO_REQUESTS) this.requests = [];
    this.requests.push(request);
    this.#buffer.requests += 1;
  }

  #addNetwork(network: string, day: string): void {
    const networks = this.networks === NO_NETWORKS ? new Map<string, string>() : this.networks;
    networks.delete(network);
    networks.set(network, day);
    const [first] = networks.keys();
    if (networks.size > MAX_USED_NETWORKS && first !== undefined) networks.delete(first);
    this.networks = networks;
  }

  /**
   * Returns the recorder in the current buffer. It is another object than `this` only if the request began before the last write,
   * which replaced the buffer.
   */
  #current(): PendingUse {
    let buffer = this.#buffer;
    if (buffer.next === null) return this;
    while (buffer.next !== null) buffer = buffer.next;
    return buffer.find(this);
  }
}

function later(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

/** Returns whether uses of the key may not have been written to the database yet. `endedAt` is `null` if the key is active. */
export function mayHaveUnwrittenUse({ endedAt }: { readonly endedAt: Date | null }, now: Date): boolean {
  return endedAt === null || now.getTime() - endedAt.getTime() < UNWRITTEN_SECONDS * 1000;
}
