import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import { parseName } from '../../domain/name.ts';
import { parseEmail, shownEmail } from '../../domain/people/email.ts';
import { voidAccessLinksOf } from '../../store/people/access-links.ts';
import { changeUser, deleteUser, insertUser, isReferenced } from '../../store/people/users.ts';
import type { Database } from '../../store/sql/database.ts';
import { isUniqueViolation } from '../../store/sql/database-errors.ts';
import { checkActive, lockActor, lockToManage, requireMayManage } from '../authority/people.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  catchInvalid,
  claimForm,
  conflict,
  DONE,
  type Done,
  type Invalid,
  invalid,
  type OneTimeForm,
  parseEach,
  recordAct,
  runAction,
} from '../outcome.ts';
import { insertLink, type LinkMade } from '../sign-in/password.ts';
import { checkInvitedEmail } from '../sign-in/verified-domains.ts';
import { parseRole } from './people.ts';

// Any number of organizations may invite the same e-mail, but only one account can have it: that of the organization whose
// invitation the owner accepts. Only a mail to the address itself may reveal whether the e-mail already has an account.

type Invitation = OneTimeForm & {
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly now?: Date;
};

/**
 * Creates a user without a password, and the link by which the user sets a password. Returns "conflict" if a user of the
 * organization has the e-mail. Whether another organization has an account with the e-mail makes no difference.
 */
export async function inviteUser(
  db: Database,
  actor: Actor,
  { email, name, role, formId, now = new Date() }: Invitation,
): Promise<LinkMade | Invalid | Conflict | AlreadySent> {
  const parsed = parseEach({
    name: () => parseName(name, { kind: 'person' }),
    email: () => parseEmail(email),
    role: () => parseRole(role),
  });
  if (parsed.kind === 'invalid') return parsed;
  const user = { id: newId(), ...parsed.value, passwordHash: null };
  return unlessInUse(user.email, () =>
    runAction(db, async (tx) => {
      if (!(await claimForm(tx, actor.scope, { formId }))) return ALREADY_SENT;
      const inviter = await lockActor(tx, actor);
      requireMayManage(inviter.role, user.role);
      const refusal = await checkInvitedEmail(tx, actor.scope, user.email);
      if (refusal !== null) return refusal;
      await insertUser(tx, actor.scope, user);
      const invited = { ...user, hasAccepted: false };
      const link = await insertLink(tx, actor.scope, {
        user: invited,
        kind: 'invitation',
        madeByUserId: inviter.id,
        now,
      });
      await recordAct(tx, actor, { action: 'user.invited', targetUserId: user.id, detail: { role: user.role } });
      return { kind: 'link-made', link };
    }),
  );
}

/**
 * Corrects the e-mail of a user who has not accepted the invitation. Voids the links that were sent to the former e-mail, and
 * creates an invitation for the new e-mail.
 */
export async function correctEmail(
  db: Database,
  actor: Actor,
  { userId, email: text, formId, now = new Date() }: OneTimeForm & { userId: string; email: string; now?: Date },
): Promise<LinkMade | Invalid | Conflict | AlreadySent> {
  const { scope } = actor;
  const read = catchInvalid(() => parseEmail(text));
  if (read.kind === 'invalid') return read;
  const email = read.value;
  return unlessInUse(email, () =>
    runAction(db, async (tx) => {
      if (!(await claimForm(tx, scope, { formId }))) return ALREADY_SENT;
      const { current, target } = await lockToManage(tx, actor, userId);
      if (target.hasAccepted)
        return conflict(
          `${shownEmail(target.email)} has accepted the invitation, so only support can change the e-mail.`,
        );
      const inactive = checkActive(target);
      if (inactive !== null) return inactive;
      if (target.email === email) return invalid('email', 'must differ from the present one.');
      const refusal = await checkInvitedEmail(tx, scope, email);
      if (refusal !== null) return refusal;
      await changeUser(tx, scope, target.id, { email });
      await voidAccessLinksOf(tx, scope, target.id);
      const invited = { ...target, email };
      const link = await insertLink(tx, scope, { user: invited, kind: 'invitation', madeByUserId: current.id, now });
      await recordAct(tx, actor, {
        action: 'user.email_changed',
        targetUserId: target.id,
        detail: { from: target.email, to: email },
      });
      return { kind: 'link-made', link };
    }),
  );
}

/** Removes a user who has not accepted the invitation, and the user's links. */
export async function withdrawInvitation(
  db: Database,
  actor: Actor,
  { userId }: { readonly userId: string },
): Promise<Done | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    const { target } = await lockToManage(tx, actor, userId);
    if (target.hasAccepted)
      return conflict(`${shownEmail(target.email)} has accepted the invitation. Deactivate the user instead.`);
    if (await isReferenced(tx, scope, target.id))
      return conflict(
        `${shownEmail(target.email)} has API keys or integrations, whose history stays. Deactivate the user instead.`,
      );
    await deleteUser(tx, scope, target.id);
    await recordAct(tx, actor, {
      action: 'user.invitation_withdrawn',
      targetUserId: target.id,
      detail: { name: target.name, email: target.email },
    });
    return DONE;
  });
}

/**
 * Returns whether the invitation can be withdrawn. A user who has keys or integrations cannot be removed, because their history
 * must remain.
 */
export async function canWithdraw(
  db: Database,
  actor: Actor,
  user: { readonly id: string; readonly hasAccepted: boolean },
) {
  return !user.hasAccepted && !(await isReferenced(db.prisma, actor.scope, user.id));
}

/**
 * Returns the conflict that the owner of the mailbox sees. Only the owner has the link, so the message may reveal the existing
 * account.
 */
export function existingAccountConflict(email: string): Conflict {
  return conflict(
    `${shownEmail(email)} has an account in another organization, and an e-mail can have one account only. Ask for an invitation to another e-mail, or ask support to remove that account.`,
  );
}

async function unlessInUse<O>(email: string, act: () => Promise<O>): Promise<O | Conflict> {
  try {
    return await act();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return conflict(`A user of your organization has the e-mail ${shownEmail(email)} already. Use another one.`);
  }
}
