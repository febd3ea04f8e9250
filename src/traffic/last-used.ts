import { MAX_USED_NETWORKS, type RequestResult } from '../domain/keys/key-usage.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type KeyUse, noteNetworks, writeKeyUses } from '../store/keys/key-uses.ts';
import type { Database } from '../store/sql/database.ts';

export type ScopedKeyId = { readonly organizationId: string; readonly id: string };

export type UsingClient = Pick<KeyUse, 'network' | 'client'>;

/** Records what becomes of the requests with one key in one hour. No call waits, or looks anything up. */
export type UseRecorder = {
  /** The key was accepted. */
  noteAcceptance(at: Date): void;
  /** Whether `noteClient` was not called within the last second: parsing the client of every request would cost too much. */
  lacksClient(at: Date): boolean;
  noteClient(client: UsingClient, at: Date): void;
  /** The key was rotated or revoked before. */
  countRefusedUse(): void;
  /** The response is sent. "limited": a limit of the key or its organization refused the request. */
  countResponse(result: RequestResult | 'limited'): void;
};

export type KeyUses = {
  /** The recorder for a request with a known key. It costs one look-up in a Map. */
  of(key: ScopedKeyId, at: Date): UseRecorder;
};

/** Records nothing. It serves keys that are in no database. */
export const NO_KEY_USES: KeyUses = {
  of: () => ({
    noteAcceptance() {},
    lacksClient: () => false,
    noteClient() {},
    countRefusedUse() {},
    countResponse() {},
  }),
};

export type KeyUseWriter = KeyUses & {
  /** Writes the recorded uses now. If that fails, they are kept for the next write. Never rejects. */
  flush(): Promise<void>;
  /** Stops the periodic writes and writes the recorded uses. */
  stop(): Promise<void>;
};

export type KeyUseOptions = {
  onFailure: (error: unknown) => void;
  /** Interval of the writes; 60 by default. */
  everySeconds?: number;
  /** Maximum number of keys, each counted once an hour, between two writes. Uses of further keys are dropped. */
  maxKeys?: number;
};

const EVERY_SECONDS = 60;
/** A use is written within this time: twice the interval, because a write takes time, too. */
const UNWRITTEN_SECONDS = 2 * EVERY_SECONDS;
/** So many keys take about 40 MB of memory, and a few seconds of writing. */
const MAX_KEYS = 50_000;
/** Keys in one statement. The statement locks them, so a revocation waits for it, and it must end within its timeout. */
const KEYS_AT_ONCE = 1000;

/**
 * Records in memory when keys were used, how often rotated or revoked keys were refused, and how many requests succeeded, were
 * refused and failed. Writes that once a minute, so no request waits for it. A process that is killed loses its last minute.
 */
export function startKeyUses(
  db: Database,
  { onFailure, everySeconds = EVERY_SECONDS, maxKeys = MAX_KEYS }: KeyUseOptions,
): KeyUseWriter {
  let buffer = new UseBuffer(maxKeys);
  let writing = Promise.resolve();

  async function write(): Promise<void> {
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
        // The part that failed comes last, so that it never keeps the others from being written.
        for (const use of [...uses, ...part]) newer.find(use).add(use);
        onFailure(error);
        return;
      }
      // The part is not kept for the next write, which would count the uses twice.
      await noteNetworks(db, part).catch(onFailure);
    }
  }

  // One write at a time: a failed write returns its uses to the buffer.
  const flush = () => (writing = writing.then(write));
  const timer = setInterval(flush, everySeconds * 1000);
  timer.unref();
  return {
    of: ({ organizationId, id }, at) =>
      buffer.find({ organizationId, keyId: id, hourNumber: Math.floor(at.getTime() / HOUR_MS) }),
    flush,
    stop() {
      clearInterval(timer);
      return flush();
    },
  };
}

/** `hourNumber`: hours since 1970. */
type KeyHour = { readonly organizationId: string; readonly keyId: string; readonly hourNumber: number };

/** The uses between two writes. */
class UseBuffer {
  readonly uses = new Map<string, PendingUse>();
  /** The buffer that replaced this one when its write began; `null` while this one is current. */
  next: UseBuffer | null = null;
  readonly #maxUses: number;

  constructor(maxUses: number) {
    this.#maxUses = maxUses;
  }

  find(of: KeyHour): PendingUse {
    const name = `${of.organizationId} ${of.keyId} ${of.hourNumber}`;
    const found = this.uses.get(name);
    if (found !== undefined) return found;
    const use = new PendingUse(this, of);
    // Above the limit, the new recorder is never written.
    if (this.uses.size < this.#maxUses) this.uses.set(name, use);
    return use;
  }
}

const CLIENT_EVERY_MS = 1000;
const DAY_CHARACTERS = '2026-01-31'.length;
/** An empty map that all keys share, because most keys are used without a request that records the client. */
const NO_NETWORKS = new Map<string, string>();
const MAX_REFUSED = 2_147_483_647;

class PendingUse implements KeyHour, KeyUse, UseRecorder {
  readonly organizationId: string;
  readonly keyId: string;
  readonly hourNumber: number;
  lastUsedAt: Date | null = null;
  network: string | null = null;
  client: string | null = null;
  networks = NO_NETWORKS;
  refusedUses = 0;
  successful = 0;
  refused = 0;
  failed = 0;
  limited = 0;
  readonly #buffer: UseBuffer;
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

  lacksClient(at: Date): boolean {
    return at.getTime() - this.#current().#clientSeenAtMs >= CLIENT_EVERY_MS;
  }

  noteClient({ network, client }: UsingClient, at: Date): void {
    const use = this.#current();
    use.network = network;
    use.client = client;
    use.#clientSeenAtMs = at.getTime();
    if (network !== null) use.#addNetwork(network, at.toISOString().slice(0, DAY_CHARACTERS));
  }

  countRefusedUse(): void {
    const use = this.#current();
    use.refusedUses = Math.min(use.refusedUses + 1, MAX_REFUSED);
  }

  countResponse(result: RequestResult | 'limited'): void {
    const use = this.#current();
    use[result] += 1;
    if (result === 'limited') use.refused += 1;
  }

  add({ lastUsedAt, network, client, networks, refusedUses, successful, refused, failed, limited }: KeyUse): void {
    for (const [each, day] of networks) if (day > (this.networks.get(each) ?? '')) this.#addNetwork(each, day);
    if (lastUsedAt !== null && later(this.lastUsedAt, lastUsedAt) === lastUsedAt) {
      this.lastUsedAt = lastUsedAt;
      this.network = network;
      this.client = client;
    }
    this.refusedUses = Math.min(this.refusedUses + refusedUses, MAX_REFUSED);
    this.successful += successful;
    this.refused += refused;
    this.failed += failed;
    this.limited += limited;
  }

  #addNetwork(network: string, day: string): void {
    const networks = this.networks === NO_NETWORKS ? new Map<string, string>() : this.networks;
    networks.delete(network);
    networks.set(network, day);
    const [first] = networks.keys();
    if (networks.size > MAX_USED_NETWORKS && first !== undefined) networks.delete(first);
    this.networks = networks;
  }

  /** The buffer that is in use now. It differs from `this` only for a request that began before the last write. */
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

/** Whether a key may have been used without a record of that in the database yet. `endedAt` null: the key is active. */
export function mayHaveUnwrittenUse({ endedAt }: { readonly endedAt: Date | null }, now: Date): boolean {
  return endedAt === null || now.getTime() - endedAt.getTime() < UNWRITTEN_SECONDS * 1000;
}
