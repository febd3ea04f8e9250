import type { Actor } from '../../domain/actor.ts';
import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { domainOfEmail } from '../../domain/single-sign-on.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { findSsoEnforcement } from '../../store/sso-connections.ts';
import { listSsoDomains } from '../../store/sso-domains.ts';
import { findWaysIn, type WaysIn } from '../../store/users.ts';
import { type Conflict, conflict, type Invalid, invalid } from '../outcome.ts';

/**
 * How a user may sign in: freely, by single sign-on alone, or, as the one administrator for emergencies, by a password although
 * everybody else may not.
 */
export type SignInWay = 'free' | 'single-sign-on' | 'break-glass';

/** Somebody proved who they are, but their organization requires single sign-on. Only who has proved it may be told. */
export type SingleSignOnRequired = {
  readonly kind: 'single-sign-on-required';
  readonly organizationId: string;
  readonly email: string;
};

/** For the audit log. */
export const WHY_REQUIRED = 'the organization requires single sign-on';

/** `userId`: `null` for somebody who has no account yet. */
export async function signInWayOf(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string | null,
): Promise<SignInWay> {
  const enforcement = await findSsoEnforcement(tx, scope);
  if (enforcement === null) return 'free';
  return enforcement.breakGlassUserId === userId ? 'break-glass' : 'single-sign-on';
}

/** Whether a user of the actor's organization can sign in at the provider only; `userId`: `null` for one who is to be invited. */
export async function isSingleSignOnRequired(
  { prisma }: Database,
  { scope }: Actor,
  userId: string | null,
): Promise<boolean> {
  return (await signInWayOf(prisma, scope, userId)) === 'single-sign-on';
}

/** The actor's own ways to sign in. `mayUsePassword`: whether a password is accepted, if there is one. */
export async function findOwnWaysIn(db: Database, actor: Actor): Promise<WaysIn & { mayUsePassword: boolean }> {
  const ways = await findWaysIn(db.prisma, actor.scope, actor.userId);
  return { ...ways, mayUsePassword: !(await isSingleSignOnRequired(db, actor, actor.userId)) };
}

/** Refuses to set up what nobody could sign in with. */
export async function refusePasswords(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string,
): Promise<Conflict | null> {
  const way = await signInWayOf(tx, scope, userId);
  return way === 'single-sign-on'
    ? conflict('Your organization requires single sign-on, so you have no password and no second factor here.')
    : null;
}

/** Refuses to invite somebody whom the provider could not let in. */
export async function refuseForeignEmail(
  tx: Transaction,
  scope: OrganizationScope,
  email: string,
): Promise<Invalid | null> {
  if ((await findSsoEnforcement(tx, scope)) === null) return null;
  const verified = (await listSsoDomains(tx, scope)).flatMap(({ domain, verifiedAt }) => (verifiedAt ? [domain] : []));
  if (verified.includes(domainOfEmail(email))) return null;
  return invalid(
    'email',
    `must be of a verified domain (${verified.join(', ')}), because your organization requires single sign-on. An administrator can verify another one under Organization, Sign-in.`,
  );
}

/** Refuses to take the break-glass administrator away while single sign-on is required. */
export async function refuseForBreakGlass(
  tx: Transaction,
  scope: OrganizationScope,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<Conflict | null> {
  const way = await signInWayOf(tx, scope, id);
  return way === 'break-glass'
    ? conflict(`${email} is the break-glass administrator. Choose another one under Organization, Sign-in first.`)
    : null;
}
