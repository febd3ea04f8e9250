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
  /** `false` if the user was invited and has never had a way to sign in. */
  readonly hasAccepted: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** The number of the user's passkeys. */
  readonly passkeys: number;
  /** Whether the user signs in by single sign-on. */
  readonly isLinked: boolean;
};

const VIEW = `id, name, email, role, created_at as "createdAt", deactivated_at as "deactivatedAt",
  has_accepted as "hasAccepted", password_hash is not null as "hasPassword", totp_since is not null as "hasSecondFactor",
  (select count(*)::int from passkeys p where p.organization_id = users.organization_id and p.user_id = users.id) as passkeys,
  exists (select from sso_identities i where i.organization_id = users.organization_id and i.user_id = users.id) as "isLinked"`;

/** A user, and whether the user can sign in only at the identity provider. */
export type FoundUser = UserDetails & { readonly isSingleSignOnRequired: boolean };

const REQUIRED = `exists (
  select from sso_connections c
  where c.organization_id = users.organization_id and c.break_glass_user_id <> users.id) as "isSingleSignOnRequired"`;

export type UserPosition = { readonly name: string; readonly id: string };

export const USER_STATES = ['all', 'invited', 'deactivated'] as const;
export type UserState = (typeof USER_STATES)[number];

export type UserFilters = {
  /** A part of the name or the e-mail, ignoring the letter case. An empty string matches all users. */
  readonly search: string;
  readonly state: UserState;
};

export type UserQuery = UserFilters & {
  /** The position that the page follows or precedes; `null` for the first page. */
  readonly from: Edge<UserPosition> | null;
  /** The maximum number of rows. The caller asks for one row more than it shows. */
  readonly limit: number;
};

/** Lists users by name. A page starts by row comparison, so later pages take no longer than the first one. */
export async function listUsers(db: Database, scope: OrganizationScope, query: UserQuery): Promise<UserDetails[]> {
  const { rows } = await db.pool.query<UserDetails>(userListStatement(scope, query));
  return query.from?.side === 'before' ? rows.toReversed() : rows;
}

/**
 * Returns the SQL query for a page of users. A page before a position is in reverse order. Exported so that a test can check its
 * query plan.
 */
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

/** Users are counted up to this number plus one, so that pages can show "more than 10,000". */
export const MAX_COUNTED_USERS = 10_000;

/**
 * Counts the users who match, and those of them who come before `position` (0 if `position` is `null`). Both numbers are at most
 * MAX_COUNTED_USERS + 1.
 */
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

/** Returns the SQL condition that the name or the e-mail contains the text. */
function contains(pattern: string): string {
  return likeInSearchForm("name || ' ' || email", pattern);
}

const FIND = {
  name: 'find_user',
  text: `select ${VIEW}, ${REQUIRED} from users where organization_id = $1 and id = $2 and kind = 'person'`,
};

/** Returns a user; `null` if the user does not exist or is an integration. */
export async function findUser(db: Database, scope: OrganizationScope, id: string): Promise<FoundUser | null> {
  const { rows } = await db.pool.query<FoundUser>({ ...FIND, values: [scope.organizationId, id] });
  return rows[0] ?? null;
}

export type UserMatch = {
  readonly id: string;
  /** Whether the text is the user's whole e-mail, ignoring the letter case. */
  readonly isWholeEmail: boolean;
};

/**
 * Lists at most `limit` users whose name or e-mail contains the text, and integrations whose name contains it, ignoring the
 * letter case. A user whose whole e-mail matches comes first.
 */
export async function listMatchingUsers(
  db: Database,
  scope: OrganizationScope,
  search: { readonly text: string; readonly limit: number },
): Promise<UserMatch[]> {
  const { rows } = await db.pool.query<UserMatch>(userMatchStatement(scope, search));
  return rows;
}

/** Returns the SQL query for the matching users. Exported so that a test can check its query plan. */
export function userMatchStatement(
  scope: OrganizationScope,
  { text, limit }: { readonly text: string; readonly limit: number },
) {
  // The subquery combines two queries, because an "or" would not use the trigram index.
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

/** Lists the first 20 active administrators by name, for users who need to contact one. */
export async function listAdministrators(db: Database, scope: OrganizationScope) {
  return listAdministratorsWhere(db, scope, {});
}

/**
 * Lists the first 20 users by name who can be the break-glass administrator: active administrators with a password and a passkey.
 */
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

/** The first people of a list by name, and the total number of people in the list. */
export type SomePeople = {
  readonly people: readonly { readonly name: string; readonly email: string }[];
  readonly total: number;
};

/**
 * Lists the active people who could not sign in if single sign-on were required: they are not linked to an identity, and their
 * e-mail is not of a domain in `domains`. `besides` is the break-glass administrator, who is omitted.
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
