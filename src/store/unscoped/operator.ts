import type { Prisma } from '../../../generated/prisma/client.ts';
import { normalEmail } from '../../domain/people/email.ts';
import type { Database } from '../sql/database.ts';

// The look-ups of the operator's commands.

/** Returns several users only if none with the e-mail has accepted an invitation. */
export async function listUsersByEmail(db: Database, email: string) {
  const address = normalEmail(email);
  if (address === null) return [];
  const accepted = await listPeople(db, { email: address, hasAccepted: true });
  return accepted.length > 0 ? accepted : listPeople(db, { email: address });
}

/** Returns at most one user. */
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

/** The first 1,000 organizations, oldest first. */
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

/** The organization that has verified the domain; `null` if none has. */
export async function findOwnerOfDomain(db: Database, domain: string) {
  const where = { domain, verifiedAt: { not: null } };
  const found = await db.prisma.ssoDomain.findFirst({
    where,
    select: { organization: { select: { id: true, name: true } } },
  });
  return found?.organization ?? null;
}

/** The user and the organization of a key. */
export async function findKeyById(db: Database, id: string) {
  return db.prisma.apiKey.findFirst({ where: { id }, select: { organizationId: true, userId: true } });
}

const MAX_KEYS_OF_A_PREFIX = 20;

/** The keys with this prefix, such as "charter_live_Ab3d", oldest first, at most 20. */
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

/** Statements that find values of the rows of an archive that only one organization of an installation can have, by table. */
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

export type Taken = { readonly value: string; readonly id: string; readonly name: string };

/** An e-mail or a verified domain of these rows that an organization here has, and the organization. `rows` are JSON. */
export async function findTaken(
  db: Database,
  { table, rows }: { readonly table: string; readonly rows: readonly string[] },
): Promise<Taken | null> {
  const text = FIND_TAKEN.get(table);
  if (text === undefined) return null;
  return (await db.pool.query<Taken>(text, [`[${rows.join(',')}]`])).rows[0] ?? null;
}
