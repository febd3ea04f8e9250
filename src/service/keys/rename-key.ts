import type { Actor } from '../../domain/audit/actor.ts';
import { parseName } from '../../domain/name.ts';
import { isId } from '../../domain/text.ts';
import { listCurrentKeys, renameApiKey } from '../../store/keys/api-keys.ts';
import type { Database } from '../../store/sql/database.ts';
import { lockForKeyAction } from '../authority/keys.ts';
import {
  type Conflict,
  catchInvalid,
  DONE,
  type Done,
  type Invalid,
  type KeyRefused,
  type NameTaken,
  recordAct,
  runAction,
} from '../outcome.ts';
import { checkNameFree, explainEndedKey, noSuchKey } from './key-rules.ts';

export type Renaming = { readonly keyId: string; readonly userId: string; readonly name: string };

/**
 * Renames an active key, under the same rules as for the name of a new key. Does nothing if the key already has the name. Returns
 * "conflict" if the key has ended.
 */
export async function renameKey(
  db: Database,
  actor: Actor,
  { keyId, userId, name: text }: Renaming,
): Promise<Done | Invalid | NameTaken | Conflict | KeyRefused> {
  const { scope } = actor;
  const parsedName = catchInvalid(() => parseName(text, { kind: 'key' }));
  if (parsedName.kind === 'invalid') return parsedName;
  const name = parsedName.value;
  return runAction(db, async (tx) => {
    const authority = await lockForKeyAction(tx, actor, { userId, action: 'rename' });
    if (authority.kind === 'refused') return authority;
    const { holder } = authority;
    if (!isId(keyId)) throw noSuchKey();
    const keys = await listCurrentKeys(tx, scope, holder.id);
    const at = new Date();
    const others = keys.filter(({ id }) => id !== keyId);
    // The name is checked only if the id is that of one of the holder's keys. Otherwise, the refusal would reveal the names of
    // those keys.
    const taken = others.length < keys.length ? checkNameFree(holder, { name, others }) : null;
    if (taken !== null) return taken;
    const renamed = await renameApiKey(tx, scope, { id: keyId, userId: holder.id, at, name });
    if (renamed === null) return explainEndedKey(tx, scope, { id: keyId, userId: holder.id, now: at });
    if (renamed.oldName === name) return DONE;
    await recordAct(tx, actor, {
      action: 'key.renamed',
      targetUserId: holder.id,
      keyId,
      detail: { from: renamed.oldName, to: name },
    });
    return DONE;
  });
}
