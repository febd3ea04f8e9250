import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { GroupRole, GroupRoleRule, NewPeopleRole } from '../../domain/people/single-sign-on.ts';
import { GROUP_ROLES, NEW_PEOPLE_ROLES } from '../../domain/people/single-sign-on.ts';
import type { Transaction } from '../sql/database.ts';

export type SsoConnectionRecord = {
  readonly organizationId: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Encrypted. */
  readonly clientSecret: Uint8Array;
  /** `null` if new people get no account. */
  readonly newPeopleRole: NewPeopleRole | null;
  /** Empty: roles do not follow groups. */
  readonly groupsClaim: string;
  readonly groupRoles: readonly GroupRoleRule[];
  /** `null` if passwords work, too. */
  readonly enforcedAt: Date | null;
  readonly breakGlassUserId: string | null;
};

/** `null` if the organization has none. */
export async function findSsoConnection(
  tx: Transaction,
  { organizationId }: OrganizationScope,
): Promise<SsoConnectionRecord | null> {
  const row = await tx.ssoConnection.findUnique({
    where: { organizationId },
    include: { groupRoles: { orderBy: { groupName: 'asc' } } },
  });
  if (row === null) return null;
  // Checks of the tables let no other role exist.
  const newPeopleRole = NEW_PEOPLE_ROLES.find((role) => role === row.newPeopleRole) ?? null;
  const groupRoles = row.groupRoles.flatMap(({ groupName, role }) => {
    const groupRole = groupRoleOf(role);
    return groupRole === null ? [] : [{ groupName, role: groupRole }];
  });
  return { ...row, newPeopleRole, groupRoles };
}

export function groupRoleOf(role: string | null): GroupRole | null {
  return GROUP_ROLES.find((each) => each === role) ?? null;
}

/** Locks the connection until the transaction ends. `null` if the organization has none. */
export async function lockSsoConnection(
  tx: Transaction,
  scope: OrganizationScope,
): Promise<SsoConnectionRecord | null> {
  await tx.$queryRaw`select 1 from sso_connections where organization_id = ${scope.organizationId}::uuid for update`;
  return findSsoConnection(tx, scope);
}

/** Keeps the connection as it is until the transaction ends. `null` if the organization has none. */
export async function shareSsoConnection(
  tx: Transaction,
  scope: OrganizationScope,
): Promise<SsoConnectionRecord | null> {
  await tx.$queryRaw`select 1 from sso_connections where organization_id = ${scope.organizationId}::uuid for share`;
  return findSsoConnection(tx, scope);
}

/** `clientSecret`: encrypted. */
export type NewSsoConnection = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Uint8Array<ArrayBuffer>;
};

export async function saveSsoConnection(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { issuer, clientId, clientSecret }: NewSsoConnection,
): Promise<void> {
  const data = { issuer, clientId, clientSecret };
  await tx.ssoConnection.upsert({
    where: { organizationId },
    create: { organizationId, ...data },
    update: data,
    select: { organizationId: true },
  });
}

/** Also forgets who the people are at the provider. Returns false if there was no connection. */
export async function deleteSsoConnection(tx: Transaction, { organizationId }: OrganizationScope): Promise<boolean> {
  return (await tx.ssoConnection.deleteMany({ where: { organizationId } })).count === 1;
}

export type SsoRules = Pick<SsoConnectionRecord, 'newPeopleRole' | 'groupsClaim' | 'groupRoles'>;

/** Throws if there is no connection. */
export async function setSsoRules(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { newPeopleRole, groupsClaim, groupRoles }: SsoRules,
): Promise<void> {
  const data = { newPeopleRole, groupsClaim };
  await tx.ssoConnection.update({ where: { organizationId }, data, select: { organizationId: true } });
  await tx.ssoGroupRole.deleteMany({ where: { organizationId } });
  await tx.ssoGroupRole.createMany({ data: groupRoles.map((rule) => ({ organizationId, ...rule })) });
}

/** Both `null`: passwords work, too. Throws if there is no connection. */
export async function setSsoEnforced(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  enforced: { readonly enforcedAt: Date; readonly breakGlassUserId: string } | null,
): Promise<void> {
  const data = enforced ?? { enforcedAt: null, breakGlassUserId: null };
  await tx.ssoConnection.update({ where: { organizationId }, data, select: { organizationId: true } });
}

/** What enforced single sign-on demands; `null` where it is not enforced. */
export type SsoEnforcement = { readonly breakGlassUserId: string };

/** Within a transaction, it stays so until the commit: nobody can be signed in by what is not allowed any more. */
export async function findSsoEnforcement(
  tx: Transaction,
  { organizationId }: OrganizationScope,
): Promise<SsoEnforcement | null> {
  const [row] = await tx.$queryRaw<{ breakGlassUserId: string | null }[]>`
    select break_glass_user_id as "breakGlassUserId" from sso_connections
    where organization_id = ${organizationId}::uuid for share`;
  return row === undefined || row.breakGlassUserId === null ? null : { breakGlassUserId: row.breakGlassUserId };
}
