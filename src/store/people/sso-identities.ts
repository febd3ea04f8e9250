import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Transaction } from '../sql/database.ts';

/** A person at the identity provider. */
export type SsoSubject = { readonly issuer: string; readonly subject: string };

/** The id of the user who is this person; `null` if nobody is. */
export async function findSsoUser(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { issuer, subject }: SsoSubject,
): Promise<string | null> {
  const where = { organizationId_issuer_subject: { organizationId, issuer, subject } };
  return (await tx.ssoIdentity.findUnique({ where, select: { userId: true } }))?.userId ?? null;
}

export async function hasSsoIdentity(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  userId: string,
): Promise<boolean> {
  return (await tx.ssoIdentity.count({ where: { organizationId, userId } })) === 1;
}

/** The user with this e-mail, in lower case, among the people of the organization; `null` if there is none. */
export async function findUserIdByEmail(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  email: string,
): Promise<string | null> {
  const where = { organizationId, email, kind: 'person' as const };
  return (await tx.user.findFirst({ where, select: { id: true } }))?.id ?? null;
}

/** Throws a unique violation if the user or the person is linked. */
export async function insertSsoIdentity(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  identity: SsoSubject & { readonly userId: string; readonly linkedAt: Date },
): Promise<void> {
  await tx.ssoIdentity.create({ data: { organizationId, ...identity }, select: { userId: true } });
}

/** Of all people of the organization. */
export async function deleteSsoIdentities(tx: Transaction, { organizationId }: OrganizationScope): Promise<void> {
  await tx.ssoIdentity.deleteMany({ where: { organizationId } });
}

/** Returns false if the user was not linked. */
export async function deleteSsoIdentity(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  userId: string,
): Promise<boolean> {
  return (await tx.ssoIdentity.deleteMany({ where: { organizationId, userId } })).count === 1;
}
