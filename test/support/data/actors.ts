import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import { DomainError, memberOf } from '../../../src/domain/errors.ts';
import { OrganizationScope } from '../../../src/domain/organizations/organization-scope.ts';
import { type KeyPolicy, PERMISSIONS, type Permission, ROLES, type Role } from '../../../src/domain/people/role.ts';
import { type IssuedKey, issueKey, type KeyRequest } from '../../../src/service/keys/issue-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { placeOfCursorKey } from '../../../src/store/sql/secrets.ts';

export const NOBODY = '00000000-0000-7000-8000-000000000000';
export const READ: readonly Permission[] = PERMISSIONS.filter((permission) => permission.endsWith(':read'));
export const READ_WRITE: readonly Permission[] = PERMISSIONS;

/** Creates an organization without users. */
export async function createScope(
  { prisma, pool, keyring }: Database,
  policy: Partial<KeyPolicy> & { readonly name?: string } = {},
): Promise<OrganizationScope> {
  const scope = OrganizationScope.grant(newId());
  const { organizationId: id } = scope;
  const cursorKey = keyring.encrypt(randomBytes(32), placeOfCursorKey(id));
  // The tests create hundreds of organizations, and Prisma would take ten times as long as this statement.
  await pool.query("insert into organizations (id, name, cursor_key) values ($1, 'Test', $2)", [id, cursorKey]);
  if (Object.keys(policy).length > 0) await prisma.organization.update({ where: { id }, data: policy });
  return scope;
}

type NewActor = {
  readonly role: Role;
  readonly name?: string | undefined;
  readonly email?: string;
  readonly passwordHash?: string;
};

export async function createActor(db: Database, scope: OrganizationScope, role: Role, name?: string): Promise<Actor> {
  const [actor] = await createActors(db, scope, [{ role, name }]);
  if (actor === undefined) throw new Error('No user was created.');
  return actor;
}

/** Creates users, and returns them in the order of `users`. */
export async function createActors(
  { pool }: Database,
  scope: OrganizationScope,
  users: readonly NewActor[],
): Promise<readonly Actor[]> {
  const actors = users.map(({ role, name = `The ${role}`, email = `${crypto.randomUUID()}@example.test` }): Actor => {
    return {
      scope,
      userId: newId(),
      role,
      name,
      email,
      auditSource: { ip: '192.0.2.1', userAgent: 'Test', requestId: crypto.randomUUID() },
      ...SIGNED_IN,
    };
  });
  const rows = actors.map(({ userId: id, email, name, role }, i) => {
    return { id, email, name, role, password_hash: users[i]?.passwordHash ?? null };
  });
  await pool.query(
    `insert into users (organization_id, id, email, name, role, password_hash)
     select $1, id, email, name, role, password_hash from json_populate_recordset(null::users, $2::json)`,
    [scope.organizationId, JSON.stringify(rows)],
  );
  return actors;
}

const SIGNED_IN = {
  organizationName: 'Test',
  isSuspended: false,
  hasSecondFactor: false,
  endpointsDisabledByCharter: 0,
  ownsIntegrations: false,
  lacksOwners: false,
  keyNotices: [],
};

/** Returns the audit events of the organization, oldest first. */
export function listAuditEventsOf({ prisma }: Database, { scope: { organizationId } }: Pick<Actor, 'scope'>) {
  return prisma.auditEvent.findMany({ where: { organizationId }, orderBy: { id: 'asc' } });
}

export type People = { scope: OrganizationScope } & Record<Role | 'other', Actor>;

/** Creates an organization with one user of each role, and a second administrator. */
export async function createPeople(db: Database, policy: Partial<KeyPolicy> = {}): Promise<People> {
  const scope = await createScope(db, policy);
  const actors = await createActors(
    db,
    scope,
    ROLES.map((role) => ({ role })),
  );
  return { scope, ...byRole(actors), other: await createActor(db, scope, 'administrator', 'The other') };
}

/** Returns the first user of each role. */
export function byRole(actors: readonly Actor[]): Record<Role, Actor> {
  const of = (role: Role) => {
    const found = actors.find((each) => each.role === role);
    if (found === undefined) throw new Error(`There is no ${role}.`);
    return found;
  };
  return { administrator: of('administrator'), manager: of('manager'), member: of('member'), viewer: of('viewer') };
}

/**
 * Creates a key for the user as an operator does, even if the user's role may not create keys. By default, the key has the
 * permissions that the role can have.
 */
export async function giveKey(
  db: Database,
  { scope, userId, role }: Actor,
  change: Partial<Pick<KeyRequest, 'name' | 'permissions' | 'lifeDays' | 'restrictions'>> = {},
): Promise<IssuedKey> {
  const permissions = role === 'viewer' ? READ : READ_WRITE;
  const request = {
    userId,
    name: crypto.randomUUID(),
    permissions,
    lifeDays: 300,
    environment: 'live',
    ...change,
  } as const;
  return orThrow(await issueKey(db, { kind: 'operator', scope }, request));
}

export async function changeRoleInTheTable({ prisma }: Database, { userId }: Actor, role: Role): Promise<void> {
  await prisma.user.updateMany({ where: { id: userId }, data: { role } });
}

const REFUSALS: ReadonlySet<unknown> = new Set([
  'invalid',
  'conflict',
  'name-taken',
  'refused',
  'locks-out',
  'already-sent',
  'rate-limited',
  'dead-link',
]);

/** Returns "done", or the refusal that `work` returned or threw, such as "conflict: ..." or "rate-limited". */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    (outcome) => {
      const [kind, message] = [memberOf(outcome, 'kind'), memberOf(outcome, 'message')];
      if (!REFUSALS.has(kind)) return 'done';
      return message === undefined ? String(kind) : `${kind}: ${message}`;
    },
    (error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
      return `${error.code}: ${error.message}`;
    },
  );
}

export const codeOf = async (work: Promise<unknown>) => (await outcomeOf(work)).split(':')[0];

/** Calls `work` for each item, eight at a time, because each call mostly waits. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T, i: number) => Promise<unknown>,
): Promise<void> {
  for (let i = 0; i < items.length; i += 8) {
    await Promise.all(items.slice(i, i + 8).map((item, j) => work(item, i + j)));
  }
}

export const times = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));
