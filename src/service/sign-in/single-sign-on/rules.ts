import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { domainOfEmail } from '../../../domain/people/email.ts';
import {
  findSsoConnection,
  hasVerifiedSsoDomain,
  listSsoDomains,
  type SsoDomainRecord,
} from '../../../store/people/single-sign-on.ts';
import type { Transaction } from '../../../store/sql/database.ts';

// The rules that single sign-on adds to those of accounts. ways.ts calls these functions.

/** Returns a message that says that the domain of the e-mail is not verified, and what to do; `null` if it is verified. */
export async function explainForeignDomain(
  tx: Transaction,
  scope: OrganizationScope,
  email: string,
): Promise<string | null> {
  const verified = verifiedDomainsOf(await listSsoDomains(tx, scope));
  if (verified.includes(domainOfEmail(email))) return null;
  return `must be of a verified domain (${verified.join(', ')}), because your organization requires single sign-on. An administrator can verify another one under Organization, Sign-in.`;
}

export function verifiedDomainsOf(domains: readonly SsoDomainRecord[]): string[] {
  return domains.flatMap(({ domain, verifiedAt }) => (verifiedAt === null ? [] : [domain]));
}

/** Returns whether the organization has a connection, and has verified the domain of the e-mail. */
export async function canAdmit(tx: Transaction, scope: OrganizationScope, email: string): Promise<boolean> {
  return (await findSsoConnection(tx, scope)) !== null && (await hasVerifiedSsoDomain(tx, scope, domainOfEmail(email)));
}

/** Returns whether a sign-in by the connection can change the role of a manager, a member or a viewer. */
export async function doRolesFollowGroups(tx: Transaction, scope: OrganizationScope): Promise<boolean> {
  const connection = await findSsoConnection(tx, scope);
  return connection !== null && connection.groupRoles.length > 0;
}
