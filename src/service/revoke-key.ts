import { type Doer, isOperator } from '../domain/actor.ts';
import { isId } from '../domain/id.ts';
import { revokeApiKey } from '../store/api-keys.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { lockForKeyDeed } from './key-authority.ts';
import { explainRefusal, noSuchKey } from './key-conflict.ts';

/**
 * Ends a key for good, an expired one too, whose name is then free. A conflict where it was revoked before, or rotated,
 * which says that its successor lives.
 */
export async function revokeKey(
  db: Database,
  by: Doer,
  { keyId, userId }: { keyId: string; userId: string },
): Promise<void> {
  await transaction(db, async (tx) => {
    const { holder, byUserId } = await lockForKeyDeed(tx, by, { userId, deed: 'revoke' });
    if (!isId(keyId)) throw noSuchKey();
    const at = new Date();
    const revoked = await revokeApiKey(tx, by.scope, { id: keyId, userId: holder.id, at, byUserId });
    if (revoked === null) throw await explainRefusal(tx, by.scope, { id: keyId, userId: holder.id, now: at });
    await recordAudit(tx, by.scope, {
      ...{ act: 'key.revoked', actorUserId: byUserId, targetUserId: holder.id, keyId },
      detail: { name: revoked.name, prefix: revoked.keyPrefix },
      trace: isOperator(by) ? null : by.trace,
    });
  });
}
