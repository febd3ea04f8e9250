import type { Prisma } from '../../../generated/prisma/client.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Role } from '../../domain/people/role.ts';
import type { Database } from '../sql/database.ts';
import type { Edge } from '../sql/lists.ts';
import { likeInSearchForm, partPattern, searchForm } from '../sql/lists.ts';

export type UserDetails = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly createdAt: Date;
  /** `null` if the user is active. */
  readonly deactivatedAt: Date | null;
  /** False for somebody who was invited and has never had a way to sign in. */
  readonly hasAccepted: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** The number of passkeys. */
  readonly passkeys: number;
  /** The user signs in by single sign-on. */
  readonly isLinked: boolean;
};

const VIEW = `id, name, email, role, created_at as "createdAt", deactivated_at as "deactivatedAt",
  has_accepted as "hasAccepted", password_hash is not null as "hasPassword", totp_since is not null as "hasSecondFactor",
  (select count(*)::int from passkeys p where p.organization_id = users.organization_id and p.user_id = users.id) as passkeys,
  exists (select from sso_identities i where i.organization_id = users.organization_id and i.user_id = users.id) as "isLinked"`;

/** A user, and whether they can sign in at the provider only. */
export type FoundUser = UserDetails & { readonly isSingleSignOnRequired: boolean };

const REQUIRED = `exists (
  select from sso_connections c
  where c.organization_id = users.organization_id and c.break_glass_user_id <> users.id) as "isSingleSignOnRequired"`;

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
    'not exists (select from passkeys p where p.organization_id = users.organization_id and p.user_id = users.id)',
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
  return likeInSearchForm("name || ' ' || email", pattern);
}

const FIND = {
  name: 'find_user',
  text: `select ${VIEW}, ${REQUIRED} from users where organization_id = $1 and id = $2 and kind = 'person'`,
};

/** Returns `null` for an integration, too. */
export async function findUser(db: Database, scope: OrganizationScope, id: string): Promise<FoundUser | null> {
  const { rows } = await db.pool.query<FoundUser>({ ...FIND, values: [scope.organizationId, id] });
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
export async function listMatchingUsers(
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
    select id, name, ${searchForm('email')} = ${searchForm('$3')} as whole from users where organization_id = $1 and ${contains('$4')}
    union all
    select id, name, false from users where organization_id = $1 and kind = 'integration' and ${likeInSearchForm('name', '$4')}`;
  return {
    text: `select id, whole as "isWholeEmail" from (${found}) found order by whole desc, name, id limit $2`,
    values: [scope.organizationId, limit, text, partPattern(text)],
  };
}

export const MAX_ADMINISTRATORS = 20;

/** The first 20 active administrators by name, for people to contact. */
export async function listAdministrators(db: Database, scope: OrganizationScope) {
  return listAdministratorsWhere(db, scope, {});
}

/** The first 20 who can be the break-glass administrator: active administrators with a password and a passkey. */
export async function listBreakGlassCandidates(db: Database, scope: OrganizationScope) {
  return listAdministratorsWhere(db, scope, { passwordHash: { not: null }, passkeys: { some: {} } });
}

async function listAdministratorsWhere(
  { prisma }: Database,
  { organizationId }: OrganizationScope,
  where: Prisma.UserWhereInput,
) {
  const administrators = await prisma.user.findMany({
    where: { ...where, organizationId, kind: 'person', role: 'administrator', deactivatedAt: null },
    select: { id: true, name: true, email: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: MAX_ADMINISTRATORS,
  });
  return administrators.flatMap(({ id, name, email }) => (email === null ? [] : [{ id, name, email }]));
}

const FIND_OUTSIDE = {
  name: 'find_people_outside_domains',
  text: `
    select name, email, count(*) over ()::int as total from users u
    where organization_id = $1 and kind = 'person' and deactivated_at is null
      and substring(email from '[^@]*$') <> all ($2::text[])
      and not exists (select from sso_identities i where i.organization_id = u.organization_id and i.user_id = u.id)
      and id is distinct from $4
    order by name, id limit $3`,
};

/** People, the first by name and how many there are in all. */
export type SomePeople = {
  readonly people: readonly { readonly name: string; readonly email: string }[];
  readonly total: number;
};

/**
 * The active people whom single sign-on alone shuts out: they are not linked, and their e-mail is of none of the domains.
 * `besides`: the break-glass administrator, who is not one of them.
 */
export async function listPeopleOutside(
  db: Database,
  { organizationId }: OrganizationScope,
  {
    domains,
    besides,
    limit,
  }: { readonly domains: readonly string[]; readonly besides: string | null; readonly limit: number },
): Promise<SomePeople> {
  const values = [organizationId, domains, limit, besides];
  type Row = { name: string; email: string; total: number };
  const { rows } = await db.pool.query<Row>({ ...FIND_OUTSIDE, values });
  return { people: rows.map(({ name, email }) => ({ name, email })), total: rows[0]?.total ?? 0 };
}
