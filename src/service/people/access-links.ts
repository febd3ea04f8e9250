import type { Actor, AuditSource } from '../../domain/audit/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { type AccessLinkKind, isLinkOpen, linkUrl, mayMakerManage } from '../../domain/people/access-link.ts';
import { normalEmail, shownEmail } from '../../domain/people/email.ts';
import { passwordCharacters } from '../../domain/people/password.ts';
import { hashToken } from '../../domain/people/session.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { getOrganization } from '../../store/organizations/organizations.ts';
import { useAccessLink, voidAccessLinksOf } from '../../store/people/access-links.ts';
import { type LockedUser, lockUser, lockUsers } from '../../store/people/users.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import { isUniqueViolation } from '../../store/sql/database-errors.ts';
import { findAccessLinkByHash, findCredentials, type Invited, listInvited } from '../../store/unscoped/people.ts';
import { checkActive, lockToManage } from '../authority/people.ts';
import { getSignInWay } from '../authority/sign-in-ways.ts';
import type { Outbox } from '../mail.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  claimForm,
  conflict,
  DONE,
  type Done,
  errorOf,
  type Invalid,
  type OneTimeForm,
  type RateLimited,
  recordAct,
  runAction,
  unlessMoving,
} from '../outcome.ts';
import { consumeAttempt } from '../sign-in/attempt-limits.ts';
import {
  type AccessLink,
  checkPassword,
  hashPassword,
  insertLink,
  type LinkMade,
  replacePassword,
} from '../sign-in/password.ts';
import { checkAcceptance } from '../sign-in/verified-domains.ts';
import { checkDomainOfUser, PROVIDER_WAYS } from '../sign-in/ways.ts';
import { existingAccountConflict } from './invitations.ts';
import { linkMail, type MailedLink } from './link-mail.ts';

/**
 * Creates a link that the actor gives to the user. Voids the user's earlier links. The link works only while the actor may manage
 * the user.
 */
export async function createLink(
  db: Database,
  actor: Actor,
  { userId, kind, formId, now = new Date() }: OneTimeForm & { userId: string; kind: AccessLinkKind; now?: Date },
): Promise<LinkMade | Conflict | AlreadySent> {
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, actor.scope, { formId }))) return ALREADY_SENT;
    const { current, target } = await lockToManage(tx, actor, userId);
    // An intruder who finds an open session must not be able to take over the account without its password.
    if (target.id === current.id) return conflict('Change your own password under My profile.');
    const unfit = await checkLinkFits(tx, actor.scope, { user: target, kind });
    if (unfit !== null) return unfit;
    await voidAccessLinksOf(tx, actor.scope, target.id);
    const link = await insertLink(tx, actor.scope, { user: target, kind, madeByUserId: current.id, now });
    await recordAct(tx, actor, eventOf(link));
    return { kind: 'link-made', link };
  });
}

/**
 * Creates a link that an operator gives to the user: an invitation if the user has no password yet, otherwise a password reset.
 */
export async function createOperatorLink(
  db: Database,
  scope: OrganizationScope,
  { userId, now = new Date() }: { readonly userId: string; readonly now?: Date },
): Promise<AccessLink> {
  return transaction(db, async (tx) => {
    const user = await lockUser(tx, scope, userId);
    if (user === null) throw new DomainError('not_found', 'The user has just been removed.');
    const kind = user.passwordHash === null ? 'invitation' : 'password_reset';
    const unfit = await checkLinkFits(tx, scope, { user, kind });
    if (unfit !== null) throw errorOf(unfit);
    await voidAccessLinksOf(tx, scope, user.id);
    const link = await insertLink(tx, scope, { user, kind, madeByUserId: null, now });
    await recordAudit(tx, scope, { ...eventOf(link), actorUserId: null, auditSource: null });
    return link;
  });
}

type OwnRequest = { readonly email: string; readonly auditSource: AuditSource; readonly now: Date };

/**
 * Creates reset links to be mailed to the user's own mailbox: one for the account with the e-mail or, if there is no account, one
 * for each invitation. Anybody can request such links, so they do not void other links.
 */
export async function createOwnLinks(db: Database, request: OwnRequest): Promise<MailedLink[]> {
  const account = await findCredentials(db, request.email);
  const found = account === null ? await listInvited(db, request.email) : [account];
  const links: MailedLink[] = [];
  for (const user of found) {
    const link = await createOwnLink(db, { ...request, ...user });
    if (link !== null) links.push(link);
  }
  return links;
}

/** Creates a reset link. Returns `null` if the link would be useless to the user, or the organization is moving. */
async function createOwnLink(
  db: Database,
  { organizationId, userId, auditSource, now }: OwnRequest & Invited,
): Promise<MailedLink | null> {
  const scope = OrganizationScope.grant(organizationId);
  return unlessMoving(null, () =>
    transaction(db, async (tx) => {
      const user = await lockUser(tx, scope, userId);
      if (user === null || user.deactivatedAt !== null) return null;
      const refusal = (await checkAcceptance(tx, scope, user)) ?? (await checkDomainOfUser(tx, scope, user));
      if (refusal !== null) return null;
      const link = await insertLink(tx, scope, { user, kind: 'password_reset', madeByUserId: null, now });
      const detail = { by: 'somebody who asked for it at the sign-in' };
      await recordAudit(tx, scope, { ...eventOf(link), actorUserId: null, detail, auditSource });
      const isToProvider = (await getSignInWay(tx, scope, user.id)) === 'single-sign-on';
      return { ...link, organizationName: (await getOrganization(tx, scope)).name, isToProvider };
    }),
  );
}

function eventOf({ kind, userId }: AccessLink) {
  if (kind === 'password_reset') return { action: 'user.reset_link_made', targetUserId: userId } as const;
  return { action: 'user.invited', targetUserId: userId, detail: { link: 'new' } } as const;
}

/** Returns a refusal if the user cannot get a link of this kind. */
async function checkLinkFits(
  tx: Transaction,
  scope: OrganizationScope,
  { user, kind }: { readonly user: LockedUser; readonly kind: AccessLinkKind },
): Promise<Conflict | null> {
  const inactive = checkActive(user);
  if (inactive !== null) return inactive;
  if (kind === 'invitation' && user.passwordHash !== null)
    return conflict(`${shownEmail(user.email)} has accepted an invitation already. Make a reset link instead.`);
  if (kind === 'password_reset' && user.passwordHash === null)
    return conflict(`${shownEmail(user.email)} has no password yet. Make an invitation link instead.`);
  return (await checkAcceptance(tx, scope, user)) ?? checkDomainOfUser(tx, scope, user);
}

export type OpenLink = {
  readonly organizationId: string;
  readonly kind: AccessLinkKind;
  readonly name: string;
  readonly email: string;
  readonly organizationName: string;
  /** The minimum length of the new password. */
  readonly passwordCharacters: number;
  /** Whether the user can, or must, sign in at the identity provider instead of setting a password. */
  readonly singleSignOn: 'no' | 'possible' | 'required';
};

/**
 * Returns the purpose of a link, or `null` if the link does not exist, was used or voided, or has expired. Opening a link does
 * not use it up.
 */
export async function openLink(db: Database, token: string, now: Date = new Date()): Promise<OpenLink | null> {
  const link = await findOpen(db, token, now);
  if (link === null) return null;
  const { kind, name, email, organizationId, organizationName, hasSecondFactor } = link;
  const scope = OrganizationScope.grant(organizationId);
  const admissions = await Promise.all(PROVIDER_WAYS.map((way) => way.canAdmit(db.prisma, scope, email)));
  const isRequired = (await getSignInWay(db.prisma, scope, link.userId)) === 'single-sign-on';
  return {
    kind,
    name,
    email,
    organizationId,
    organizationName,
    passwordCharacters: passwordCharacters(hasSecondFactor),
    singleSignOn: isRequired ? 'required' : admissions.includes(true) ? 'possible' : 'no',
  };
}

async function findOpen(db: Database, token: string, now: Date) {
  const tokenHash = hashToken(token);
  const link = tokenHash === null ? null : await findAccessLinkByHash(db, tokenHash);
  return tokenHash !== null && link !== null && isLinkOpen(link, now) ? { ...link, tokenHash } : null;
}

/** The refusal of a link that was used or voided, or has expired. */
export type DeadLink = { readonly kind: 'dead-link' };
const DEAD_LINK: DeadLink = { kind: 'dead-link' };

/**
 * Sets the password of the link's user. A link works once, even under concurrent requests; a refused password does not use it up.
 * The user is not signed in, so the next sign-in still asks for a second factor.
 */
export async function setPassword(
  db: Database,
  {
    token,
    password,
    auditSource,
    now = new Date(),
  }: { token: string; password: string; auditSource: AuditSource; now?: Date },
): Promise<Done | Invalid | Conflict | DeadLink> {
  const link = await findOpen(db, token, now);
  if (link === null) return DEAD_LINK;
  const weakness = checkPassword(password, link);
  if (weakness !== null) return weakness;
  const passwordHash = await hashPassword(password);
  const scope = OrganizationScope.grant(link.organizationId);
  return acceptOnce(link.email, () =>
    runAction(db, async (tx) => {
      const makerId = link.maker?.userId ?? link.userId;
      const users = await lockUsers(tx, scope, [...new Set([link.userId, makerId])]);
      const user = users.get(link.userId);
      const maker = link.maker === null ? null : (users.get(makerId) ?? link.maker);
      if (user === undefined || user.deactivatedAt !== null || !mayMakerManage(maker, user.role)) return DEAD_LINK;
      if ((await getSignInWay(tx, scope, user.id)) === 'single-sign-on') return DEAD_LINK;
      // Without a second factor the password must be longer, and the second factor may have been removed since the page was
      // opened.
      const tooWeakNow = checkPassword(password, { ...link, hasSecondFactor: user.totpSince !== null });
      if (tooWeakNow !== null) return tooWeakNow;
      const refusal = await checkAcceptance(tx, scope, user);
      if (refusal !== null) return refusal;
      if (!(await useAccessLink(tx, scope, { tokenHash: link.tokenHash, at: now }))) return DEAD_LINK;
      await replacePassword(tx, scope, { user, passwordHash, keptSession: null });
      await recordAudit(tx, scope, {
        action: 'user.password_set',
        actorUserId: user.id,
        targetUserId: user.id,
        detail: { by: link.kind === 'invitation' ? 'invitation link' : 'reset link' },
        auditSource,
      });
      return DONE;
    }),
  );
}

/** Calls `accept`. Returns a refusal if an account in another organization has taken the e-mail since the invitation. */
async function acceptOnce<O>(email: string, accept: () => Promise<O>): Promise<O | Conflict> {
  try {
    return await accept();
  } catch (error) {
    if (isUniqueViolation(error)) return existingAccountConflict(email);
    throw error;
  }
}

export type ResetDeps = { outbox: Outbox; publicUrl: string };

/**
 * Mails a reset link to the owner of an account who forgot the password. The link is created in the background, so that neither
 * the result nor the response time reveals whether the e-mail has an account. From one network, each e-mail can be given three
 * times an hour, whether or not it has an account.
 */
export async function requestReset(
  db: Database,
  { email, auditSource, now = new Date() }: { email: string; auditSource: AuditSource; now?: Date },
  { outbox, publicUrl }: ResetDeps,
): Promise<Done | RateLimited> {
  const address = normalEmail(email);
  const admission = await consumeAttempt(db, { at: 'reset-request', account: address ?? email, ip: auditSource.ip });
  if (admission.kind === 'rate-limited') return admission;
  if (address === null || !outbox.canSend) return DONE;
  outbox.later(async () => {
    for (const link of await createOwnLinks(db, { email: address, auditSource, now }))
      await outbox.send(linkMail({ ...link, url: linkUrl(publicUrl, link.token) }));
  });
  return DONE;
}
