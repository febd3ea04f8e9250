import type { User } from '../../generated/prisma/client.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Role } from '../domain/role.ts';
import type { Database, Transaction } from './database.ts';
import { likeInAnyCase, partPattern } from './like.ts';
import type { Edge } from './list-edge.ts';

export type NewUser = {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string | null;
};

/** Throws a unique violation if a user of any organization has the e-mail. */
export async function insertUser(tx: Transaction, scope: OrganizationScope, user: NewUser) {
  const { id, email, name, role, passwordHash } = user;
  return tx.user.create({ data: { id, email, name, role, passwordHash, organizationId: scope.organizationId } });
}

/**
 * Locks the user until the transaction ends. Limits per user are checked under this lock, so by one transaction at a time. Returns
 * `null` for an integration, which has neither a password nor sessions.
 */
export async function lockUser(tx: Transaction, scope: OrganizationScope, id: string): Promise<LockedUser | null> {
  return (await lockUsers(tx, scope, [id])).get(id) ?? null;
}

/** Like lockHolders, but returns people only. */
export async function lockUsers(
  tx: Transaction,
  scope: OrganizationScope,
  ids: readonly string[],
): Promise<Map<string, LockedUser>> {
  return peopleOf(await lockHolders(tx, scope, ids));
}

export function peopleOf(holders: ReadonlyMap<string, LockedHolder>): Map<string, LockedUser> {
  return new Map([...holders].flatMap(([id, holder]) => (holder.kind === 'person' ? [[id, holder]] : [])));
}

/**
 * Locks users and integrations until the transaction ends, in one order, so that transactions cannot deadlock. Returns those
 * that exist, by id.
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

/** A person. */
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
/** The user or the integration for which keys act. */
export type LockedHolder = LockedUser | LockedIntegration;

/** Checks of the table let no other row exist. */
function holderOf({ kind, email, ownerUserId, ...user }: User): LockedHolder {
  if (kind === 'person' && email !== null) return { ...user, kind, email, ownerUserId: null };
  if (kind === 'integration' && ownerUserId !== null) return { ...user, kind, email: null, ownerUserId };
  throw new Error(`The user ${user.id} is neither a person nor an integration.`);
}

/** A missing field stays as it is. */
export type UserChange = {
  readonly role?: Role;
  readonly passwordHash?: string;
  /** `null` reactivates the user. */
  readonly deactivatedAt?: Date | null;
  /** Encrypted; `null` removes it. */
  readonly totpSecret?: Uint8Array<ArrayBuffer> | null;
  readonly totpSince?: Date | null;
  readonly totpLastStep?: number;
  /** SHA-256 of each unused code. */
  readonly recoveryCodes?: Uint8Array<ArrayBuffer>[];
};

/** No second factor, active or pending. */
export const NO_SECOND_FACTOR: UserChange = { totpSecret: null, totpSince: null, totpLastStep: 0, recoveryCodes: [] };

/** Throws if there is no such person. */
export async function changeUser(tx: Transaction, scope: OrganizationScope, id: string, change: UserChange) {
  await tx.user.update({
    where: { organizationId_id: { organizationId: scope.organizationId, id }, kind: 'person' },
    data: change,
    select: { id: true },
  });
}

/** Active administrators other than this user. `withPassword`: only those who have set a password, and so can sign in. */
export async function countOtherAdministrators(
  tx: Transaction,
  scope: OrganizationScope,
  { id, withPassword }: { id: string; withPassword: boolean },
): Promise<number> {
  return tx.user.count({
    where: {
      organizationId: scope.organizationId,
      kind: 'person',
      role: 'administrator',
      deactivatedAt: null,
      id: { not: id },
      ...(withPassword && { passwordHash: { not: null } }),
    },
  });
}

export type UserDetails = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly createdAt: Date;
  /** `null` if the user is active. */
  readonly deactivatedAt: Date | null;
  /** `false` if the user is invited and has not set a password. */
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** The number of passkeys. */
  readonly passkeys: number;
  /** The user signs in by single sign-on. */
  readonly isLinked: boolean;
};

const VIEW = `id, name, email, role, created_at as "createdAt", deactivated_at as "deactivatedAt",
  password_hash is not null as "hasPassword", totp_since is not null as "hasSecondFactor",
  (select count(*)::int from passkeys p where p.organization_id = users.organization_id and p.user_id = users.id) as passkeys,
  exists (select from sso_identities i where i.organization_id = users.organization_id and i.user_id = users.id) as "isLinked"`;

/** A position in the list of users. */
export type UserPosition = { readonly name: string; readonly id: string };

export const USER_STATES = ['all', 'invited', 'deactivated'] as const;
export type UserState = (typeof USER_STATES)[number];

export type UserFilters = {
  /** Substring of the name or the e-mail, case-insensitive. An empty text finds all users. */
  readonly search: string;
  readonly state: UserState;
};

export type UserQuery = UserFilters & {
  /** `null` for the first page. */
  readonly from: Edge<UserPosition> | null;
  /** Maximum number of rows. The caller asks for one more than it shows. */
  readonly limit: number;
};

/** Ordered by name. A page starts by row comparison, so its cost does not grow with its depth. */
export async function listUsers(db: Database, scope: OrganizationScope, query: UserQuery): Promise<UserDetails[]> {
  const { rows } = await db.pool.query<UserDetails>(userListStatement(scope, query));
  return query.from?.side === 'before' ? rows.toReversed() : rows;
}

/** Exported so that a test can look at its query plan. Before a position, the rows come in reverse. */
export function userListStatement(scope: OrganizationScope, { from, limit, ...filters }: UserQuery) {
  const { values, bind, conditions } = matching(scope, filters);
  const isReversed = from?.side === 'before';
  if (from !== null) {
    conditions.push(`(name, id) ${isReversed ? '<' : '>'} (${bind(from.name)}, ${bind(from.id)}::uuid)`);
  }
  const direction = isReversed ? 'desc' : 'asc';
  const order = `order by name ${direction}, id ${direction} limit ${bind(limit)}`;
  return { text: `select ${VIEW} from users where ${conditions.join(' and ')} ${order}`, values };
}

const STATE_CONDITIONS: Record<UserState, readonly string[]> = {
  all: [],
  invited: [
    'deactivated_at is null',
    'password_hash is null',
    'not exists (select from sso_identities i where i.organization_id = users.organization_id and i.user_id = users.id)',
  ],
  deactivated: ['deactivated_at is not null'],
};

function matching({ organizationId }: OrganizationScope, { search, state }: UserFilters) {
  const values: unknown[] = [organizationId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['organization_id = $1', "kind = 'person'"];
  conditions.push(...STATE_CONDITIONS[state]);
  if (search !== '') conditions.push(contains(bind(partPattern(search))));
  return { values, bind, conditions };
}

/** Users are counted up to this number and one more. */
export const MAX_COUNTED_USERS = 10_000;

/** How many users match, and how many of them come before a position (`null`: 0). Both are at most MAX_COUNTED_USERS + 1. */
export async function countUsers(
  db: Database,
  scope: OrganizationScope,
  { position, ...filters }: UserFilters & { readonly position: UserPosition | null },
): Promise<{ readonly total: number; readonly before: number }> {
  const { values, bind, conditions } = matching(scope, filters);
  const isBefore = position === null ? 'false' : `(name, id) < (${bind(position.name)}, ${bind(position.id)}::uuid)`;
  const users = `select name, id from users where ${conditions.join(' and ')} limit ${MAX_COUNTED_USERS + 1}`;
  const text = `select count(*)::int as total, count(*) filter (where ${isBefore})::int as before from (${users}) users`;
  const { rows } = await db.pool.query<{ total: number; before: number }>({ text, values });
  return rows[0] ?? { total: 0, before: 0 };
}

/** Whether the name or the e-mail contains the text. */
function contains(pattern: string): string {
  return likeInAnyCase("name || ' ' || email", pattern);
}

const FIND = {
  name: 'find_user',
  text: `select ${VIEW} from users where organization_id = $1 and id = $2 and kind = 'person'`,
};

/** Returns `null` for an integration, too. */
export async function findUser(db: Database, scope: OrganizationScope, id: string): Promise<UserDetails | null> {
  const { rows } = await db.pool.query<UserDetails>({ ...FIND, values: [scope.organizationId, id] });
  return rows[0] ?? null;
}

export type UserMatch = {
  readonly id: string;
  /** The text is the whole e-mail, in any letter case. */
  readonly isWholeEmail: boolean;
};

/**
 * The users whose name or e-mail, and the integrations whose name contains the text, case-insensitive; at most `limit`, and a
 * whole e-mail first.
 */
export async function findMatchingUsers(
  db: Database,
  scope: OrganizationScope,
  search: { readonly text: string; readonly limit: number },
): Promise<UserMatch[]> {
  const { rows } = await db.pool.query<UserMatch>(userMatchStatement(scope, search));
  return rows;
}

/** Exported so that a test can look at its query plan. */
export function userMatchStatement(
  scope: OrganizationScope,
  { text, limit }: { readonly text: string; readonly limit: number },
) {
  // Two queries, because an "or" would not use the trigram index.
  const found = `
    select id, name, email = lower($3) as whole from users where organization_id = $1 and ${contains('$4')}
    union all
    select id, name, false from users where organization_id = $1 and kind = 'integration' and ${likeInAnyCase('name', '$4')}`;
  return {
    text: `select id, whole as "isWholeEmail" from (${found}) found order by whole desc, name, id limit $2`,
    values: [scope.organizationId, limit, text, partPattern(text)],
  };
}

export const MAX_ADMINISTRATORS = 20;

/** The first 20 active administrators by name, for people to contact. */
export async function listAdministrators(db: Database, scope: OrganizationScope) {
  const administrators = await db.prisma.user.findMany({
    where: { organizationId: scope.organizationId, kind: 'person', role: 'administrator', deactivatedAt: null },
    select: { id: true, name: true, email: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: MAX_ADMINISTRATORS,
  });
  return administrators.flatMap(({ id, name, email }) => (email === null ? [] : [{ id, name, email }]));
}

/** Returns `null` if the user does not exist or has no password. */
export async function findPasswordHash(db: Database, scope: OrganizationScope, id: string): Promise<string | null> {
  const where = { organizationId_id: { organizationId: scope.organizationId, id }, kind: 'person' as const };
  return (await db.prisma.user.findUnique({ where, select: { passwordHash: true } }))?.passwordHash ?? null;
}

/** What a person can sign in with. */
export type WaysIn = {
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  readonly passkeys: number;
  /** By single sign-on. */
  readonly isLinked: boolean;
};

export async function findWaysIn(tx: Transaction, scope: OrganizationScope, id: string): Promise<WaysIn> {
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
