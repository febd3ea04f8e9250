import type { Actor } from '../../domain/audit/actor.ts';
import { endOf, MAX_ACTIVE_KEYS } from '../../domain/keys/api-key.ts';
import { parseName } from '../../domain/name.ts';
import { isId } from '../../domain/text.ts';
import { findKeyHistory, listCurrentKeys, moveApiKey } from '../../store/keys/api-keys.ts';
import type { Database } from '../../store/sql/database.ts';
import { lockForMove } from '../authority/keys.ts';
import {
  type Conflict,
  catchInvalid,
  conflict,
  DONE,
  type Done,
  type Invalid,
  type KeyRefused,
  type NameTaken,
  recordAct,
  runAction,
} from '../outcome.ts';
import { checkNameFree, explainEndedKey, noSuchKey } from './key-rules.ts';
import { tellHolder } from './notices.ts';

export type Move = {
  readonly keyId: string;
  readonly userId: string;
  readonly integrationId: string;
  readonly name: string;
};

/**
 * Moves an active key from a user to an integration. The text, the permissions and the expiry of the key stay the same, but the
 * role of the integration limits its permissions from then on, so the key gains no permissions. Returns "conflict" if the key has
 * ended, or the integration has too many keys.
 */
export async function moveKey(
  db: Database,
  actor: Actor,
  { keyId, userId, integrationId, name: text }: Move,
): Promise<Done | Invalid | NameTaken | Conflict | KeyRefused> {
  const { scope } = actor;
  const parsedName = catchInvalid(() => parseName(text, { kind: 'key' }));
  if (parsedName.kind === 'invalid') return parsedName;
  const name = parsedName.value;
  return runAction(db, async (tx) => {
    const authority = await lockForMove(tx, actor, { userId, integrationId });
    if (authority.kind === 'refused') return authority;
    const { holder, integration, byUserId } = authority;
    const before = isId(keyId) ? await findKeyHistory(tx, scope, { id: keyId, userId: holder.id }) : null;
    if (before === null) throw noSuchKey();
    const at = new Date();
    const others = await listCurrentKeys(tx, scope, integration.id);
    const taken = checkNameFree(integration, { name, others });
    if (taken !== null) return taken;
    if (others.filter((key) => endOf(key, at) === null).length >= MAX_ACTIVE_KEYS)
      return conflict(`${integration.name} has ${MAX_ACTIVE_KEYS} active keys, the maximum. Revoke one first.`);
    const move = { id: keyId, userId: holder.id, at, integrationId: integration.id, name };
    if (!(await moveApiKey(tx, scope, move)))
      return explainEndedKey(tx, scope, { id: keyId, userId: holder.id, now: at });
    const renamed = before.name === name ? {} : { before: before.name, name };
    const event = { action: 'key.moved', keyId } as const;
    // Two events are recorded, one for each holder, so that both histories show the move.
    await recordAct(tx, actor, { ...event, targetUserId: holder.id, detail: { ...renamed, to: integration.name } });
    await recordAct(tx, actor, { ...event, targetUserId: integration.id, detail: { ...renamed, from: holder.name } });
    const told = { keyId, kind: 'moved', byUserId } as const;
    await tellHolder(tx, scope, { ...told, holder, detail: integration.name });
    await tellHolder(tx, scope, { ...told, holder: integration, detail: holder.name });
    return DONE;
  });
}
