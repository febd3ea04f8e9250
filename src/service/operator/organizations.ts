import { v7 as newId } from 'uuid';
import { DomainError } from '../../domain/errors.ts';
import type { OrganizationLimits } from '../../domain/keys/request-limits.ts';
import { parseName } from '../../domain/name.ts';
import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { parseEmail, shownEmail } from '../../domain/people/email.ts';
import { commandLine } from '../../domain/release.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { findMove } from '../../store/organizations/organization-moves.ts';
import {
  insertOrganization,
  lockOrganization,
  setLimits,
  setSuspended,
} from '../../store/organizations/organizations.ts';
import { insertUser, type NewUser } from '../../store/people/users.ts';
import { type Database, transaction } from '../../store/sql/database.ts';
import { isUniqueViolation } from '../../store/sql/database-errors.ts';
import { retireOtherKeys } from '../../store/sql/secrets.ts';
import { findOrganization, listUsersByEmail } from '../../store/unscoped/operator.ts';
import { changesBetween } from '../audit/audit-log.ts';
import { orThrow } from '../outcome.ts';
import { stopRequiringSingleSignOn } from '../sign-in-settings/requirement.ts';
import { requireFreeDomain } from './users.ts';

// The actions of the operator, who has access to the database and therefore to every organization.

export type NewOrganization = { readonly name: string; readonly users: readonly Omit<NewUser, 'id'>[] };

/** Creates an organization with its first users. At least one of them must be an administrator, who can invite others. */
export async function createOrganization(db: Database, request: NewOrganization): Promise<OrganizationScope> {
  const { name, users } = readOrganization(request);
  const scope = OrganizationScope.grant(newId());
  for (const { email } of users) {
    await requireFreeDomain(db, email, null);
    const known = await listUsersByEmail(db, email);
    // Another organization of the same name means that the command was run twice, before the administrator accepted the
    // invitation.
    const isRepeated = known.some(({ organization }) => organization.name === name);
    if (isRepeated || known.some(({ hasAccepted }) => hasAccepted)) throw takenEmailError(users);
  }
  try {
    await transaction(db, async (tx) => {
      await insertOrganization(tx, scope, { name, keyring: db.keyring });
      for (const user of users) await insertUser(tx, scope, { ...user, id: newId() });
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw takenEmailError(users);
  }
  return scope;
}

function takenEmailError(users: NewOrganization['users']): DomainError {
  const emails = users.map(({ email }) => shownEmail(email)).join(' or ');
  return new DomainError('conflict', `The e-mail ${emails} belongs to a user already. Give another one.`);
}

/** Validates names and e-mails, and returns them in the form in which they are stored. */
function readOrganization({ name, users }: NewOrganization): NewOrganization {
  return {
    name: parseName(name, { kind: 'organization' }),
    users: users.map((user) => ({
      ...user,
      name: parseName(user.name, { kind: 'person', field: 'user name' }),
      email: parseEmail(user.email),
    })),
  };
}

export async function suspendOrganization(db: Database, id: string): Promise<void> {
  await changeSuspension(db, await getScope(db, id), new Date());
}

export async function resumeOrganization(db: Database, id: string): Promise<void> {
  await changeSuspension(db, await getScope(db, id), null);
}

/**
 * Suspends the organization at the time `at`, or resumes it if `at` is `null`. Does nothing if the organization is already in
 * that state.
 */
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

/** Lets people sign in with passwords again, for example because the identity provider is down for good. */
export async function allowPasswords(db: Database, id: string): Promise<void> {
  orThrow(await stopRequiringSingleSignOn(db, { kind: 'operator', scope: await getScope(db, id) }));
}

/**
 * Encrypts all secrets with the first encryption key of the configuration, so that the other keys are no longer needed. Returns
 * the number of secrets.
 */
export async function rotateEncryptionKey(db: Database): Promise<number> {
  return retireOtherKeys(db);
}

/**
 * Changes the limits that are not `undefined`, and returns all limits of the organization. If nothing changes, nothing is
 * recorded in the audit log.
 */
export async function changeLimits(
  db: Database,
  id: string,
  change: { readonly [Name in keyof OrganizationLimits]: OrganizationLimits[Name] | undefined },
): Promise<OrganizationLimits> {
  const scope = await getScope(db, id);
  return transaction(db, async (tx) => {
    const { limits: before } = await lockOrganization(tx, scope);
    const after = {
      perKey: change.perKey === undefined ? before.perKey : change.perKey,
      perOrganization: change.perOrganization === undefined ? before.perOrganization : change.perOrganization,
    };
    const detail = changesBetween(limitWordsOf(before), limitWordsOf(after));
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

function limitWordsOf({ perKey, perOrganization }: OrganizationLimits): Record<string, string> {
  const words = (limit: number | null) => (limit === null ? 'default' : limit === 0 ? 'no limit' : String(limit));
  return { 'requests per second and key': words(perKey), 'requests per second': words(perOrganization) };
}

/** Returns the scope of the organization with this id. Throws if there is no such organization. */
export async function getScope(db: Database, id: string): Promise<OrganizationScope> {
  if ((await findOrganization(db, id)) === null)
    throw new DomainError(
      'not_found',
      `There is no organization with the id ${id}. "${commandLine('admin')} list-organizations" shows them.`,
    );
  return OrganizationScope.grant(id);
}
