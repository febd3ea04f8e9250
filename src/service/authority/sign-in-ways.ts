import type { Actor } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { shownEmail } from '../../domain/people/email.ts';
import type { WaysIn } from '../../domain/people/ways-in.ts';
import { findSsoEnforcement, getWaysIn } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { type Conflict, conflict, type Invalid, invalid } from '../outcome.ts';
import { PROVIDER_WAYS } from '../sign-in/ways.ts';

/**
 * How a user may sign in: freely, by single sign-on alone, or, as the one administrator for emergencies, by a password although
 * everybody else may not.
 */
export type SignInWay = 'free' | 'single-sign-on' | 'break-glass';

/** The user proved who they are, but the organization requires single sign-on. This may be told only after the proof. */
export type SingleSignOnRequired = {
  readonly kind: 'single-sign-on-required';
  readonly organizationId: string;
  readonly email: string;
};

/** Why a sign-in is refused, as the audit log says it. */
export const WHY_REQUIRED = 'the organization requires single sign-on';

/** How a user may sign in; `userId` is `null` for a person without an account. */
export async function getSignInWay(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string | null,
): Promise<SignInWay> {
  const enforcement = await findSsoEnforcement(tx, scope);
  if (enforcement === null) return 'free';
  return enforcement.breakGlassUserId === userId ? 'break-glass' : 'single-sign-on';
}

/** Whether a user of the organization can sign in at the provider only; `userId` is `null` for a person who is to be invited. */
export async function isSingleSignOnRequired(
  { prisma }: Database,
  { scope }: Actor,
  userId: string | null,
): Promise<boolean> {
  return (await getSignInWay(prisma, scope, userId)) === 'single-sign-on';
}

export type OwnWaysIn = WaysIn & {
  /** Whether a password is accepted, if there is one. */
  readonly mayUsePassword: boolean;
};

/** The actor's own ways to sign in. */
export async function getOwnWaysIn(db: Database, actor: Actor): Promise<OwnWaysIn> {
  const ways = await getWaysIn(db.prisma, actor.scope, actor.userId);
  return { ...ways, mayUsePassword: !(await isSingleSignOnRequired(db, actor, actor.userId)) };
}

export const NO_PASSWORD =
  'Your organization requires single sign-on, so you need no password and no second factor here.';

/**
 * Returns a refusal if the user cannot sign in with a password, so that neither a password nor a second factor is set up in vain.
 */
export async function checkPasswordAllowed(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string,
): Promise<Conflict | null> {
  const way = await getSignInWay(tx, scope, userId);
  return way === 'single-sign-on' ? conflict(NO_PASSWORD) : null;
}

/** Returns a refusal if the provider could not admit a person with this e-mail, who is to be invited. */
export async function checkDomainOfEmail(
  tx: Transaction,
  scope: OrganizationScope,
  email: string,
): Promise<Invalid | null> {
  if ((await findSsoEnforcement(tx, scope)) === null) return null;
  const foreign = await explainForeignDomain(tx, scope, email);
  return foreign === null ? null : invalid('email', foreign);
}

/** Returns a refusal if an access link would be useless: the user can neither set a password nor be admitted by the provider. */
export async function checkDomainOfUser(
  tx: Transaction,
  scope: OrganizationScope,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<Conflict | null> {
  if ((await getSignInWay(tx, scope, id)) !== 'single-sign-on') return null;
  if ((await getWaysIn(tx, scope, id)).isLinked) return null;
  const foreign = await explainForeignDomain(tx, scope, email);
  return foreign === null ? null : conflict(`The e-mail ${shownEmail(email)} ${foreign}`);
}

/** Says why no provider could admit a person with this e-mail, and the remedy; `null` if there is no such reason. */
async function explainForeignDomain(tx: Transaction, scope: OrganizationScope, email: string): Promise<string | null> {
  for (const way of PROVIDER_WAYS) {
    const reason = await way.explainForeignDomain(tx, scope, email);
    if (reason !== null) return reason;
  }
  return null;
}

/** Returns a refusal if the user is the break-glass administrator, who must stay one while single sign-on is required. */
export async function checkBreakGlass(
  tx: Transaction,
  scope: OrganizationScope,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<Conflict | null> {
  const way = await getSignInWay(tx, scope, id);
  return way === 'break-glass'
    ? conflict(
        `${shownEmail(email)} is the break-glass administrator. Choose another one under Organization, Sign-in first.`,
      )
    : null;
}

/** Whether a sign-in at a provider can change the role of a manager, a member or a viewer. */
export async function doRolesFollowGroups({ prisma }: Database, { scope }: Actor): Promise<boolean> {
  const answers = await Promise.all(PROVIDER_WAYS.map((way) => way.doRolesFollowGroups(prisma, scope)));
  return answers.includes(true);
}
