import type { AccessLinkKind, AccessLinkRecord } from '../domain/access-link.ts';
import type { KeyRecord } from '../domain/api-key.ts';
import { normalEmail } from '../domain/email.ts';
import type { Role } from '../domain/role.ts';
import type { SessionRecord } from '../domain/session.ts';
import type { Database } from './database.ts';
import { type NoticeJson, noticesFrom, OPEN_NOTICES } from './shown-notices.ts';
import { dateOf } from './timestamp.ts';

// The few look-ups made before a scope exists. Every other statement names the organization of the rows that it reads.

/** Looks an organization up only if it is suspended, as a moving one is. */
const IS_MOVING =
  'o.suspended_at is not null and exists (select from organization_moves m where m.organization_id = o.id)';

/**
 * The result is one column, because pg parses the description of each column with every result. The hashes are one text, which
 * is quick to send, split in a sub-select, so that the planner does not know how many they are. A plan for one key only would
 * not be reused, and planning takes ten times as long as the look-up.
 */
const FIND_KEYS = {
  name: 'find_keys_by_hash',
  rowMode: 'array' as const,
  text: `
    select json_build_array(
             encode(k.key_hash, 'hex'), k.organization_id, o.name, o.suspended_at, o.version::text,
             encode(o.cursor_key, 'hex'), k.id, k.name, k.permissions, k.expires_at, k.expired_at, k.rotated_at,
             k.revoked_at, u.role, u.deactivated_at, o.requests_per_key, o.requests_per_organization,
             case u.kind when 'integration' then json_build_array(u.id, u.name) end,
             k.requests_per_second,
             case when k.allowed_addresses <> '{}' then array_to_string(k.allowed_addresses, ' ') end, ${IS_MOVING})
    from api_keys k
    join users u on u.organization_id = k.organization_id and u.id = k.user_id
    join organizations o on o.id = k.organization_id
    where k.key_hash = any(array(select decode(unnest(string_to_array($1, ' ')), 'hex')))`,
};

/** In the order of the statement. */
type FoundKey = readonly [
  keyHash: string,
  organizationId: string,
  organizationName: string,
  organizationSuspendedAt: string | null,
  organizationVersion: string,
  cursorKey: string,
  id: string,
  name: string,
  permissions: readonly string[],
  expiresAt: string | null,
  expiredAt: string | null,
  rotatedAt: string | null,
  revokedAt: string | null,
  role: Role,
  userDeactivatedAt: string | null,
  requestsPerKey: number | null,
  requestsPerOrganization: number | null,
  integration: readonly [id: string, name: string] | null,
  requestsPerSecond: number | null,
  allowedAddresses: string | null,
  organizationIsMoving: boolean,
];

/** The keys with these hashes (hexadecimal), each with its user and organization, in one indexed statement. The result is by hash. */
export async function findKeysByHash(db: Database, hashes: readonly string[]): Promise<Map<string, KeyRecord>> {
  const { rows } = await db.pool.query<[FoundKey]>({ ...FIND_KEYS, values: [hashes.join(' ')] });
  return new Map(rows.map(([found]) => [found[0], recordOf(found)]));
}

function recordOf(found: FoundKey): KeyRecord {
  const [, organizationId, organizationName, suspendedAt, organizationVersion, cursorKey, ...key] = found;
  const [id, name, permissions, expiresAt, expiredAt, rotatedAt, revokedAt, role, ...others] = key;
  const [deactivatedAt, perKey, perOrganization, integration, requestsPerSecond, ...last] = others;
  const [allowedAddresses, organizationIsMoving] = last;
  return {
    organizationId,
    organizationName,
    organizationSuspendedAt: dateOf(suspendedAt),
    organizationIsMoving,
    organizationVersion,
    cursorKey,
    organizationLimits: { perKey, perOrganization },
    requestsPerSecond,
    allowedAddresses,
    id,
    name,
    permissions,
    expiresAt: dateOf(expiresAt),
    expiredAt: dateOf(expiredAt),
    rotatedAt: dateOf(rotatedAt),
    revokedAt: dateOf(revokedAt),
    role,
    userDeactivatedAt: dateOf(deactivatedAt),
    integration: integration === null ? null : { id: integration[0], name: integration[1] },
  };
}

const FIND_SESSION = {
  name: 'find_session_by_hash',
  text: `
    select s.organization_id as "organizationId", o.name as "organizationName",
           o.suspended_at as "organizationSuspendedAt", ${IS_MOVING} as "organizationIsMoving",
           s.user_id as "userId", u.name, u.email, u.role,
           u.deactivated_at as "userDeactivatedAt", u.totp_since is not null as "hasSecondFactor",
           s.created_at as "createdAt", s.last_seen_at as "lastSeenAt", s.is_complete as "isComplete",
           s.proved_at as "provedAt",
           (select count(*)::int from webhook_endpoints w
            where w.organization_id = s.organization_id and w.disabled_reason <> 'user') as "endpointsDisabledByCharter",
           exists (select 1 from users i
                   where i.organization_id = s.organization_id and i.owner_user_id = s.user_id) as "ownsIntegrations",
           u.role = 'administrator' and exists (
             select 1 from users i
             join users w on w.organization_id = i.organization_id and w.id = i.owner_user_id
             where i.organization_id = s.organization_id and i.owner_user_id is not null and i.deactivated_at is null
               and w.deactivated_at is not null) as "lacksOwners",
           ${OPEN_NOTICES} as notices
    from sessions s
    join users u on u.organization_id = s.organization_id and u.id = s.user_id
    join organizations o on o.id = s.organization_id
    where s.token_hash = $1 and u.kind = 'person'`,
};

/** A session with its user and its organization, in one indexed statement; null if there is none. */
export async function findSessionByHash(db: Database, tokenHash: Buffer): Promise<SessionRecord | null> {
  type Row = Omit<SessionRecord, 'keyNotices'> & { notices: readonly NoticeJson[] | null };
  const { rows } = await db.pool.query<Row>({ ...FIND_SESSION, values: [tokenHash] });
  const [row] = rows;
  if (row === undefined) return null;
  const { notices, ...session } = row;
  return { ...session, keyNotices: noticesFrom(notices) };
}

export type Credentials = {
  readonly organizationId: string;
  readonly userId: string;
  readonly passwordHash: string | null;
};

const FIND_CREDENTIALS = {
  name: 'find_credentials',
  text: `
    select organization_id as "organizationId", id as "userId", password_hash as "passwordHash"
    from users where email = $1 and kind = 'person'`,
};

/** For sign-in: one statement, whether the user exists or not. */
export async function findCredentials(db: Database, email: string): Promise<Credentials | null> {
  const { rows } = await db.pool.query<Credentials>({ ...FIND_CREDENTIALS, values: [email] });
  return rows[0] ?? null;
}

const FIND_PASSKEY = {
  name: 'find_passkey_by_credential_id',
  text: `select organization_id as "organizationId", user_id as "userId" from passkeys where credential_id = $1`,
};

/** For sign-in: whose passkey has this credential id. */
export async function findPasskeyUser(
  db: Database,
  credentialId: Uint8Array,
): Promise<{ readonly organizationId: string; readonly userId: string } | null> {
  const values = [credentialId];
  const { rows } = await db.pool.query<{ organizationId: string; userId: string }>({ ...FIND_PASSKEY, values });
  return rows[0] ?? null;
}

type LinkRow = Omit<AccessLinkRecord, 'maker' | 'kind'> & {
  kind: AccessLinkKind;
  makerId: string | null;
  makerRole: Role | null;
  makerDeactivatedAt: Date | null;
};

const FIND_LINK = {
  name: 'find_access_link_by_hash',
  text: `
    select l.organization_id as "organizationId", o.name as "organizationName", l.user_id as "userId", u.name, u.email,
           u.role, u.totp_since is not null as "hasSecondFactor", u.deactivated_at as "userDeactivatedAt", l.kind,
           l.expires_at as "expiresAt", l.used_at as "usedAt",
           m.id as "makerId", m.role as "makerRole", m.deactivated_at as "makerDeactivatedAt"
    from access_links l
    join users u on u.organization_id = l.organization_id and u.id = l.user_id
    join organizations o on o.id = l.organization_id
    left join users m on m.organization_id = l.organization_id and m.id = l.made_by_user_id
    where l.token_hash = $1 and u.kind = 'person'`,
};

/** A link with its user and its maker, in one indexed statement; null if there is none. */
export async function findAccessLinkByHash(db: Database, tokenHash: Buffer): Promise<AccessLinkRecord | null> {
  const { rows } = await db.pool.query<LinkRow>({ ...FIND_LINK, values: [tokenHash] });
  const [row] = rows;
  if (row === undefined) return null;
  const { makerId, makerRole, makerDeactivatedAt, ...link } = row;
  const maker =
    makerId === null || makerRole === null
      ? null
      : { userId: makerId, role: makerRole, deactivatedAt: makerDeactivatedAt };
  return { ...link, maker };
}

const FIND_SSO_ORGANIZATION = {
  name: 'find_sso_organization',
  text: `
    select d.organization_id as "organizationId" from sso_domains d
    join sso_connections c on c.organization_id = d.organization_id
    where d.domain = $1 and d.verified_at is not null`,
};

/** For sign-in: the organization whose people with an e-mail of this domain may sign in at its identity provider. */
export async function findSsoOrganization(db: Database, domain: string): Promise<string | null> {
  const { rows } = await db.pool.query<{ organizationId: string }>({ ...FIND_SSO_ORGANIZATION, values: [domain] });
  return rows[0]?.organizationId ?? null;
}

const HAS_SSO = {
  name: 'has_sso',
  text: `
    select exists (
      select from sso_connections c
      join sso_domains d on d.organization_id = c.organization_id and d.verified_at is not null) as has`,
};

/** For sign-in: whether the people of any organization can sign in at an identity provider. */
export async function hasSso(db: Database): Promise<boolean> {
  const { rows } = await db.pool.query<{ has: boolean }>(HAS_SSO);
  return rows[0]?.has === true;
}

/** For the operator's commands. An e-mail is unique across all organizations. */
export async function findUserByEmail(db: Database, email: string) {
  const address = normalEmail(email);
  if (address === null) return null;
  const where = { email: address, kind: 'person' as const };
  const user = await db.prisma.user.findUnique({ where, include: { organization: true } });
  return user === null ? null : { ...user, email: address };
}

/** For the operator's commands. */
export async function findIntegrationById(db: Database, id: string) {
  return db.prisma.user.findFirst({ where: { id, kind: 'integration' }, select: { organizationId: true, id: true } });
}

/** For the operator's commands. */
export async function findOrganization(db: Database, id: string) {
  return db.prisma.organization.findUnique({ where: { id } });
}

const MAX_ORGANIZATIONS = 1000;

/** For the operator's commands: the first 1,000 organizations, oldest first. */
export async function listOrganizations(db: Database) {
  return db.prisma.organization.findMany({
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: MAX_ORGANIZATIONS,
    select: { id: true, name: true, suspendedAt: true, createdAt: true, move: { select: { startedAt: true } } },
  });
}

/** For the operator's commands: the user and the organization of a key. */
export async function findKeyById(db: Database, id: string) {
  return db.prisma.apiKey.findFirst({ where: { id }, select: { organizationId: true, userId: true } });
}

const MAX_KEYS_OF_A_PREFIX = 20;

/** For the operator's commands: the keys with this prefix, such as "charter_live_Ab3d", oldest first, at most 20. */
export async function findKeysByPrefix(db: Database, keyPrefix: string) {
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
