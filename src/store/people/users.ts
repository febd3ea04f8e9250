import type { User } from '../../../generated/prisma/client.ts';
import type { Holder } from '../../domain/keys/api-key.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Role } from '../../domain/people/role.ts';
import type { WaysIn } from '../../domain/people/ways-in.ts';
import type { Database, Transaction } from '../sql/database.ts';

export type NewUser = {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string | null;
  /**
   * Whether the user has accepted an invitation, which reserves the e-mail for the user. Default: `true` if there is a password.
   */
  readonly hasAccepted?: boolean;
};

/**
 * Inserts a user. Throws a unique violation if another user of the organization has the e-mail, or if both this user and a user
 * of any organization with the e-mail have accepted an invitation.
 */
export async function insertUser(tx: Transaction, scope: OrganizationScope, user: NewUser) {
  const { id, email, name, role, passwordHash, hasAccepted = passwordHash !== null } = user;
  const { organizationId } = scope;
  return tx.user.create({ data: { id, email, name, role, passwordHash, hasAccepted, organizationId } });
}

/** Deletes a person with their sessions, passkeys and links. No row may refer to the person (see `isReferenced`). */
export async function deleteUser(tx: Transaction, { organizationId }: OrganizationScope, id: string): Promise<void> {
  await tx.user.delete({ where: { organizationId_id: { organizationId, id }, kind: 'person' }, select: { id: true } });
}

/**
 * Returns whether keys, integrations, webhooks or links refer to the person, who can then not be deleted. The caller must have
 * locked the person.
 */
export async function isReferenced(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  id: string,
): Promise<boolean> {
  const [found] = await tx.$queryRaw<{ isReferenced: boolean }[]>`
    select exists (select from api_keys where organization_id = ${organizationId}::uuid
                   and ${id}::uuid in (user_id, moved_from_user_id, created_by_user_id, rotated_by_user_id, revoked_by_user_id))
        or exists (select from users where organization_id = ${organizationId}::uuid and owner_user_id = ${id}::uuid)
        or exists (select from webhook_endpoints
                   where organization_id = ${organizationId}::uuid and created_by_user_id = ${id}::uuid)
        or exists (select from access_links
                   where organization_id = ${organizationId}::uuid and made_by_user_id = ${id}::uuid) as "isReferenced"`;
  return found?.isReferenced === true;
}

/**
 * Locks the user until the transaction ends. Limits per user are checked under this lock, so only one transaction at a time
 * checks them. Returns `null` for an integration, which has neither a password nor sessions.
 */
export async function lockUser(tx: Transaction, scope: OrganizationScope, id: string): Promise<LockedUser | null> {
  return (await lockUsers(tx, scope, [id])).get(id) ?? null;
}

/** Locks users like lockHolders, but returns only people. */
export async function lockUsers(
  tx: Transaction,
  scope: OrganizationScope,
  ids: readonly string[],
): Promise<Map<string, LockedUser>> {
  return peopleOf(await lockHolders(tx, scope, ids));
}

function peopleOf(holders: ReadonlyMap<string, LockedHolder>): Map<string, LockedUser> {
  return new Map([...holders].flatMap(([id, holder]) => (holder.kind === 'person' ? [[id, holder]] : [])));
}

/**
 * Locks users and integrations until the transaction ends, always in the same order, so that transactions cannot deadlock.
 * Returns the users and integrations that exist, by id.
 */
export async function lockHolders(
  tx: Transaction,
  scope: OrganizationScope,
  ids: readonly string[],
): Promise<Map<string, LockedHolder>> {
  await tx.$queryRaw`
    select 1 from users where organization_id = ${scope.organizationId}::uuid and id = any(${ids}::uuid[])
    order by id for update`;
  const users = await tx.user.findMany({ where: { organizationId: scope.organizationId, id: { in: [...ids] } } });
  return new Map(users.map((user) => [user.id, holderOf(user)]));
}

export type LockedUser = Omit<User, 'kind' | 'email' | 'ownerUserId'> & {
  readonly kind: 'person';
  readonly email: string;
  readonly ownerUserId: null;
};
export type LockedIntegration = Omit<User, 'kind' | 'email' | 'ownerUserId'> & {
  readonly kind: 'integration';
  readonly email: null;
  readonly ownerUserId: string;
};
/** A user or an integration, which can have keys. */
export type LockedHolder = LockedUser | LockedIntegration;

/** Returns a row of `users` as a person or an integration. Check constraints of the table prevent other rows. */
function holderOf({ kind, email, ownerUserId, ...user }: User): LockedHolder {
  if (kind === 'person' && email !== null) return { ...user, kind, email, ownerUserId: null };
  if (kind === 'integration' && ownerUserId !== null) return { ...user, kind, email: null, ownerUserId };
  throw new Error(`The user ${user.id} is neither a person nor an integration.`);
}

/** Omitted fields stay unchanged. */
export type UserChange = {
  readonly role?: Role;
  readonly email?: string;
  readonly hasAccepted?: boolean;
  readonly passwordHash?: string | null;
  /** `null` reactivates the user. */
  readonly deactivatedAt?: Date | null;
  /** The encrypted secret; `null` removes the secret. */
  readonly totpSecret?: Uint8Array<ArrayBuffer> | null;
  readonly totpSince?: Date | null;
  readonly totpLastStep?: number;
  /** The SHA-256 of each unused code. */
  readonly recoveryCodes?: Uint8Array<ArrayBuffer>[];
};

/** The change that removes the second factor, active or pending. */
export const NO_SECOND_FACTOR: UserChange = { totpSecret: null, totpSince: null, totpLastStep: 0, recoveryCodes: [] };

/** Changes a person. Throws if the person does not exist. */
export async function changeUser(tx: Transaction, scope: OrganizationScope, id: string, change: UserChange) {
  await tx.user.update({
    where: { organizationId_id: { organizationId: scope.organizationId, id }, kind: 'person' },
    data: change,
    select: { id: true },
  });
}

/**
 * Counts the active administrators who can sign in: with a password, with a passkey or, unless `withoutProvider` is set, by
 * single sign-on. `besides` is a user who is not counted.
 */
export async function countAdministrators(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { besides, withoutProvider }: { readonly besides: string | null; readonly withoutProvider: boolean },
): Promise<number> {
  return tx.user.count({
    where: {
      organizationId,
      kind: 'person',
      role: 'administrator',
      deactivatedAt: null,
      ...(besides !== null && { id: { not: besides } }),
      OR: [
        { passwordHash: { not: null } },
        { passkeys: { some: {} } },
        ...(withoutProvider ? [] : [{ ssoIdentity: { isNot: null } }]),
      ],
    },
  });
}

/** Returns a user's password hash; `null` if the user does not exist or has no password. */
export async function findPasswordHash(db: Database, scope: OrganizationScope, id: string): Promise<string | null> {
  const where = { organizationId_id: { organizationId: scope.organizationId, id }, kind: 'person' as const };
  return (await db.prisma.user.findUnique({ where, select: { passwordHash: true } }))?.passwordHash ?? null;
}

export async function getWaysIn(tx: Transaction, scope: OrganizationScope, id: string): Promise<WaysIn> {
  const [found] = await tx.$queryRaw<WaysIn[]>`
    select password_hash is not null as "hasPassword", totp_since is not null as "hasSecondFactor",
           (select count(*)::int from passkeys p
            where p.organization_id = u.organization_id and p.user_id = u.id) as passkeys,
           exists (select from sso_identities i
                   where i.organization_id = u.organization_id and i.user_id = u.id) as "isLinked"
    from users u where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid and kind = 'person'`;
  return found ?? { hasPassword: false, hasSecondFactor: false, passkeys: 0, isLinked: false };
}

export async function countRecoveryCodes(db: Database, scope: OrganizationScope, id: string): Promise<number> {
  const where = { organizationId_id: { organizationId: scope.organizationId, id }, kind: 'person' as const };
  return (await db.prisma.user.findUnique({ where, select: { recoveryCodes: true } }))?.recoveryCodes.length ?? 0;
}

export type HolderWithPolicy = Holder & {
  readonly role: Role;
  readonly deactivatedAt: Date | null;
  /** The owner of an integration; `null` for a person. */
  readonly ownerUserId: string | null;
  readonly organizationSuspendedAt: Date | null;
  readonly membersMayCreateKeys: boolean;
  readonly maxKeyLifeDays: number;
  readonly allowsUnendingKeys: boolean;
  readonly requiresAddresses: boolean;
  /** The rate limit that the operator has set for the organization; `null` for the installation's default. */
  readonly requestsPerKey: number | null;
  readonly requestsPerOrganization: number | null;
};

const HOLDER = {
  name: 'find_key_holder',
  text: `
    select u.id, u.kind, u.name, u.email, u.role, u.deactivated_at as "deactivatedAt",
           u.owner_user_id as "ownerUserId", o.suspended_at as "organizationSuspendedAt",
           o.members_may_create_keys as "membersMayCreateKeys", o.max_key_life_days as "maxKeyLifeDays",
           o.allows_unending_keys as "allowsUnendingKeys", o.requires_addresses as "requiresAddresses",
           o.requests_per_key as "requestsPerKey", o.requests_per_organization as "requestsPerOrganization"
    from users u join organizations o on o.id = u.organization_id
    where u.organization_id = $1 and u.id = $2`,
};

/** Returns a user or an integration with the organization's policy for keys; `null` if there is no such user or integration. */
export async function findKeyHolder(
  db: Database,
  scope: OrganizationScope,
  userId: string,
): Promise<HolderWithPolicy | null> {
  const { rows } = await db.pool.query<HolderWithPolicy>({ ...HOLDER, values: [scope.organizationId, userId] });
  return rows[0] ?? null;
}

// The organization's rule that single sign-on is required. The rule is read here, so that it applies even if no way to sign in at
// a provider is registered.

export type SsoEnforcement = { readonly breakGlassUserId: string };

/**
 * Returns the rule, or `null` if single sign-on is not required. Locks the single sign-on connection until the transaction ends,
 * so that the rule cannot change meanwhile and nobody is signed in by a method that is no longer allowed.
 */
export async function findSsoEnforcement(
  tx: Transaction,
  { organizationId }: OrganizationScope,
): Promise<SsoEnforcement | null> {
  const [row] = await tx.$queryRaw<{ breakGlassUserId: string | null }[]>`
    select break_glass_user_id as "breakGlassUserId" from sso_connections
    where organization_id = ${organizationId}::uuid for share`;
  return row === undefined || row.breakGlassUserId === null ? null : { breakGlassUserId: row.breakGlassUserId };
}

/** Allows passwords and passkeys again. Returns `false` if single sign-on was not required. */
export async function endSsoEnforcement(tx: Transaction, { organizationId }: OrganizationScope): Promise<boolean> {
  const data = { enforcedAt: null, breakGlassUserId: null };
  return (
    (await tx.ssoConnection.updateMany({ where: { organizationId, enforcedAt: { not: null } }, data })).count === 1
  );
}
