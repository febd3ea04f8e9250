import type { Database } from '../store/database.ts';
import { type KeyUse, writeKeyUses } from '../store/key-uses.ts';

export type UsedKey = { readonly organizationId: string; readonly id: string };

/** Called for every use of a key. Costs one look-up in a Map. */
export type KeyUses = {
  used(key: UsedKey, at: Date): void;
  /** The key was rotated or revoked before. */
  refused(key: UsedKey): void;
};

export type KeyUseWriter = KeyUses & {
  /** Writes the recorded uses now. If that fails, they are kept for the next write. Never rejects. */
  flush(): Promise<void>;
  /** Stops the periodic writes and writes the recorded uses. */
  stop(): Promise<void>;
};

export type KeyUseOptions = {
  onFailure: (error: unknown) => void;
  /** Interval of the writes; 60 except in tests. */
  everySeconds?: number;
  /** Maximum number of keys between two writes. Uses of further keys are dropped. */
  maxKeys?: number;
};

/** A KeyUse that is still being added to. */
type PendingUse = { -readonly [Name in keyof KeyUse]: KeyUse[Name] };

const EVERY_SECONDS = 60;
/** Twice the interval, because a write takes time, too. */
const UNWRITTEN_SECONDS = 2 * EVERY_SECONDS;
/** About 10 MB of memory, and a statement of a few seconds. */
const MAX_KEYS = 50_000;

/**
 * Records in memory when keys were used and how often rotated or revoked keys were refused, and writes that once a minute, so no
 * request waits for it. A process that is killed loses its last minute.
 */
export function startKeyUses(
  db: Database,
  { onFailure, everySeconds = EVERY_SECONDS, maxKeys = MAX_KEYS }: KeyUseOptions,
): KeyUseWriter {
  let pending = new Map<string, PendingUse>();
  let writing = Promise.resolve();

  function record(use: PendingUse): void {
    const id = `${use.organizationId} ${use.keyId}`;
    const before = pending.get(id);
    if (before !== undefined) add(before, use);
    else if (pending.size < maxKeys) pending.set(id, use);
  }

  async function write(): Promise<void> {
    if (pending.size === 0) return;
    const written = pending;
    pending = new Map();
    try {
      await writeKeyUses(db, [...written.values()]);
    } catch (error) {
      const newer = pending;
      pending = written;
      for (const use of newer.values()) record(use);
      onFailure(error);
    }
  }

  // One write at a time: a failed write returns its uses to `pending`.
  const flush = () => (writing = writing.then(write));
  const timer = setInterval(flush, everySeconds * 1000);
  timer.unref();
  return {
    used: ({ organizationId, id }, at) => record({ organizationId, keyId: id, lastUsedAt: at, refusedUses: 0 }),
    refused: ({ organizationId, id }) => record({ organizationId, keyId: id, lastUsedAt: null, refusedUses: 1 }),
    flush,
    stop() {
      clearInterval(timer);
      return flush();
    },
  };
}

const MAX_REFUSED = 2_147_483_647;

/** Changes `use` in place: most requests use a key that has a pending use already. */
function add(use: PendingUse, other: KeyUse): void {
  use.lastUsedAt = later(use.lastUsedAt, other.lastUsedAt);
  use.refusedUses = Math.min(use.refusedUses + other.refusedUses, MAX_REFUSED);
}

function later(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

/** Whether a key may have been used without a record of that in the database yet. `endedAt` null: the key is active. */
export function mayHaveUnwrittenUse({ endedAt }: { readonly endedAt: Date | null }, now: Date): boolean {
  return endedAt === null || now.getTime() - endedAt.getTime() < UNWRITTEN_SECONDS * 1000;
}
