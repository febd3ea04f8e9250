import { v7 as newId } from 'uuid';
import type { Actor } from '../domain/actor.ts';
import { type Environment, mintKey } from '../domain/api-key.ts';
import { isId } from '../domain/id.ts';
import { replaceApiKey } from '../store/api-keys.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { type ByForm, claimForm } from './form-claim.ts';
import type { IssuedKey } from './issue-key.ts';
import { lockForKeyDeed } from './key-authority.ts';
import { explainRefusal, noSuchKey } from './key-conflict.ts';

export type Rotation = ByForm & {
  readonly keyId: string;
  /** Whose key it is. */
  readonly userId: string;
  readonly environment: Environment;
  /** For tests. */
  readonly now?: () => Date;
};

/**
 * Ends a key and returns its successor, this once: the same user, name, permissions and expiry. From the moment at which
 * this has answered the old key is refused everywhere. A conflict tells who was first, where somebody was.
 */
export async function rotateKey(
  db: Database,
  actor: Actor,
  { keyId, userId, environment, formId, now = () => new Date() }: Rotation,
): Promise<IssuedKey> {
  const { scope, trace } = actor;
  return transaction(db, async (tx) => {
    await claimForm(tx, scope, { formId });
    const { holder, byUserId } = await lockForKeyDeed(tx, actor, { userId, deed: 'rotate' });
    if (!isId(keyId)) throw noSuchKey();
    const at = now();
    const { key, hash, prefix } = mintKey(environment);
    const successor = { id: newId(), keyHash: Uint8Array.from(hash), keyPrefix: prefix };
    const succeeded = await replaceApiKey(tx, scope, { id: keyId, userId: holder.id, at, byUserId, successor });
    if (succeeded === null) throw await explainRefusal(tx, scope, { id: keyId, userId: holder.id, now: at });
    await recordAudit(tx, scope, {
      ...{ act: 'key.rotated', actorUserId: byUserId, targetUserId: holder.id, keyId, trace },
      detail: { name: succeeded.name, successor: successor.id, prefix },
    });
    return { id: successor.id, key, ...succeeded };
  });
}
