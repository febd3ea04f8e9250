import type { Actor } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { deleteExpiredSsoSignIns, deleteSsoIdentity } from '../../store/people/single-sign-on.ts';
import { findSsoEnforcement, getWaysIn } from '../../store/people/users.ts';
import type { Deletion } from '../../store/sql/chunks.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { getSignInWay } from '../authority/sign-in-ways.ts';
import { type Conflict, conflict, type Invalid, invalid } from '../outcome.ts';
import * as singleSignOn from './single-sign-on/rules.ts';

/** The rules that a way to sign in at an identity provider adds to the rules of accounts. */
type ProviderWay = {
  /**
   * Returns a message that says why the provider could not admit a person with this e-mail, and what to do; `null` if it could.
   */
  readonly explainForeignDomain: (tx: Transaction, scope: OrganizationScope, email: string) => Promise<string | null>;
  /** Returns whether a user with this e-mail may sign in at the provider instead of setting a password. */
  readonly canAdmit: (tx: Transaction, scope: OrganizationScope, email: string) => Promise<boolean>;
  /** Returns whether a sign-in at the provider can change the role of a user. */
  readonly doRolesFollowGroups: (tx: Transaction, scope: OrganizationScope) => Promise<boolean>;
  readonly unlink: (tx: Transaction, scope: OrganizationScope, userId: string) => Promise<unknown>;
  /** Deletes the expired rows of sign-ins that were begun but not completed. Returns the number of deleted rows. */
  readonly deleteExpired: (db: Database, deletion: Deletion) => Promise<number>;
};

/**
 * The ways to sign in at an identity provider. Other services use single sign-on only through this list. If the list is empty,
 * nobody signs in at a provider, and an organization that requires single sign-on still refuses passwords.
 */
export const PROVIDER_WAYS: readonly ProviderWay[] = [
  {
    explainForeignDomain: singleSignOn.explainForeignDomain,
    canAdmit: singleSignOn.canAdmit,
    doRolesFollowGroups: singleSignOn.doRolesFollowGroups,
    unlink: deleteSsoIdentity,
    deleteExpired: deleteExpiredSsoSignIns,
  },
];

/** Returns a refusal if the identity provider could not admit a person with this e-mail, who is about to be invited. */
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

/**
 * Returns a message that says why no identity provider could admit a person with this e-mail, and what to do; `null` if a
 * provider could.
 */
async function explainForeignDomain(tx: Transaction, scope: OrganizationScope, email: string): Promise<string | null> {
  for (const way of PROVIDER_WAYS) {
    const reason = await way.explainForeignDomain(tx, scope, email);
    if (reason !== null) return reason;
  }
  return null;
}

/** Returns whether a sign-in at an identity provider can change the role of a manager, a member or a viewer. */
export async function doRolesFollowGroups({ prisma }: Database, { scope }: Actor): Promise<boolean> {
  const answers = await Promise.all(PROVIDER_WAYS.map((way) => way.doRolesFollowGroups(prisma, scope)));
  return answers.includes(true);
}
