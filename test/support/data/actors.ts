import { v7 as newId } from 'uuid';
import type { Actor } from '../../../src/domain/actor.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { OrganizationScope } from '../../../src/domain/organization-scope.ts';
import { type KeyPolicy, PERMISSIONS, type Permission, type Role } from '../../../src/domain/role.ts';
import { type IssuedKey, issueKey, type KeyRequest } from '../../../src/service/keys/issue-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import type { Database } from '../../../src/store/database.ts';
import { memberOf } from '../../../src/store/error-code.ts';
import { insertOrganization } from '../../../src/store/organizations.ts';
import { insertUser } from '../../../src/store/users.ts';

export const NOBODY = '00000000-0000-7000-8000-000000000000';
export const READ: readonly Permission[] = PERMISSIONS.filter((permission) => permission.endsWith(':read'));
export const READ_WRITE: readonly Permission[] = PERMISSIONS;

/** An organization without users. */
export async function createScope(
  { prisma, keyring }: Database,
  policy: Partial<KeyPolicy> = {},
): Promise<OrganizationScope> {
  const scope = OrganizationScope.grant(newId());
  await insertOrganization(prisma, scope, { name: 'Test', keyring });
  await prisma.organization.update({ where: { id: scope.organizationId }, data: policy });
  return scope;
}

/** A signed-in user. */
export async function createActor(
  { prisma }: Database,
  scope: OrganizationScope,
  role: Role,
  name = `The ${role}`,
): Promise<Actor> {
  const [userId, email] = [newId(), `${crypto.randomUUID()}@example.test`];
  await insertUser(prisma, scope, { id: userId, email, name, role, passwordHash: null, hasAccepted: true });
  const auditSource = { ip: '192.0.2.1', userAgent: 'Test', requestId: crypto.randomUUID() };
  return {
    scope,
    userId,
    role,
    name,
    email,
    auditSource,
    organizationName: 'Test',
    isSuspended: false,
    hasSecondFactor: false,
    endpointsDisabledByCharter: 0,
    ownsIntegrations: false,
    lacksOwners: false,
    keyNotices: [],
  };
}

/** The audit events of the organization, oldest first. */
export function auditEventsOf({ prisma }: Database, { scope: { organizationId } }: Pick<Actor, 'scope'>) {
  return prisma.auditEvent.findMany({ where: { organizationId }, orderBy: { id: 'asc' } });
}

export type People = { scope: OrganizationScope } & Record<Role | 'other', Actor>;

/** An organization with one user of each role, and a second administrator. */
export async function createPeople(db: Database, policy: Partial<KeyPolicy> = {}): Promise<People> {
  const scope = await createScope(db, policy);
  return {
    scope,
    administrator: await createActor(db, scope, 'administrator'),
    manager: await createActor(db, scope, 'manager'),
    member: await createActor(db, scope, 'member'),
    viewer: await createActor(db, scope, 'viewer'),
    other: await createActor(db, scope, 'administrator', 'The other'),
  };
}

/** A key made by an operator, whatever the user's role allows. */
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

/** "done", or the refusal that was returned or thrown: "conflict: ...", "rate-limited". */
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

export const times = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));
