import type { Actor } from '../domain/actor.ts';
import { isId } from '../domain/id.ts';
import { parseName } from '../domain/name.ts';
import { listCurrentKeys, renameApiKey } from '../store/api-keys.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { refuseTakenName } from './issue-key.ts';
import { lockForKeyDeed } from './key-authority.ts';
import { explainRefusal, noSuchKey } from './key-conflict.ts';

export type Renaming = { readonly keyId: string; readonly userId: string; readonly name: string };

/** Names an active key anew, under the rules of a new key's name. The name that it has already changes nothing. */
export async function renameKey(db: Database, actor: Actor, request: Renaming): Promise<void> {
  const { scope, trace } = actor;
  const { keyId } = request;
  const name = parseName(request.name, { kind: 'key' });
  await transaction(db, async (tx) => {
    const { holder, byUserId } = await lockForKeyDeed(tx, actor, { userId: request.userId, deed: 'rename' });
    if (!isId(keyId)) throw noSuchKey();
    const standing = await listCurrentKeys(tx, scope, holder.id);
    const at = new Date();
    // Of a key that is not there to be renamed nobody hears whether the name was free.
    const others = standing.filter(({ id }) => id !== keyId);
    if (others.length < standing.length) refuseTakenName(holder, { name, others });
    const renamed = await renameApiKey(tx, scope, { id: keyId, userId: holder.id, at, name });
    if (renamed === null) throw await explainRefusal(tx, scope, { id: keyId, userId: holder.id, now: at });
    if (renamed.oldName === name) return;
    await recordAudit(tx, scope, {
      ...{ act: 'key.renamed', actorUserId: byUserId, targetUserId: holder.id, keyId, trace },
      detail: { from: renamed.oldName, to: name },
    });
  });
}
