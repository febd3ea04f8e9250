import type { OrganizationScope } from './organization-scope.ts';
import type { Role } from './role.ts';

/** Where a request of the dashboard came from, for the audit log. */
export type Trace = {
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
};

/**
 * Who is signed in, as the session knew it when the request began. It serves for showing a page; an act re-reads and
 * locks the person's row in its own transaction and decides from that.
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
  readonly trace: Trace;
};

/** Whoever has the admin command, or the demonstration: no user, bound by no role, and audited as nobody. */
export type Operator = { readonly kind: 'operator' };

/** An operator at work on one organization. */
export type OperatorInScope = Operator & { readonly scope: OrganizationScope };

export type Doer = Actor | OperatorInScope;

export function isOperator(doer: Doer): doer is OperatorInScope {
  return 'kind' in doer;
}
