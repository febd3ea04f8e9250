import type { KeyNotice } from '../keys/key-notice.ts';
import type { OrganizationScope } from '../organizations/organization-scope.ts';
import type { Permission, Role } from '../people/role.ts';
import type { JudgedSession } from '../people/session.ts';

export type AuditSource = {
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
};

/** A session with its user and its organization, read in one SQL query. */
export type SessionRecord = JudgedSession & {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly organizationSuspendedAt: Date | null;
  readonly organizationIsMoving: boolean;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly hasSecondFactor: boolean;
  /** The number of webhook endpoints of the organization that Charter itself has disabled. */
  readonly endpointsDisabledByCharter: number;
  readonly ownsIntegrations: boolean;
  /** Whether the user is an administrator and an active integration of the organization has no active owner. */
  readonly lacksOwners: boolean;
  /**
   * The open notices about keys of the user and of the user's integrations, ordered by the end of the key, the earliest first.
   */
  readonly keyNotices: readonly KeyNotice[];
  /** When the user last proved who they are; `null` if the second factor has not been given yet. */
  readonly provedAt: Date | null;
};

/**
 * The signed-in user, as read at the beginning of the request. These values are current enough to show a page. An action locks
 * the user's row in its own transaction, and uses the values of that row.
 */
export type Actor = Pick<
  SessionRecord,
  | 'userId'
  | 'role'
  | 'name'
  | 'email'
  | 'organizationName'
  | 'hasSecondFactor'
  | 'endpointsDisabledByCharter'
  | 'ownsIntegrations'
  | 'lacksOwners'
  | 'keyNotices'
> & {
  readonly scope: OrganizationScope;
  readonly isSuspended: boolean;
  readonly auditSource: AuditSource;
};

/**
 * The admin command or the demonstration. An operator is not a user: no role restricts an operator, and the audit log shows no
 * name.
 */
export type Operator = { readonly kind: 'operator' };

export type OperatorInScope = Operator & { readonly scope: OrganizationScope };

export type ActorOrOperator = Actor | OperatorInScope;

export function isOperator(actor: ActorOrOperator): actor is OperatorInScope {
  return 'kind' in actor;
}

/** The authenticated caller of the API: the key, its organization and its permissions. */
export type Caller = {
  readonly scope: OrganizationScope;
  readonly organizationName: string;
  /** The key that signs the organization's page cursors: encrypted, in hexadecimal. */
  readonly cursorKey: string;
  /** The organization's version, read together with the key. It changes with every change of the organization's data. */
  readonly organizationVersion: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: Date | null;
  /** The integration that holds the key; `null` if a person holds it. */
  readonly integration: { readonly id: string; readonly name: string } | null;
  /** Returns the address of the client, as addressIn returns it. Only writes need it. */
  readonly clientAddress: () => string | null;
};
