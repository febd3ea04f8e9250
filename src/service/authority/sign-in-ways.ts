import type { Actor } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { shownEmail } from '../../domain/people/email.ts';
import type { WaysIn } from '../../domain/people/ways-in.ts';
import { findSsoEnforcement, getWaysIn } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { type Conflict, conflict } from '../outcome.ts';

/**
 * How a user may sign in. "free": by any means. "single-sign-on": at the identity provider only. "break-glass": the user is the
 * one administrator who may still use a password, for emergencies, although everybody else must use single sign-on.
 */
export type SignInWay = 'free' | 'single-sign-on' | 'break-glass';

/**
 * The refusal of a user who has proved who they are, but whose organization requires single sign-on. This refusal must not be
 * shown before the proof.
 */
export type SingleSignOnRequired = {
  readonly kind: 'single-sign-on-required';
  readonly organizationId: string;
  readonly email: string;
};

/** The reason for a refused sign-in, as the audit log shows it. */
export const WHY_REQUIRED = 'the organization requires single sign-on';

/** Returns how a user may sign in. `userId` is `null` for a person without an account. */
export async function getSignInWay(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string | null,
): Promise<SignInWay> {
  const enforcement = await findSsoEnforcement(tx, scope);
  if (enforcement === null) return 'free';
  return enforcement.breakGlassUserId === userId ? 'break-glass' : 'single-sign-on';
}

/**
 * Returns whether a user of the organization can sign in at the identity provider only. `userId` is `null` for a person who is
 * about to be invited.
 */
export async function isSingleSignOnRequired(
  { prisma }: Database,
  { scope }: Actor,
  userId: string | null,
): Promise<boolean> {
  return (await getSignInWay(prisma, scope, userId)) === 'single-sign-on';
}

export type OwnWaysIn = WaysIn & {
  /** Whether the user may sign in with a password, whether or not the user has a password. */
  readonly mayUsePassword: boolean;
};

export async function getOwnWaysIn(db: Database, actor: Actor): Promise<OwnWaysIn> {
  const ways = await getWaysIn(db.prisma, actor.scope, actor.userId);
  return { ...ways, mayUsePassword: !(await isSingleSignOnRequired(db, actor, actor.userId)) };
}

export const NO_PASSWORD =
  'Your organization requires single sign-on, so you need no password and no second factor here.';

/**
 * Returns a refusal if the user may not sign in with a password, because a new password or second factor would then be useless.
 */
export async function checkPasswordAllowed(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string,
): Promise<Conflict | null> {
  const way = await getSignInWay(tx, scope, userId);
  return way === 'single-sign-on' ? conflict(NO_PASSWORD) : null;
}

/**
 * Returns a refusal if the user is the break-glass administrator, whom the organization needs while single sign-on is required.
 */
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
