import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Role } from '../domain/role.ts';
import type { Database, Transaction } from './database.ts';

export type NewUser = {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string | null;
};

/** Throws a unique violation where the e-mail is taken, in whichever organization. */
export async function insertUser(tx: Transaction, scope: OrganizationScope, user: NewUser) {
  const { id, email, name, role, passwordHash } = user;
  return tx.user.create({ data: { id, email, name, role, passwordHash, organizationId: scope.organizationId } });
}

/** The user, held until the transaction ends, so that limits on what the user has are counted by one writer at a time. */
export async function lockUser(tx: Transaction, scope: OrganizationScope, id: string) {
  return (await lockUsers(tx, scope, [id])).get(id) ?? null;
}

/** The users that there are of these, by id, held until the transaction ends; always in one order, so that no two wait for each other. */
export async function lockUsers(tx: Transaction, scope: OrganizationScope, ids: readonly string[]) {
  await tx.$queryRaw`
    select 1 from users where organization_id = ${scope.organizationId}::uuid and id = any(${ids}::uuid[])
    order by id for update`;
  const users = await tx.user.findMany({ where: { organizationId: scope.organizationId, id: { in: [...ids] } } });
  return new Map(users.map((user) => [user.id, user]));
}

export type LockedUser = NonNullable<Awaited<ReturnType<typeof lockUser>>>;

/** What an act may change of a user; a field that is not named stays as it is. */
export type UserChange = {
  readonly role?: Role;
  readonly passwordHash?: string;
  /** Null: active again. */
  readonly deactivatedAt?: Date | null;
  /** 20 bytes; null: none. */
  readonly totpSecret?: Uint8Array<ArrayBuffer> | null;
  readonly totpSince?: Date | null;
  readonly totpLastStep?: number;
  /** SHA-256 of those that are left. */
  readonly recoveryCodes?: Uint8Array<ArrayBuffer>[];
};

/** Neither one that is on nor one whose set-up was begun. */
export const NO_SECOND_FACTOR: UserChange = { totpSecret: null, totpSince: null, totpLastStep: 0, recoveryCodes: [] };

export async function changeUser(tx: Transaction, scope: OrganizationScope, id: string, change: UserChange) {
  await tx.user.update({ where: { organizationId_id: { organizationId: scope.organizationId, id } }, data: change });
}

/** Active administrators other than this one. `withPassword`: only those who have ever been able to sign in. */
export async function countOtherAdministrators(
  tx: Transaction,
  scope: OrganizationScope,
  { id, withPassword }: { id: string; withPassword: boolean },
): Promise<number> {
  return tx.user.count({
    where: {
      ...{ organizationId: scope.organizationId, role: 'administrator', deactivatedAt: null, id: { not: id } },
      ...(withPassword && { passwordHash: { not: null } }),
    },
  });
}

export type UserView = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly createdAt: Date;
  /** Null: active. */
  readonly deactivatedAt: Date | null;
  /** False: invited, and has not set a password yet. */
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
};

const VIEW = `id, name, email, role, created_at as "createdAt", deactivated_at as "deactivatedAt",
  password_hash is not null as "hasPassword", totp_since is not null as "hasSecondFactor"`;

/** Where a page of users starts: after the one with this name and id. */
export type UserPosition = { readonly name: string; readonly id: string };

export type UserQuery = {
  /** Part of the name or the e-mail, in any letter case; empty: everybody. */
  readonly search: string;
  /** Null: from the start. */
  readonly after: UserPosition | null;
  /** Rows at most: the caller asks for one more than it shows. */
  readonly limit: number;
};

/** By name, found by row comparison, so that a page costs the same however deep it lies. */
export async function listUsers(db: Database, scope: OrganizationScope, query: UserQuery): Promise<UserView[]> {
  const { rows } = await db.pool.query<UserView>(userListStatement(scope, query));
  return rows;
}

/** Apart, so that a test can ask PostgreSQL how it would answer it. */
export function userListStatement(scope: OrganizationScope, { search, after, limit }: UserQuery) {
  const values: unknown[] = [scope.organizationId, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['organization_id = $1'];
  if (after !== null) conditions.push(`(name, id) > (${bind(after.name)}, ${bind(after.id)}::uuid)`);
  if (search !== '') {
    // As the trigram index has it.
    const pattern = bind(`%${search.replace(/[\\%_]/g, '\\$&')}%`);
    const text = `lower((name || ' ' || email) collate pg_catalog."default")`;
    conditions.push(`${text} like lower(${pattern} collate pg_catalog."default")`);
  }
  const text = `select ${VIEW} from users where ${conditions.join(' and ')} order by name, id limit $2`;
  return { text, values };
}

const FIND = { name: 'find_user', text: `select ${VIEW} from users where organization_id = $1 and id = $2` };

export async function findUser(db: Database, scope: OrganizationScope, id: string): Promise<UserView | null> {
  const { rows } = await db.pool.query<UserView>({ ...FIND, values: [scope.organizationId, id] });
  return rows[0] ?? null;
}

/** By the whole e-mail, in lower case; null: the organization has no such user. */
export async function findUserIdByEmail(db: Database, scope: OrganizationScope, email: string): Promise<string | null> {
  const where = { email, organizationId: scope.organizationId };
  return (await db.prisma.user.findUnique({ where, select: { id: true } }))?.id ?? null;
}

const LISTED_ADMINISTRATORS = 20;

/** Active ones by name, the first 20: whom to contact. */
export async function listAdministrators(db: Database, scope: OrganizationScope) {
  return db.prisma.user.findMany({
    where: { organizationId: scope.organizationId, role: 'administrator', deactivatedAt: null },
    select: { id: true, name: true, email: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: LISTED_ADMINISTRATORS,
  });
}

/** Null: there is no such user, or the user has no password yet. */
export async function findPasswordHash(db: Database, scope: OrganizationScope, id: string): Promise<string | null> {
  const where = { organizationId_id: { organizationId: scope.organizationId, id } };
  return (await db.prisma.user.findUnique({ where, select: { passwordHash: true } }))?.passwordHash ?? null;
}

export async function countRecoveryCodes(db: Database, scope: OrganizationScope, id: string): Promise<number> {
  const where = { organizationId_id: { organizationId: scope.organizationId, id } };
  return (await db.prisma.user.findUnique({ where, select: { recoveryCodes: true } }))?.recoveryCodes.length ?? 0;
}
