import { v7 as newId } from 'uuid';
import type { Actor } from '../domain/actor.ts';
import { type Environment, mintKey } from '../domain/api-key.ts';
import { isId } from '../domain/id.ts';
import { replaceApiKey } from '../store/api-keys.ts';
import { recordAudit } from '../store/audit.ts';
import type { Database } from '../store/database.ts';
import { claimForm, type OneTimeForm } from './form-claim.ts';
import { holderOf, type KeyIssued } from './issue-key.ts';
import { lockForKeyAction } from './key-authority.ts';
import { explainEndedKey, noSuchKey } from './key-conflict.ts';
import { ALREADY_SENT, type AlreadySent, type Conflict, type KeyRefused, runAction } from './outcome.ts';

export type Rotation = OneTimeForm & {
  readonly keyId: string;
  /** The user for whom the key acts. */
  readonly userId: string;
  readonly environment: Environment;
  /** For tests. */
  readonly now?: () => Date;
};

/** `replacedPrefix` is the start of the old key, such as "charter_live_Ab3d". */
export type KeyRotated = KeyIssued & { readonly replacedPrefix: string };

/**
 * Ends a key and creates its successor, with the same user, name, permissions and expiry. Once this has returned, every
 * server refuses the old key. "conflict": the key has ended before; the message says who ended it.
 */
export async function rotateKey(
  db: Database,
  actor: Actor,
  { keyId, userId, environment, formId, now = () => new Date() }: Rotation,
): Promise<KeyRotated | Conflict | KeyRefused | AlreadySent> {
  const { scope, trace } = actor;
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, scope, { formId }))) return ALREADY_SENT;
    const authority = await lockForKeyAction(tx, actor, { userId, action: 'rotate' });
    if (authority.kind === 'refused') return authority;
    const { holder, actorUserId } = authority;
    if (!isId(keyId)) throw noSuchKey();
    const at = now();
    const { key, hash, prefix } = mintKey(environment);
    const successor = { id: newId(), keyHash: Uint8Array.from(hash), keyPrefix: prefix };
    const replaced = await replaceApiKey(tx, scope, {
      id: keyId,
      userId: holder.id,
      at,
      byUserId: actorUserId,
      successor,
    });
    if (replaced === null) return explainEndedKey(tx, scope, { id: keyId, userId: holder.id, now: at });
    const { name, permissions, expiresAt, replacedPrefix } = replaced;
    await recordAudit(tx, scope, {
      action: 'key.rotated',
      actorUserId,
      targetUserId: holder.id,
      keyId,
      detail: { name, successor: successor.id, prefix },
      trace,
    });
    const issued = { id: successor.id, key, name, permissions, expiresAt };
    return { kind: 'issued', ...issued, holder: holderOf(holder), replacedPrefix };
  });
}
