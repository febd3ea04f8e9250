import { type AccessLinkKind, isLinkOpen, mayMakerManage } from '../domain/access-link.ts';
import type { Actor, Trace } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import { OrganizationScope } from '../domain/organization-scope.ts';
import { passwordCharacters } from '../domain/password.ts';
import { normalEmail } from '../domain/person.ts';
import { hashToken } from '../domain/session.ts';
import { useAccessLink, voidAccessLinksOf } from '../store/access-links.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { getOrganization } from '../store/organizations.ts';
import { findAccessLinkByHash, findCredentials } from '../store/unscoped.ts';
import { type LockedUser, lockUser, lockUsers } from '../store/users.ts';
import { type ByForm, claimForm } from './form-claim.ts';
import { type AccessLink, addLink } from './make-link.ts';
import { hashPassword, refuseWeakPassword, replacePassword } from './password.ts';
import { lockToManage } from './people-authority.ts';

/** A link to pass on. It replaces the user's earlier ones, and works only while its maker may manage the user. */
export async function makeLink(
  db: Database,
  actor: Actor,
  { userId, kind, formId, now = new Date() }: ByForm & { userId: string; kind: AccessLinkKind; now?: Date },
): Promise<AccessLink> {
  return transaction(db, async (tx) => {
    await claimForm(tx, actor.scope, { formId });
    const { actor: maker, target } = await lockToManage(tx, actor, userId);
    refuseUnfit(target, kind);
    await voidAccessLinksOf(tx, actor.scope, target.id);
    const link = await addLink(tx, actor.scope, { user: target, kind, madeByUserId: maker.id, now });
    await recordAudit(tx, actor.scope, { ...linkMade(link), actorUserId: maker.id, trace: actor.trace });
    return link;
  });
}

/** The operator's: an invitation for whoever has no password yet, else a reset; by the command, or for the first administrator. */
export async function makeOperatorLink(db: Database, email: string, now: Date = new Date()): Promise<AccessLink> {
  const address = normalEmail(email);
  const found = address === null ? null : await findCredentials(db, address);
  if (found === null) throw new DomainError('not_found', `There is no user with the e-mail ${email}.`);
  const scope = OrganizationScope.grant(found.organizationId);
  return transaction(db, async (tx) => {
    const user = await lockUser(tx, scope, found.userId);
    if (user === null) throw new DomainError('not_found', `There is no user with the e-mail ${email}.`);
    const kind = user.passwordHash === null ? 'invitation' : 'password_reset';
    refuseUnfit(user, kind);
    await voidAccessLinksOf(tx, scope, user.id);
    const link = await addLink(tx, scope, { user, kind, madeByUserId: null, now });
    await recordAudit(tx, scope, { ...linkMade(link), actorUserId: null, trace: null });
    return link;
  });
}

/** The user's own, for nobody but the user's mailbox: anybody can ask for it, so it voids no other link. Null: nobody to send it to. */
export async function makeOwnLink(
  db: Database,
  { email, trace, now }: { email: string; trace: Trace; now: Date },
): Promise<(AccessLink & { organizationName: string }) | null> {
  const found = await findCredentials(db, email);
  if (found === null) return null;
  const scope = OrganizationScope.grant(found.organizationId);
  return transaction(db, async (tx) => {
    const user = await lockUser(tx, scope, found.userId);
    if (user === null || user.deactivatedAt !== null) return null;
    const link = await addLink(tx, scope, { user, kind: 'password_reset', madeByUserId: null, now });
    const detail = { by: 'somebody who asked for it at the sign-in' };
    await recordAudit(tx, scope, { ...linkMade(link), actorUserId: null, detail, trace });
    return { ...link, organizationName: (await getOrganization(tx, scope)).name };
  });
}

function linkMade({ kind, userId }: AccessLink) {
  if (kind === 'password_reset') return { act: 'user.reset_link_made', targetUserId: userId } as const;
  return { act: 'user.invited', targetUserId: userId, detail: { link: 'new' } } as const;
}

function refuseUnfit(user: LockedUser, kind: AccessLinkKind): void {
  if (user.deactivatedAt !== null)
    throw new DomainError('conflict', `${user.email} is deactivated. Reactivate the user first.`);
  if (kind === 'invitation' && user.passwordHash !== null)
    throw new DomainError('conflict', `${user.email} has accepted an invitation already. Make a reset link instead.`);
  if (kind === 'password_reset' && user.passwordHash === null)
    throw new DomainError('conflict', `${user.email} has no password yet. Make an invitation link instead.`);
}

export type OpenLink = {
  readonly kind: AccessLinkKind;
  readonly name: string;
  readonly email: string;
  readonly organizationName: string;
  /** Characters that the new password must have at least. */
  readonly passwordCharacters: number;
};

/** What a link is for; null: it is none, or it was used, voided or is past its time. Looking at it does not use it. */
export async function openLink(db: Database, token: string, now: Date = new Date()): Promise<OpenLink | null> {
  const link = await findOpen(db, token, now);
  if (link === null) return null;
  const { kind, name, email, organizationName, hasSecondFactor } = link;
  return { kind, name, email, organizationName, passwordCharacters: passwordCharacters(hasSecondFactor) };
}

async function findOpen(db: Database, token: string, now: Date) {
  const tokenHash = hashToken(token);
  const link = tokenHash === null ? null : await findAccessLinkByHash(db, tokenHash);
  return tokenHash !== null && link !== null && isLinkOpen(link, now) ? { ...link, tokenHash } : null;
}

/**
 * Sets the password, once a link: of many that come at once, one does. A password that is too weak does not use the link up.
 * It signs nobody in, so that a second factor is asked for as ever.
 */
export async function setPassword(
  db: Database,
  { token, password, trace, now = new Date() }: { token: string; password: string; trace: Trace; now?: Date },
): Promise<{ userId: string; email: string }> {
  const link = await findOpen(db, token, now);
  if (link === null) throw noSuchLink();
  refuseWeakPassword(password, link);
  const passwordHash = await hashPassword(password);
  const scope = OrganizationScope.grant(link.organizationId);
  await transaction(db, async (tx) => {
    const makerId = link.maker?.userId ?? link.userId;
    const users = await lockUsers(tx, scope, [...new Set([link.userId, makerId])]);
    const user = users.get(link.userId);
    const maker = link.maker === null ? null : (users.get(makerId) ?? link.maker);
    if (user === undefined || user.deactivatedAt !== null || !mayMakerManage(maker, user.role)) throw noSuchLink();
    // The factor may have been removed since the page was opened; then a longer password is due.
    refuseWeakPassword(password, { ...link, hasSecondFactor: user.totpSince !== null });
    if (!(await useAccessLink(tx, scope, { tokenHash: link.tokenHash, at: now }))) throw noSuchLink();
    await replacePassword(tx, scope, { user, passwordHash });
    const detail = { by: link.kind === 'invitation' ? 'invitation link' : 'reset link' };
    await recordAudit(tx, scope, {
      ...{ act: 'user.password_set', actorUserId: user.id, targetUserId: user.id, detail, trace },
    });
  });
  return { userId: link.userId, email: link.email };
}

function noSuchLink(): DomainError {
  return new DomainError('not_found', 'This link was used before, or is past its time. Ask for a new one.');
}
