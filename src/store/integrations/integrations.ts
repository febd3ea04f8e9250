import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { IntegrationRole, Role } from '../../domain/people/role.ts';
import { isActive } from '../keys/key-row.ts';
import type { Database, Transaction } from '../sql/database.ts';
import type { Edge } from '../sql/lists.ts';

// An integration is a row of `users` without an e-mail, a password and sessions. Its keys are in `api_keys`, like the keys of
// people.

export type IntegrationContent = {
  readonly name: string;
  readonly description: string;
  readonly role: IntegrationRole;
  readonly ownerUserId: string;
  /** An e-mail address in lower case; empty if there is none. */
  readonly noticeEmail: string;
};

/** Inserts an integration. Throws a unique violation if the organization has another integration with this name. */
export async function insertIntegration(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  integration: IntegrationContent & { readonly id: string },
): Promise<void> {
  await tx.user.create({ data: { ...integration, kind: 'integration', organizationId }, select: { id: true } });
}

/** Omitted fields stay unchanged. A `deactivatedAt` of `null` reactivates the integration. */
export type IntegrationChange = Partial<IntegrationContent> & { readonly deactivatedAt?: Date | null };

/** Changes an integration. Throws a unique violation if the organization has another integration with this name. */
export async function changeIntegration(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  id: string,
  change: IntegrationChange,
): Promise<void> {
  await tx.user.update({
    where: { organizationId_id: { organizationId, id }, kind: 'integration' },
    data: change,
    select: { id: true },
  });
}

export async function countActiveIntegrations(tx: Transaction, { organizationId }: OrganizationScope): Promise<number> {
  return tx.user.count({
    where: { organizationId, kind: 'integration', ownerUserId: { not: null }, deactivatedAt: null },
  });
}

export type NamedIntegration = { readonly id: string; readonly name: string; readonly role: Role };

/** Lists at most `limit` active integrations by name; only those of one owner unless `ownerUserId` is `null`. */
export async function listActiveIntegrations(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { ownerUserId, limit }: { readonly ownerUserId: string | null; readonly limit: number },
): Promise<NamedIntegration[]> {
  return tx.user.findMany({
    where: {
      organizationId,
      kind: 'integration',
      deactivatedAt: null,
      ownerUserId: ownerUserId === null ? { not: null } : ownerUserId,
    },
    select: { id: true, name: true, role: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: limit,
  });
}

/** Gives integrations to another owner. The caller must have locked all of them. */
export async function setOwner(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { ids, ownerUserId }: { readonly ids: readonly string[]; readonly ownerUserId: string },
): Promise<void> {
  await tx.user.updateMany({
    where: { organizationId, kind: 'integration', id: { in: [...ids] } },
    data: { ownerUserId },
  });
}

/** Returns the id of the organization's active person with this e-mail; `null` if there is no such person. */
export async function findActivePerson(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  email: string,
): Promise<string | null> {
  const where = { organizationId, kind: 'person', email, deactivatedAt: null } as const;
  return (await tx.user.findFirst({ where, select: { id: true } }))?.id ?? null;
}

export type IntegrationDetails = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly role: Role;
  readonly noticeEmail: string;
  readonly createdAt: Date;
  /** `null` if the integration is not suspended. */
  readonly suspendedAt: Date | null;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly ownerEmail: string;
  readonly isOwnerActive: boolean;
  readonly activeKeys: number;
  /** The last use of any of the integration's keys; `null` if no key has been used. */
  readonly lastUsedAt: Date | null;
};

const NAME_KEY = 'lower(i.name collate pg_catalog."default")';
const DETAILS = `
  i.id, i.name, i.description, i.role, i.notice_email as "noticeEmail", i.created_at as "createdAt",
  i.deactivated_at as "suspendedAt", owner.id as "ownerId", owner.name as "ownerName", owner.email as "ownerEmail",
  owner.deactivated_at is null as "isOwnerActive", keys.active as "activeKeys", keys.last_used_at as "lastUsedAt"`;
/** SQL that joins the owner and the keys of an integration. Its parameter $2 is the current time. */
const JOINED = `
  join users owner on owner.organization_id = i.organization_id and owner.id = i.owner_user_id
  cross join lateral (
    select max(k.last_used_at) as last_used_at,
           count(*) filter (where ${isActive('k', '$2::timestamptz')})::int as active
    from api_keys k where k.organization_id = i.organization_id and k.user_id = i.id) keys`;

export type IntegrationQuery = {
  /** The owner of the listed integrations; `null` for the integrations of all owners. */
  readonly ownerUserId: string | null;
  readonly isSuspended: boolean;
  /** The position that the page follows or precedes; `null` for the first page. */
  readonly from: Edge<{ readonly name: string }> | null;
  readonly now: Date;
  /** The maximum number of rows. The caller asks for one row more than it shows. */
  readonly limit: number;
};

/** Lists integrations by name, ignoring the letter case. */
export async function listIntegrations(
  db: Database,
  { organizationId }: OrganizationScope,
  { ownerUserId, isSuspended, from, now, limit }: IntegrationQuery,
): Promise<IntegrationDetails[]> {
  const values: unknown[] = [organizationId, now, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ["i.organization_id = $1 and i.kind = 'integration'"];
  conditions.push(isSuspended ? 'i.deactivated_at is not null' : 'i.deactivated_at is null');
  if (ownerUserId !== null) conditions.push(`i.owner_user_id = ${bind(ownerUserId)}`);
  const isReversed = from?.side === 'before';
  if (from !== null)
    conditions.push(
      `${NAME_KEY} ${isReversed ? '<' : '>'} lower(${bind(from.name)}::text collate pg_catalog."default")`,
    );
  const page = `
    select * from users i where ${conditions.join(' and ')} order by ${NAME_KEY} ${isReversed ? 'desc' : 'asc'} limit $3`;
  const text = `select ${DETAILS} from (${page}) i ${JOINED} order by ${NAME_KEY}`;
  return (await db.pool.query<IntegrationDetails>({ text, values })).rows;
}

const FIND = {
  name: 'find_integration',
  text: `select ${DETAILS} from users i ${JOINED} where i.organization_id = $1 and i.id = $3 and i.kind = 'integration'`,
};

export async function findIntegration(
  db: Database,
  { organizationId }: OrganizationScope,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<IntegrationDetails | null> {
  const { rows } = await db.pool.query<IntegrationDetails>({ ...FIND, values: [organizationId, now, id] });
  return rows[0] ?? null;
}
