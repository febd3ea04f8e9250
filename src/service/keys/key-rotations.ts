import type { Actor } from '../../domain/audit/actor.ts';
import { isId } from '../../domain/id.ts';
import type { Holder } from '../../domain/keys/holder.ts';
import type { KeyUsage } from '../../domain/keys/key-usage.ts';
import { maySeeKeysOfOthers } from '../../domain/people/role.ts';
import { findKeyRotations, findMovedKey } from '../../store/keys/key-lists.ts';
import type { Database } from '../../store/sql/database.ts';
import { getKeyAccess, type KeyAccess } from '../authority/keys.ts';
import { noSuchKey } from './key-conflict.ts';
import { detailsOf, type KeyDetails } from './list-keys.ts';

export type KeyWithRotations = KeyAccess & {
  readonly kind: 'found';
  readonly key: KeyDetails;
  readonly usage: KeyUsage;
  /** The keys that it replaced, the oldest first: at most MAX_STEPS. */
  readonly earlier: readonly KeyDetails[];
  /** The keys that replaced it, the oldest first: at most MAX_STEPS. */
  readonly later: readonly KeyDetails[];
};

/** The key was moved from the user to an integration, whose keys the actor may see. */
export type MovedKey = { readonly kind: 'moved'; readonly holder: Holder };

/**
 * One key of a user with its requests and the keys of its rotations, in two statements. Throws "not_found" where there is no
 * such key.
 */
export async function getKeyWithRotations(
  db: Database,
  actor: Actor,
  { userId, keyId, now }: { userId: string; keyId: string; now: Date },
): Promise<KeyWithRotations | MovedKey> {
  const access = await getKeyAccess(db, actor, userId);
  if (!isId(keyId)) throw noSuchKey();
  const { keys: rows, usage } = await findKeyRotations(db, actor.scope, { userId, id: keyId, now });
  const asked = rows.find(({ step }) => step === 0);
  if (asked === undefined) return findMoved(db, actor, { userId, id: keyId });
  return {
    kind: 'found',
    ...access,
    key: detailsOf(asked, now),
    usage,
    earlier: rows.filter(({ step }) => step < 0).map((row) => detailsOf(row, now)),
    later: rows.filter(({ step }) => step > 0).map((row) => detailsOf(row, now)),
  };
}

async function findMoved(db: Database, actor: Actor, key: { userId: string; id: string }): Promise<MovedKey> {
  const moved = await findMovedKey(db, actor.scope, key);
  // The former user of a key cannot learn from its old address to where it was moved.
  if (moved === null || (moved.holderOwnerId !== actor.userId && !maySeeKeysOfOthers(actor.role))) throw noSuchKey();
  const { holderId: id, holderKind, holderName: name, holderEmail: email } = moved;
  return { kind: 'moved', holder: { id, kind: holderKind, name, email } };
}
