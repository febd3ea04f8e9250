import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { deleteExpiredSsoSignIns, deleteSsoIdentity } from '../../store/people/single-sign-on.ts';
import type { Deletion } from '../../store/sql/chunks.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { canAdmit, doRolesFollowGroups, explainForeignDomain } from './single-sign-on/rules.ts';

/** What a way to sign in at an identity provider adds to the rules of accounts. */
type ProviderWay = {
  /** Says why the provider could not admit a person with this e-mail, and the remedy; `null` if it could. */
  readonly explainForeignDomain: (tx: Transaction, scope: OrganizationScope, email: string) => Promise<string | null>;
  /** Whether a user with this e-mail may sign in at the provider instead of setting a password. */
  readonly canAdmit: (tx: Transaction, scope: OrganizationScope, email: string) => Promise<boolean>;
  /** Whether a sign-in at the provider can change the role of a user. */
  readonly doRolesFollowGroups: (tx: Transaction, scope: OrganizationScope) => Promise<boolean>;
  /** Ends the link between the user and the person at the provider. */
  readonly unlink: (tx: Transaction, scope: OrganizationScope, userId: string) => Promise<unknown>;
  /** Deletes the expired rows of sign-ins that have begun. Returns how many. */
  readonly deleteExpired: (db: Database, deletion: Deletion) => Promise<number>;
};

/**
 * The ways to sign in at an identity provider. Services learn of single sign-on only here. If the list is empty, nobody signs in at a
 * provider, and an organization that requires single sign-on still refuses passwords.
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
