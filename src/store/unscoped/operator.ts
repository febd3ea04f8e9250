import type { Prisma } from '../../../generated/prisma/client.ts';
import { normalEmail } from '../../domain/people/email.ts';
import type { Database } from '../sql/database.ts';

// Queries of the operator's commands.

/** Lists the users with this e-mail. Several users can have the same e-mail only if they have not accepted an invitation. */
export async function listUsersByEmail(db: Database, email: string) {
  const address = normalEmail(email);
  if (address === null) return [];
  const accepted = await listPeople(db, { email: address, hasAccepted: true });
  return accepted.length > 0 ? accepted : listPeople(db, { email: address });
}

/** Returns an array with the user who has this id; the array is empty if there is no such user. */
export async function listUsersById(db: Database, id: string) {
  return listPeople(db, { id });
}

async function listPeople(db: Database, where: Prisma.UserWhereInput) {
  const people = await db.prisma.user.findMany({
    where: { ...where, kind: 'person' },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    include: { organization: true },
    take: MAX_INVITATIONS,
  });
  return people.flatMap((user) => (user.email === null ? [] : [{ ...user, email: user.email }]));
}

const MAX_INVITATIONS = 20;

export async function findIntegrationById(db: Database, id: string) {
  return db.prisma.user.findFirst({ where: { id, kind: 'integration' }, select: { organizationId: true, id: true } });
}

export async function findOrganization(db: Database, id: string) {
  return db.prisma.organization.findUnique({ where: { id } });
}

const MAX_ORGANIZATIONS = 1000;

/** Lists the first 1,000 organizations, the oldest first. */
export async function listOrganizations(db: Database) {
  return db.prisma.organization.findMany({
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: MAX_ORGANIZATIONS,
    select: {
      id: true,
      name: true,
      suspendedAt: true,
      createdAt: true,
      move: { select: { startedAt: true, suspendedAt: true } },
    },
  });
}

/** Returns the organization that has verified the domain; `null` if there is none. */
export async function findOwnerOfDomain(db: Database, domain: string) {
  const where = { domain, verifiedAt: { not: null } };
  const found = await db.prisma.ssoDomain.findFirst({
    where,
    select: { organization: { select: { id: true, name: true } } },
  });
  return found?.organization ?? null;
}

/** Returns the ids of a key's user and organization; `null` if the key does not exist. */
export async function findKeyById(db: Database, id: string) {
  return db.prisma.apiKey.findFirst({ where: { id }, select: { organizationId: true, userId: true } });
}

const MAX_KEYS_OF_A_PREFIX = 20;

/** Lists at most 20 keys with this prefix, such as "charter_live_Ab3d", the oldest first. */
export async function listKeysByPrefix(db: Database, keyPrefix: string) {
  return db.prisma.apiKey.findMany({
    where: { keyPrefix },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: MAX_KEYS_OF_A_PREFIX,
    select: {
      id: true,
      name: true,
      expiresAt: true,
      expiredAt: true,
      rotatedAt: true,
      revokedAt: true,
      user: { select: { name: true, email: true } },
    },
  });
}

/**
 * SQL queries by table. Each finds an e-mail or a verified domain that both the rows of an archive and an organization of this
 * installation have. In an installation, each of these values can belong to one organization only.
 */
const FIND_TAKEN: ReadonlyMap<string, string> = new Map([
  [
    'users',
    `select r.email as value, o.id, o.name from json_to_recordset($1::json) r (email text, has_accepted boolean)
     join users u on u.email = r.email and u.has_accepted and r.has_accepted join organizations o on o.id = u.organization_id limit 1`,
  ],
  [
    'sso_domains',
    `select r.domain as value, o.id, o.name from json_to_recordset($1::json) r (domain text, verified_at text)
     join sso_domains d on d.domain = r.domain and d.verified_at is not null
     join organizations o on o.id = d.organization_id where r.verified_at is not null limit 1`,
  ],
]);

/** The tables with values that only one organization of an installation may have. */
export const UNIQUE_TABLES: readonly string[] = [...FIND_TAKEN.keys()];

export type Taken = { readonly value: string; readonly id: string; readonly name: string };

/**
 * Returns an e-mail or a verified domain in these rows that an organization of this installation already has, and the id and name
 * of that organization; `null` if there is no such value. `rows` are JSON.
 */
export async function findTaken(
  db: Database,
  { table, rows }: { readonly table: string; readonly rows: readonly string[] },
): Promise<Taken | null> {
  const text = FIND_TAKEN.get(table);
  if (text === undefined) return null;
  return (await db.pool.query<Taken>(text, [`[${rows.join(',')}]`])).rows[0] ?? null;
}
