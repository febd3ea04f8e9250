import type { Database } from '../store/database.ts';
import { type KeyUse, writeKeyUses } from '../store/key-uses.ts';

type Key = { readonly organizationId: string; readonly id: string };

/** Told of every use; it costs no more than a look into a map. */
export type KeyUses = {
  used(key: Key, at: Date): void;
  /** The key had been rotated or revoked. */
  refused(key: Key): void;
};

export type KeyUseWriter = KeyUses & {
  /** Writes now what has been seen; where it fails, that is kept for the next time. Never rejects. */
  flush(): Promise<void>;
  /** Ends the writing by the minute and writes what is left. */
  stop(): Promise<void>;
};

export type KeyUseOptions = {
  onFailure: (error: unknown) => void;
  /** 60 but for tests. */
  everySeconds?: number;
  /** Keys at most that are held until the next writing; uses of further ones are let go. */
  maxKeys?: number;
};

/** Ours alone until it is written. */
type Seen = { -readonly [Name in keyof KeyUse]: KeyUse[Name] };

const EVERY_SECONDS = 60;
/** About 10 MB, and a statement of some seconds. */
const MAX_KEYS = 50_000;

/**
 * Holds in memory when keys were used and how often ended ones were refused, and writes it once a minute: a request never
 * waits for it. A process that is killed loses its last minute.
 */
export function startKeyUses(
  db: Database,
  { onFailure, everySeconds = EVERY_SECONDS, maxKeys = MAX_KEYS }: KeyUseOptions,
): KeyUseWriter {
  let seen = new Map<string, Seen>();
  let writing = Promise.resolve();

  function note(use: Seen): void {
    const id = `${use.organizationId} ${use.keyId}`;
    const before = seen.get(id);
    if (before !== undefined) add(before, use);
    else if (seen.size < maxKeys) seen.set(id, use);
  }

  async function write(): Promise<void> {
    if (seen.size === 0) return;
    const taken = seen;
    seen = new Map();
    try {
      await writeKeyUses(db, [...taken.values()]);
    } catch (error) {
      const since = seen;
      seen = taken;
      for (const use of since.values()) note(use);
      onFailure(error);
    }
  }

  // One at a time: what a slow writing still holds is not yet ours to write again.
  const flush = () => (writing = writing.then(write));
  const timer = setInterval(flush, everySeconds * 1000);
  timer.unref();
  return {
    used: ({ organizationId, id }, at) => note({ organizationId, keyId: id, lastUsedAt: at, refusedUses: 0 }),
    refused: ({ organizationId, id }) => note({ organizationId, keyId: id, lastUsedAt: null, refusedUses: 1 }),
    flush,
    stop() {
      clearInterval(timer);
      return flush();
    },
  };
}

const MAX_REFUSED = 2_147_483_647;

/** In place, as most requests are of a key that is held already. */
function add(use: Seen, other: KeyUse): void {
  use.lastUsedAt = later(use.lastUsedAt, other.lastUsedAt);
  use.refusedUses = Math.min(use.refusedUses + other.refusedUses, MAX_REFUSED);
}

function later(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}
