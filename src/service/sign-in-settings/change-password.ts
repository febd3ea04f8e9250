import type { Actor } from '../../domain/audit/actor.ts';
import type { Database } from '../../store/sql/database.ts';
import { checkPasswordAllowed } from '../authority/sign-in-ways.ts';
import { type Conflict, type Invalid, recordAct, runAction } from '../outcome.ts';
import { checkPassword, hashPassword, replacePassword } from '../sign-in/password.ts';
import { lockSession, renewSession } from '../sign-in/sessions.ts';

/** The result of a change after which the actor's session continues under this new token. */
export type SessionRenewed = { readonly kind: 'session-renewed'; readonly token: string };

type Change = {
  readonly password: string;
  /** The token of the actor's session. */
  readonly token: string;
};

export async function changePassword(
  db: Database,
  actor: Actor,
  { password, token }: Change,
): Promise<SessionRenewed | Invalid | Conflict> {
  const weakness = checkPassword(password, actor);
  if (weakness !== null) return weakness;
  const passwordHash = await hashPassword(password);
  return runAction(db, async (tx) => {
    const { user, tokenHash } = await lockSession(tx, actor, token);
    const refusal = await checkPasswordAllowed(tx, actor.scope, user.id);
    if (refusal !== null) return refusal;
    const tooWeakNow = checkPassword(password, { ...actor, hasSecondFactor: user.totpSince !== null });
    if (tooWeakNow !== null) return tooWeakNow;
    await replacePassword(tx, actor.scope, { user, passwordHash, keptSession: tokenHash });
    await recordAct(tx, actor, { action: 'user.password_set', targetUserId: user.id });
    return { kind: 'session-renewed', token: await renewSession(tx, actor.scope, tokenHash) };
  });
}
