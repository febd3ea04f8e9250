import type { KeyNotice } from '../keys/key-notice.ts';
import type { OrganizationScope } from '../organizations/organization-scope.ts';
import type { Role } from '../people/role.ts';

/** Where an action came from, for the audit log. */
export type AuditSource = {
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
};

/**
 * The signed-in user, as read when the request began. Good enough for showing a page; an action reads and locks the user's
 * row in its own transaction and decides from that.
 */
export type Actor = {
  readonly scope: OrganizationScope;
  readonly userId: string;
  readonly role: Role;
  readonly name: string;
  readonly email: string;
  readonly organizationName: string;
  readonly isSuspended: boolean;
  readonly hasSecondFactor: boolean;
  /** The number of webhook endpoints of the organization that Charter itself has disabled. */
  readonly endpointsDisabledByCharter: number;
  /** The user owns an integration of the organization. */
  readonly ownsIntegrations: boolean;
  /** For an administrator: an active integration of the organization has no active owner. */
  readonly lacksOwners: boolean;
  /** The open notices about the keys of the user and of the integrations that the user owns, the next end first. */
  readonly keyNotices: readonly KeyNotice[];
  readonly auditSource: AuditSource;
};

/** The admin command or the demonstration: not a user, bound by no role, and without a name in the audit log. */
export type Operator = { readonly kind: 'operator' };

/** An operator acting on one organization. */
export type OperatorInScope = Operator & { readonly scope: OrganizationScope };

export type ActorOrOperator = Actor | OperatorInScope;

export function isOperator(actor: ActorOrOperator): actor is OperatorInScope {
  return 'kind' in actor;
}
