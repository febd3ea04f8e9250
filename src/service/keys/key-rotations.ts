import type { Actor } from '../../domain/actor.ts';
import { isId } from '../../domain/id.ts';
import type { KeyUsage } from '../../domain/key-usage.ts';
import type { Database } from '../../store/database.ts';
import { findKeyRotations } from '../../store/key-rotations.ts';
import { getKeyAccess, type KeyAccess } from './key-access.ts';
import { noSuchKey } from './key-conflict.ts';
import { detailsOf, type KeyDetails } from './list-keys.ts';

export type KeyWithRotations = KeyAccess & {
  readonly key: KeyDetails;
  readonly usage: KeyUsage;
  /** The keys that it replaced, the oldest first: at most MAX_STEPS. */
  readonly earlier: readonly KeyDetails[];
  /** The keys that replaced it, the oldest first: at most MAX_STEPS. */
  readonly later: readonly KeyDetails[];
};

/**
 * One key of a user with its requests and the keys of its rotations, in two statements. Throws "not_found" where there is no
 * such key.
 */
export async function getKeyWithRotations(
  db: Database,
  actor: Actor,
  { userId, keyId, now }: { userId: string; keyId: string; now: Date },
): Promise<KeyWithRotations> {
  const access = await getKeyAccess(db, actor, userId);
  if (!isId(keyId)) throw noSuchKey();
  const { keys: rows, usage } = await findKeyRotations(db, actor.scope, { userId, id: keyId, now });
  const asked = rows.find(({ step }) => step === 0);
  if (asked === undefined) throw noSuchKey();
  return {
    ...access,
    key: detailsOf(asked, now),
    usage,
    earlier: rows.filter(({ step }) => step < 0).map((row) => detailsOf(row, now)),
    later: rows.filter(({ step }) => step > 0).map((row) => detailsOf(row, now)),
  };
}
