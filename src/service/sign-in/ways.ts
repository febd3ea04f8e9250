import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { deleteExpiredSsoSignIns, deleteSsoIdentity } from '../../store/people/single-sign-on.ts';
import type { Deletion } from '../../store/sql/chunks.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { canAdmit, doRolesFollowGroups, explainForeignDomain } from './single-sign-on/rules.ts';

/** The rules that a way to sign in at an identity provider adds to those of accounts. */
type ProviderWay = {
  /**
   * Returns a message that says why the provider could not admit a person with this e-mail, and what to do; `null` if it could.
   */
  readonly explainForeignDomain: (tx: Transaction, scope: OrganizationScope, email: string) => Promise<string | null>;
  /** Returns whether a user with this e-mail may sign in at the provider instead of setting a password. */
  readonly canAdmit: (tx: Transaction, scope: OrganizationScope, email: string) => Promise<boolean>;
  /** Returns whether a sign-in at the provider can change the role of a user. */
  readonly doRolesFollowGroups: (tx: Transaction, scope: OrganizationScope) => Promise<boolean>;
  /** Unlinks the user from the person at the provider. */
  readonly unlink: (tx: Transaction, scope: OrganizationScope, userId: string) => Promise<unknown>;
  /** Deletes the expired rows of sign-ins that were begun but not completed. Returns their number. */
  readonly deleteExpired: (db: Database, deletion: Deletion) => Promise<number>;
};

/**
 * The ways to sign in at an identity provider. Other services use single sign-on only through this list. If the list is empty,
 * nobody signs in at a provider, and an organization that requires single sign-on still refuses passwords.
 */
export const PROVIDER_WAYS: readonly ProviderWay[] = [
  {
    explainForeignDomain,
    canAdmit,
    doRolesFollowGroups,
    unlink: deleteSsoIdentity,
    deleteExpired: deleteExpiredSsoSignIns,
  },
];
