import { v7 as newId } from 'uuid';
import { type Environment, endOf, findKeyIn, hashKey, isWholePrefix } from '../domain/api-key.ts';
import { normalEmail } from '../domain/email.ts';
import { DomainError, invalidField } from '../domain/errors.ts';
import { holderText } from '../domain/holder.ts';
import { parseName } from '../domain/name.ts';
import { OrganizationScope } from '../domain/organization-scope.ts';
import { commandLine } from '../domain/release.ts';
import type { OrganizationLimits } from '../domain/request-limits.ts';
import type { Permission } from '../domain/role.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { isUniqueViolation } from '../store/database-errors.ts';
import { findMove } from '../store/organization-moves.ts';
import { insertOrganization, lockOrganization, setLimits, setSuspended } from '../store/organizations.ts';
import { retireOtherKeys } from '../store/secrets.ts';
import { findKeysByHash } from '../store/unscoped/keys.ts';
import {
  findIntegrationById,
  findKeyById,
  findKeysByPrefix,
  findOrganization,
  findUserByEmail,
} from '../store/unscoped/operator.ts';
import { insertUser, type NewUser } from '../store/users.ts';
import { resetSecondFactor } from './accounts/reset-second-factor.ts';
import { type IssuedKey, issueKey } from './keys/issue-key.ts';
import { revokeKey } from './keys/revoke-key.ts';
import { type ArchiveHead, readHead } from './organizations/archive-format.ts';
import { deleteOrganization } from './organizations/delete-organization.ts';
import { cancelMove, type Exported, exportOrganization } from './organizations/export-organization.ts';
import { type Archive, type Imported, importOrganization } from './organizations/import-organization.ts';
import { orThrow } from './outcome.ts';
import { vouchForDomain } from './single-sign-on/domains.ts';
import { stopRequiringSingleSignOn } from './single-sign-on/enforcement.ts';

// The actions of the operator, who has access to the database and so to every organization.

export type NewOrganization = { readonly name: string; readonly users: readonly Omit<NewUser, 'id'>[] };

/** Creates an organization with its first users. One must be an administrator, to invite the others. */
export async function createOrganization(db: Database, request: NewOrganization): Promise<OrganizationScope> {
  const { name, users } = parse(request);
  const scope = OrganizationScope.grant(newId());
  try {
    await transaction(db, async (tx) => {
      await insertOrganization(tx, scope, { name, keyring: db.keyring });
      for (const user of users) await insertUser(tx, scope, { ...user, id: newId() });
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new DomainError(
      'conflict',
      `The e-mail ${users.map(({ email }) => email).join(' or ')} belongs to a user already. Give another one.`,
    );
  }
  return scope;
}

/** Validates names and e-mails, and converts them to the form in which they are stored. */
function parse({ name, users }: NewOrganization): NewOrganization {
  return {
    name: parseName(name, { kind: 'organization' }),
    users: users.map((user) => ({
      ...user,
      name: parseName(user.name, { kind: 'person', field: 'user name' }),
      email: parseEmail(user.email),
    })),
  };
}

function parseEmail(text: string): string {
  const email = normalEmail(text);
  if (email === null) throw invalidField('email', `must be an e-mail address, which ${JSON.stringify(text)} is not.`);
  return email;
}

export type OperatorKeyRequest = {
  email: string;
  name: string;
  permissions: readonly Permission[];
  lifeDays: number | null;
  environment: Environment;
  cell?: string | null;
};

export async function issueKeyByEmail(
  db: Database,
  { email, ...request }: OperatorKeyRequest,
): Promise<IssuedKey & { organizationId: string }> {
  const { scope, userId } = await getUserByEmail(db, email);
  const issued = orThrow(await issueKey(db, { kind: 'operator', scope }, { ...request, userId }));
  return { ...issued, organizationId: scope.organizationId };
}

export async function issueKeyForIntegration(
  db: Database,
  { integrationId, ...request }: Omit<OperatorKeyRequest, 'email'> & { integrationId: string },
): Promise<IssuedKey & { organizationId: string }> {
  const integration = await findIntegrationById(db, integrationId);
  if (integration === null) throw new DomainError('not_found', `There is no integration with the id ${integrationId}.`);
  const { organizationId } = integration;
  const operator = { kind: 'operator', scope: OrganizationScope.grant(organizationId) } as const;
  return { ...orThrow(await issueKey(db, operator, { ...request, userId: integrationId })), organizationId };
}

/** Returns the e-mail as it is stored. */
export async function resetSecondFactorByEmail(db: Database, address: string): Promise<{ email: string }> {
  const { scope, userId, email } = await getUserByEmail(db, address);
  orThrow(await resetSecondFactor(db, { kind: 'operator', scope }, { userId }));
  return { email };
}

async function getUserByEmail(db: Database, address: string) {
  const user = await findUserByEmail(db, address);
  if (user === null) throw new DomainError('not_found', `There is no user with the e-mail ${address}.`);
  return { scope: OrganizationScope.grant(user.organizationId), userId: user.id, email: user.email };
}

export async function revokeKeyById(db: Database, id: string): Promise<void> {
  const key = await findKeyById(db, id);
  if (key === null) throw new DomainError('not_found', `There is no API key with the id ${id}.`);
  const scope = OrganizationScope.grant(key.organizationId);
  orThrow(await revokeKey(db, { kind: 'operator', scope }, { keyId: id, userId: key.userId }));
}

/**
 * Revokes the key that is, or begins with, this text: a whole key, or a prefix such as "charter_live_Ab3d". If several keys
 * have the prefix, it revokes none, and the message lists them. Returns the id of the key.
 */
export async function revokeKeyByText(db: Database, text: string): Promise<string> {
  const found = findKeyIn(text);
  if (found === null || !isWholePrefix(found.prefix)) {
    throw new DomainError('invalid', 'Give a whole API key, or a prefix such as charter_live_Ab3d.');
  }
  if (found.kind === 'mistyped') {
    throw new DomainError(
      'invalid',
      'The key is mistyped or incomplete: its checksum is wrong. Check it, or give its prefix.',
    );
  }
  const id = found.kind === 'whole' ? await findIdOfKey(db, found.key) : await findIdByPrefix(db, found.prefix);
  await revokeKeyById(db, id);
  return id;
}

async function findIdOfKey(db: Database, key: string): Promise<string> {
  const hash = hashKey(key);
  const found = (await findKeysByHash(db, [hash])).get(hash);
  if (found === undefined) throw new DomainError('not_found', 'There is no such API key.');
  return found.id;
}

async function findIdByPrefix(db: Database, prefix: string): Promise<string> {
  const keys = await findKeysByPrefix(db, prefix);
  const [first] = keys;
  if (first === undefined) throw new DomainError('not_found', `There is no API key with the prefix ${prefix}.`);
  if (keys.length === 1) return first.id;
  const lines = keys.map((key) => {
    const state = endOf(key, new Date())?.kind ?? 'active';
    return `  ${key.id}  ${state}  ${JSON.stringify(key.name)} of ${holderText(key.user)}`;
  });
  throw new DomainError(
    'conflict',
    [`Several API keys have the prefix ${prefix}. None was revoked. Give the --id of one of them:`, ...lines].join(
      '\n',
    ),
  );
}

export async function exportOrganizationById(
  db: Database,
  id: string,
  request: Parameters<typeof exportOrganization>[2],
): Promise<Exported> {
  return exportOrganization(db, await scopeOf(db, id), request);
}

export async function cancelMoveById(db: Database, id: string): Promise<void> {
  await cancelMove(db, await scopeOf(db, id));
}

/** `lines`: those of an archive. */
export async function importOrganizationFrom(
  db: Database,
  lines: AsyncIterator<string>,
  { sourceKeyring }: Pick<Archive, 'sourceKeyring'>,
): Promise<Imported & ArchiveHead['organization']> {
  const first = await lines.next();
  const head = readHead(first.done === true ? '' : first.value);
  const archive = { head, lines: { [Symbol.asyncIterator]: () => lines }, sourceKeyring };
  const imported = await importOrganization(db, OrganizationScope.grant(head.organization.id), archive);
  return { ...imported, ...head.organization };
}

export async function deleteOrganizationById(db: Database, id: string, request: { name: string }): Promise<number> {
  return deleteOrganization(db, await scopeOf(db, id), request);
}

export async function suspendOrganization(db: Database, id: string): Promise<void> {
  await changeSuspension(db, await scopeOf(db, id), new Date());
}

export async function resumeOrganization(db: Database, id: string): Promise<void> {
  await changeSuspension(db, await scopeOf(db, id), null);
}

/** A repetition changes nothing, and is not recorded in the audit log. */
async function changeSuspension(db: Database, scope: OrganizationScope, at: Date | null): Promise<void> {
  const action = at === null ? 'organization.resumed' : 'organization.suspended';
  await transaction(db, async (tx) => {
    await lockOrganization(tx, scope);
    if ((await findMove(tx, scope)) !== null)
      throw new DomainError(
        'conflict',
        'The organization is moving to another database. If it was imported there, delete it here with delete-organization. ' +
          'Otherwise, run cancel-move first.',
      );
    if (await setSuspended(tx, scope, at))
      await recordAudit(tx, scope, { action, actorUserId: null, auditSource: null });
  });
}

/** Verifies an e-mail domain of the organization without its TXT record. Returns the domain in its normal form. */
export async function vouchForDomainOf(db: Database, id: string, domain: string): Promise<string> {
  const scope = await scopeOf(db, id);
  try {
    return await vouchForDomain(db, scope, { domain });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new DomainError('conflict', `Another organization has verified the domain ${domain}. Remove it there first.`);
  }
}

/** The last way in for an organization whose identity provider is lost: passwords work again. */
export async function allowPasswords(db: Database, id: string): Promise<void> {
  orThrow(await stopRequiringSingleSignOn(db, { kind: 'operator', scope: await scopeOf(db, id) }));
}

/** Encrypts all secrets with the first encryption key; the others are then not needed. Returns how many were encrypted. */
export async function rotateEncryptionKey(db: Database): Promise<number> {
  return retireOtherKeys(db);
}

/**
 * Changes the limits of the organization; an undefined one stays. A repetition changes nothing, and is not recorded in the
 * audit log. Returns the limits that the organization then has.
 */
export async function changeLimits(
  db: Database,
  id: string,
  change: { readonly [Name in keyof OrganizationLimits]: OrganizationLimits[Name] | undefined },
): Promise<OrganizationLimits> {
  const scope = await scopeOf(db, id);
  return transaction(db, async (tx) => {
    const { limits: before } = await lockOrganization(tx, scope);
    const after = {
      perKey: change.perKey === undefined ? before.perKey : change.perKey,
      perOrganization: change.perOrganization === undefined ? before.perOrganization : change.perOrganization,
    };
    const detail = changesBetween(before, after);
    if (Object.keys(detail).length === 0) return after;
    await setLimits(tx, scope, after);
    await recordAudit(tx, scope, {
      action: 'organization.limits_changed',
      actorUserId: null,
      detail,
      auditSource: null,
    });
    return after;
  });
}

/** "before -> after" by limit, for the audit log. */
function changesBetween(before: OrganizationLimits, after: OrganizationLimits): Record<string, string> {
  const words = (limit: number | null) => (limit === null ? 'default' : limit === 0 ? 'no limit' : String(limit));
  const changes = [
    { name: 'requests per second and key', from: words(before.perKey), to: words(after.perKey) },
    { name: 'requests per second', from: words(before.perOrganization), to: words(after.perOrganization) },
  ];
  return Object.fromEntries(
    changes.filter(({ from, to }) => from !== to).map(({ name, from, to }) => [name, `${from} -> ${to}`]),
  );
}

async function scopeOf(db: Database, id: string): Promise<OrganizationScope> {
  if ((await findOrganization(db, id)) === null)
    throw new DomainError(
      'not_found',
      `There is no organization with the id ${id}. "${commandLine('admin')} list-organizations" shows them.`,
    );
  return OrganizationScope.grant(id);
}
