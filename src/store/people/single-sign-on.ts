import { memberOf } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import {
  GROUP_ROLES,
  type GroupRole,
  type GroupRoleRule,
  NEW_PEOPLE_ROLES,
  type NewPeopleRole,
  SIGN_IN_MINUTES,
} from '../../domain/people/single-sign-on.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';

export type SsoConnectionRecord = {
  readonly organizationId: string;
  readonly issuer: string;
  readonly clientId: string;
  /** The client secret, encrypted. */
  readonly clientSecret: Uint8Array;
  /** The role of people who sign in for the first time; `null` if they get no account. */
  readonly newPeopleRole: NewPeopleRole | null;
  /** The name of the claim that contains a person's groups; empty if roles do not depend on groups. */
  readonly groupsClaim: string;
  readonly groupRoles: readonly GroupRoleRule[];
  /** When single sign-on became required; `null` if passwords are also accepted. */
  readonly enforcedAt: Date | null;
  readonly breakGlassUserId: string | null;
};

export async function findSsoConnection(
  tx: Transaction,
  { organizationId }: OrganizationScope,
): Promise<SsoConnectionRecord | null> {
  const row = await tx.ssoConnection.findUnique({
    where: { organizationId },
    include: { groupRoles: { orderBy: { groupName: 'asc' } } },
  });
  if (row === null) return null;
  // Check constraints of the tables prevent any other role.
  const newPeopleRole = NEW_PEOPLE_ROLES.find((role) => role === row.newPeopleRole) ?? null;
  const groupRoles = row.groupRoles.flatMap(({ groupName, role }) => {
    const groupRole = groupRoleOf(role);
    return groupRole === null ? [] : [{ groupName, role: groupRole }];
  });
  return { ...row, newPeopleRole, groupRoles };
}

export function groupRoleOf(role: string | null): GroupRole | null {
  return GROUP_ROLES.find((each) => each === role) ?? null;
}

export async function lockSsoConnection(
  tx: Transaction,
  scope: OrganizationScope,
): Promise<SsoConnectionRecord | null> {
  await tx.$queryRaw`select 1 from sso_connections where organization_id = ${scope.organizationId}::uuid for update`;
  return findSsoConnection(tx, scope);
}

/**
 * Prevents changes to the organization's connection until the transaction ends, and returns the connection; `null` if there is
 * none.
 */
export async function shareSsoConnection(
  tx: Transaction,
  scope: OrganizationScope,
): Promise<SsoConnectionRecord | null> {
  await tx.$queryRaw`select 1 from sso_connections where organization_id = ${scope.organizationId}::uuid for share`;
  return findSsoConnection(tx, scope);
}

/** A new connection. `clientSecret` is encrypted. */
export type NewSsoConnection = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Uint8Array<ArrayBuffer>;
};

export async function saveSsoConnection(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { issuer, clientId, clientSecret }: NewSsoConnection,
): Promise<void> {
  const data = { issuer, clientId, clientSecret };
  await tx.ssoConnection.upsert({
    where: { organizationId },
    create: { organizationId, ...data },
    update: data,
    select: { organizationId: true },
  });
}

/** Deletes the connection and the links from users to people at the provider. Returns `false` if there was no connection. */
export async function deleteSsoConnection(tx: Transaction, { organizationId }: OrganizationScope): Promise<boolean> {
  return (await tx.ssoConnection.deleteMany({ where: { organizationId } })).count === 1;
}

export type SsoRules = Pick<SsoConnectionRecord, 'newPeopleRole' | 'groupsClaim' | 'groupRoles'>;

/** Sets the connection's rules. Throws if there is no connection. */
export async function setSsoRules(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { newPeopleRole, groupsClaim, groupRoles }: SsoRules,
): Promise<void> {
  const data = { newPeopleRole, groupsClaim };
  await tx.ssoConnection.update({ where: { organizationId }, data, select: { organizationId: true } });
  await tx.ssoGroupRole.deleteMany({ where: { organizationId } });
  await tx.ssoGroupRole.createMany({ data: groupRoles.map((rule) => ({ organizationId, ...rule })) });
}

/** Sets whether single sign-on is required. Throws if there is no connection. */
export async function setSsoEnforced(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  data: { readonly enforcedAt: Date; readonly breakGlassUserId: string },
): Promise<void> {
  await tx.ssoConnection.update({ where: { organizationId }, data, select: { organizationId: true } });
}

export type SsoDomainRecord = {
  readonly domain: string;
  readonly token: string;
  /** `null` if the domain is not verified. */
  readonly verifiedAt: Date | null;
};

/** Lists the domains by name. An organization has at most 20 domains. */
export async function listSsoDomains(
  tx: Transaction,
  { organizationId }: OrganizationScope,
): Promise<SsoDomainRecord[]> {
  return tx.ssoDomain.findMany({
    where: { organizationId },
    orderBy: { domain: 'asc' },
    select: { domain: true, token: true, verifiedAt: true },
  });
}

/** Inserts a domain. Throws a unique violation if the organization already has this domain. */
export async function insertSsoDomain(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  domain: { readonly domain: string; readonly token: string },
): Promise<void> {
  await tx.ssoDomain.create({ data: { organizationId, ...domain }, select: { domain: true } });
}

/**
 * Marks a domain as verified. Returns `false` if the organization has no domain with this token, or if the domain is already
 * verified. Throws a unique violation if another organization has verified it.
 */
export async function verifySsoDomain(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { domain, token, at }: { readonly domain: string; readonly token: string; readonly at: Date },
): Promise<boolean> {
  const where = { organizationId, domain, token, verifiedAt: null };
  return (await tx.ssoDomain.updateMany({ where, data: { verifiedAt: at } })).count === 1;
}

/** Deletes a domain and returns its previous state; returns `null` if the organization does not have the domain. */
export async function deleteSsoDomain(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  domain: string,
): Promise<{ readonly verifiedAt: Date | null } | null> {
  const [deleted] = await tx.$queryRaw<{ verifiedAt: Date | null }[]>`
    delete from sso_domains where organization_id = ${organizationId}::uuid and domain = ${domain}
    returning verified_at as "verifiedAt"`;
  return deleted ?? null;
}

export async function hasVerifiedSsoDomain(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  domain: string,
): Promise<boolean> {
  return (await tx.ssoDomain.count({ where: { organizationId, domain, verifiedAt: { not: null } } })) === 1;
}

/** The identity of a person at the identity provider. */
export type SsoSubject = { readonly issuer: string; readonly subject: string };

/** Returns the id of the user who is linked to this identity; `null` if there is no such user. */
export async function findSsoUser(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { issuer, subject }: SsoSubject,
): Promise<string | null> {
  const where = { organizationId_issuer_subject: { organizationId, issuer, subject } };
  return (await tx.ssoIdentity.findUnique({ where, select: { userId: true } }))?.userId ?? null;
}

export async function hasSsoIdentity(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  userId: string,
): Promise<boolean> {
  return (await tx.ssoIdentity.count({ where: { organizationId, userId } })) === 1;
}

/** Returns the id of the organization's person with this e-mail, which is in lower case; `null` if there is no such person. */
export async function findUserIdByEmail(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  email: string,
): Promise<string | null> {
  const where = { organizationId, email, kind: 'person' as const };
  return (await tx.user.findFirst({ where, select: { id: true } }))?.id ?? null;
}

/** Links a user to an identity. Throws a unique violation if the user or the identity is already linked. */
export async function insertSsoIdentity(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  identity: SsoSubject & { readonly userId: string; readonly linkedAt: Date },
): Promise<void> {
  await tx.ssoIdentity.create({ data: { organizationId, ...identity }, select: { userId: true } });
}

/** Deletes the identities of all people in the organization. */
export async function deleteSsoIdentities(tx: Transaction, { organizationId }: OrganizationScope): Promise<void> {
  await tx.ssoIdentity.deleteMany({ where: { organizationId } });
}

/** Deletes a user's identity. Returns `false` if the user was not linked to an identity. */
export async function deleteSsoIdentity(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  userId: string,
): Promise<boolean> {
  return (await tx.ssoIdentity.deleteMany({ where: { organizationId, userId } })).count === 1;
}

/** A person at the provider who has the e-mail of a user, but has not confirmed yet that the user's account is theirs. */
export type UnconfirmedPerson = {
  readonly userId: string;
  readonly subject: string;
  /** The provider's id of the session; empty if the provider gave none. */
  readonly sid: string;
  /** The claims of the provider, which take effect only when the user confirms. */
  readonly claims: UnconfirmedClaims;
};

/**
 * `groupsClaim` is the name of the claim that contains the groups. `groups` is `undefined` if the provider did not send that
 * claim.
 */
export type UnconfirmedClaims = {
  readonly email: string;
  readonly groupsClaim: string;
  readonly groups?: readonly string[] | undefined;
};

export type SsoSignInRecord = {
  readonly issuer: string;
  readonly next: string;
  /** The e-mail that the user typed; empty if the sign-in began at the provider. */
  readonly email: string;
  /**
   * The form that waits for a proof, encrypted; `null` if the sign-in is not a proof. If it is set, the provider only proves who
   * the session's user is, and no session starts.
   */
  readonly sealedForm: Buffer | null;
  /** The SHA-256 of the token of the access link that began the sign-in; `null` if no link began it. */
  readonly linkHash: Buffer | null;
  /** The person who must confirm; `null` while the sign-in is at the provider. */
  readonly person: UnconfirmedPerson | null;
  readonly createdAt: Date;
};

export type NewSsoSignIn = SsoSignInRecord & { readonly tokenHash: Buffer; readonly browserHash: Buffer };

export async function insertSsoSignIn(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { tokenHash, browserHash, linkHash, sealedForm, person, ...signIn }: NewSsoSignIn,
): Promise<void> {
  await tx.ssoSignIn.create({
    data: {
      organizationId,
      tokenHash: Uint8Array.from(tokenHash),
      browserHash: Uint8Array.from(browserHash),
      linkHash: linkHash === null ? null : Uint8Array.from(linkHash),
      sealedForm: sealedForm === null ? null : Uint8Array.from(sealedForm),
      ...signIn,
      ...person,
    },
    select: { createdAt: true },
  });
}

type SignInKey = { readonly tokenHash: Buffer; readonly browserHash: Buffer };

/** Returns the sign-in that this browser began; `null` if there is none. */
export async function findSsoSignIn(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { tokenHash, browserHash }: SignInKey,
): Promise<SsoSignInRecord | null> {
  const row = await tx.ssoSignIn.findUnique({
    where: {
      organizationId_tokenHash: { organizationId, tokenHash: Uint8Array.from(tokenHash) },
      browserHash: Uint8Array.from(browserHash),
    },
  });
  if (row === null) return null;
  const { userId, subject, sid, claims: stored, groupRole: _, linkHash, sealedForm, ...signIn } = row;
  const claims = claimsOf(stored);
  const person = userId === null || subject === null || claims === null ? null : { userId, subject, sid, claims };
  return {
    ...signIn,
    linkHash: linkHash === null ? null : Buffer.from(linkHash),
    sealedForm: sealedForm === null ? null : Buffer.from(sealedForm),
    person,
  };
}

/** Parses stored claims. Returns `null` if a server of the previous version has stored them. */
function claimsOf(stored: unknown): UnconfirmedClaims | null {
  const [email, groupsClaim, groups] = ['email', 'groupsClaim', 'groups'].map((name) => memberOf(stored, name));
  if (typeof email !== 'string' || typeof groupsClaim !== 'string') return null;
  const isList = Array.isArray(groups) && groups.every((each) => typeof each === 'string');
  return isList ? { email, groupsClaim, groups } : { email, groupsClaim };
}

/** Deletes a sign-in. Only one of several concurrent calls returns `true`, so that a sign-in is not used twice. */
export async function deleteSsoSignIn(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { tokenHash, browserHash }: SignInKey,
): Promise<boolean> {
  const where = {
    organizationId,
    tokenHash: Uint8Array.from(tokenHash),
    browserHash: Uint8Array.from(browserHash),
  };
  return (await tx.ssoSignIn.deleteMany({ where })).count === 1;
}

/**
 * Deletes the person's sign-ins that wait for a confirmation. With `sids`, deletes only the sign-ins that have one of these
 * session ids of the provider.
 */
export async function deleteUnconfirmed(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { issuer, subject, sids }: { issuer: string; subject: string | null; sids: readonly string[] | undefined },
): Promise<void> {
  await tx.ssoSignIn.deleteMany({
    where: {
      organizationId,
      issuer,
      subject: subject ?? { not: null },
      ...(sids !== undefined && { sid: { in: [...sids] } }),
    },
  });
}

/** Deletes the unfinished sign-ins of all people of the organization. */
export async function deleteSsoSignIns(tx: Transaction, { organizationId }: OrganizationScope): Promise<void> {
  await tx.ssoSignIn.deleteMany({ where: { organizationId } });
}

/** Deletes in chunks, for all organizations, the expired sign-ins. Returns the number of deleted sign-ins. */
export async function deleteExpiredSsoSignIns(db: Database, deletion: Deletion): Promise<number> {
  const createdBefore = new Date(deletion.now.getTime() - SIGN_IN_MINUTES * MINUTE_MS);
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from sso_sign_ins where (organization_id, token_hash) in (
        select organization_id, token_hash from sso_sign_ins where created_at <= ${createdBefore}
        order by created_at limit ${CHUNK_ROWS}::int for update skip locked)`,
  );
}
