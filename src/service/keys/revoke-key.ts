import type { ActorOrOperator } from '../../domain/audit/actor.ts';
import { isId } from '../../domain/text.ts';
import { revokeApiKey } from '../../store/keys/api-keys.ts';
import type { Database } from '../../store/sql/database.ts';
import { lockForRevocation } from '../authority/keys.ts';
import { type Conflict, DONE, type Done, recordAct, runAction } from '../outcome.ts';
import { explainEndedKey, noSuchKey } from './key-rules.ts';
import { tellHolder } from './notices.ts';

/**
 * Revokes a key for good, so that its name can be used again. An expired key can be revoked, too. Returns "conflict" if the key
 * was revoked or rotated before; after a rotation, the message names the successor.
 */
export async function revokeKey(
  db: Database,
  actor: ActorOrOperator,
  { keyId, userId }: { keyId: string; userId: string },
): Promise<Done | Conflict> {
  return runAction(db, async (tx) => {
    const { holder, byUserId } = await lockForRevocation(tx, actor, userId);
    if (!isId(keyId)) throw noSuchKey();
    const at = new Date();
    const revoked = await revokeApiKey(tx, actor.scope, { id: keyId, userId: holder.id, at, byUserId });
    if (revoked === null) return explainEndedKey(tx, actor.scope, { id: keyId, userId: holder.id, now: at });
    await recordAct(tx, actor, { action: 'key.revoked', targetUserId: holder.id, keyId, detail: revoked });
    await tellHolder(tx, actor.scope, { holder, keyId, kind: 'revoked', byUserId });
    return DONE;
  });
}
