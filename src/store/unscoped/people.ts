import type { SessionRecord } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { AccessLinkKind, AccessLinkRecord } from '../../domain/people/access-link.ts';
import type { Role } from '../../domain/people/role.ts';
import { type NoticeJson, noticesFrom, OPEN_NOTICES } from '../keys/key-notices.ts';
import { IS_MOVING } from '../organizations/organization-moves.ts';
import type { Database, Transaction } from '../sql/database.ts';

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
           -- For EXISTS, PostgreSQL may hash all rows of the table.
           coalesce((select true from users i
                     where i.organization_id = s.organization_id and i.owner_user_id = s.user_id limit 1), false) as "ownsIntegrations",
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

/**
 * Returns a session with its user and its organization in one SQL query that uses an index; `null` if the session does not exist.
 */
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
  readonly organizationIsMoving: boolean;
  readonly userId: string;
  readonly passwordHash: string | null;
};

const FIND_CREDENTIALS = {
  name: 'find_credentials',
  text: `
    select u.organization_id as "organizationId", ${IS_MOVING} as "organizationIsMoving", u.id as "userId",
           u.password_hash as "passwordHash"
    from users u join organizations o on o.id = u.organization_id
    where u.email = $1 and u.kind = 'person' and u.has_accepted`,
};

/**
 * Returns the credentials of the user with this e-mail; `null` if there is no such user. Sends one SQL query in both cases, so
 * that the time of a response does not reveal whether the user exists. Users who have never accepted an invitation cannot sign
 * in.
 */
export async function findCredentials(db: Database, email: string): Promise<Credentials | null> {
  const { rows } = await db.pool.query<Credentials>({ ...FIND_CREDENTIALS, values: [email] });
  return rows[0] ?? null;
}

/** A user who was invited and has never accepted an invitation. */
export type Invited = { readonly organizationId: string; readonly userId: string };

const MAX_INVITATIONS = 5;

const FIND_INVITED = {
  name: 'find_invited',
  text: `
    select organization_id as "organizationId", id as "userId" from users
    where split_part(email, '@', 2) = split_part($1, '@', 2) and email = $1 and not has_accepted and deactivated_at is null
    order by created_at desc limit ${MAX_INVITATIONS}`,
};

/** Lists the last five unaccepted invitations for this e-mail, in all organizations. */
export async function listInvited(db: Database, email: string): Promise<Invited[]> {
  const { rows } = await db.pool.query<Invited>({ ...FIND_INVITED, values: [email] });
  return rows;
}

const FIND_INVITED_AT = {
  name: 'find_invited_at_domain',
  text: `
    select organization_id as "organizationId", id as "userId" from users
    where split_part(email, '@', 2) = $1 and not has_accepted and organization_id <> $2`,
};

/**
 * Lists the people whom other organizations have invited with an e-mail of this domain, and who have never accepted an
 * invitation.
 */
export async function listInvitedElsewhere(
  db: Database,
  { organizationId }: OrganizationScope,
  domain: string,
): Promise<Invited[]> {
  const { rows } = await db.pool.query<Invited>({ ...FIND_INVITED_AT, values: [domain, organizationId] });
  return rows;
}

const FIND_PASSKEY = {
  name: 'find_passkey_by_credential_id',
  text: `select organization_id as "organizationId", user_id as "userId" from passkeys where credential_id = $1`,
};

/** Returns the user whose passkey has this credential id; `null` if there is none. */
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

/** Returns a link with its user and its maker in one SQL query that uses an index; `null` if the link does not exist. */
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

/**
 * Returns the id of the organization whose people with an e-mail of this domain may sign in at its identity provider; `null` if
 * there is no such organization.
 */
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

export async function hasSso(db: Database): Promise<boolean> {
  const { rows } = await db.pool.query<{ has: boolean }>(HAS_SSO);
  return rows[0]?.has === true;
}

/** Returns whether another organization has verified the domain, so that the domain's e-mails belong to that organization. */
export async function isVerifiedElsewhere(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  domain: string,
): Promise<boolean> {
  const where = { domain, verifiedAt: { not: null }, organizationId: { not: organizationId } };
  return (await tx.ssoDomain.count({ where })) > 0;
}
