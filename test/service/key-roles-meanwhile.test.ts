import type { Actor } from '../../src/domain/actor.ts';
import type { Role } from '../../src/domain/role.ts';
import { issueKey } from '../../src/service/issue-key.ts';
import { listKeys } from '../../src/service/list-keys.ts';
import { renameKey } from '../../src/service/rename-key.ts';
import { revokeKey } from '../../src/service/revoke-key.ts';
import { rotateKey } from '../../src/service/rotate-key.ts';
import { changeRoleInTheTable, codeOf, createPeople, giveKey, outcomeOf, READ } from '../support/actors.ts';
import { openTestDatabase, type TestDatabase } from '../support/store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

type Deed = 'create' | 'rotate' | 'rename' | 'revoke';
const DEEDS: readonly Deed[] = ['create', 'rotate', 'rename', 'revoke'];

async function attempt(by: Actor, target: Actor, deed: Deed): Promise<unknown> {
  const { db } = database;
  const { userId } = target;
  const name = crypto.randomUUID();
  if (deed === 'create')
    return issueKey(db, by, { userId, name, permissions: READ, lifeDays: 30, environment: 'live' });
  const { id: keyId } = await giveKey(db, target, { permissions: READ });
  if (deed === 'rotate') return rotateKey(db, by, { keyId, userId, environment: 'live' });
  if (deed === 'rename') return renameKey(db, by, { keyId, userId, name });
  return revokeKey(db, by, { keyId, userId });
}

async function allowedDeeds(by: Actor, target: Actor): Promise<Deed[]> {
  const allowed: Deed[] = [];
  for (const deed of DEEDS) {
    const code = await codeOf(attempt(by, target, deed));
    if (code === 'done') allowed.push(deed);
    else expect(['forbidden', 'refused']).toContain(code);
  }
  return allowed;
}

// The attack: a session from before the demotion, or a form that was open meanwhile. The actor still says "administrator".
test.each<[Role, readonly Deed[]]>([
  ['manager', ['revoke']],
  ['member', []],
  ['viewer', []],
])('an administrator who was made a %s meanwhile may do with an administrator’s keys: %j', async (role, deeds) => {
  const { administrator, other } = await createPeople(database.db);
  await changeRoleInTheTable(database.db, administrator, role);
  expect(await allowedDeeds(administrator, other)).toEqual(deeds);
});

// The attack: a manager who opened the form when the user was a member, and sends it when the user is an administrator.
test('a manager takes no key of a user who was promoted meanwhile', async () => {
  const { manager, member } = await createPeople(database.db);
  await changeRoleInTheTable(database.db, member, 'administrator');
  expect(await allowedDeeds(manager, member)).toEqual(['revoke']);
});

// The attack: the demotion is under way, uncommitted, when the act begins; a read without a lock would see the old role.
test('an act waits for a demotion that is under way, and then is refused', async () => {
  const { administrator, other } = await createPeople(database.db);
  let outcome: Promise<string> = Promise.resolve('');
  await database.db.prisma.$transaction(async (tx) => {
    await tx.user.updateMany({ where: { id: administrator.userId }, data: { role: 'member' } });
    outcome = outcomeOf(attempt(administrator, other, 'create'));
    await new Promise((resolve) => setTimeout(resolve, 150));
  });
  expect(await outcome).toMatch(/^forbidden/);
});

test('whoever was deactivated meanwhile may do nothing, with own keys neither', async () => {
  const { administrator, member } = await createPeople(database.db);
  const { userId } = administrator;
  const { id: keyId } = await giveKey(database.db, administrator);
  await database.db.prisma.user.updateMany({ where: { id: userId }, data: { deactivatedAt: new Date() } });
  expect(await allowedDeeds(administrator, member)).toEqual([]);
  expect(await codeOf(revokeKey(database.db, administrator, { keyId, userId }))).toBe('forbidden');
});

test('no key is made for a deactivated user, but what one still has can be revoked', async () => {
  const { administrator, member } = await createPeople(database.db);
  const { userId, name } = member;
  const { id: keyId } = await giveKey(database.db, member);
  await database.db.prisma.user.updateMany({ where: { id: userId }, data: { deactivatedAt: new Date() } });
  expect(await outcomeOf(attempt(administrator, member, 'create'))).toBe(
    `refused: ${name} is deactivated: no API key can be created, rotated or renamed until the user is reactivated.`,
  );
  expect(await codeOf(rotateKey(database.db, administrator, { keyId, userId, environment: 'live' }))).toBe('refused');
  expect(await codeOf(revokeKey(database.db, administrator, { keyId, userId }))).toBe('done');
});

test('in a suspended organization keys are revoked, and nothing else', async () => {
  const { scope, administrator } = await createPeople(database.db);
  const where = { id: scope.organizationId };
  await database.db.prisma.organization.update({ where, data: { suspendedAt: new Date() } });
  expect(await allowedDeeds(administrator, administrator)).toEqual(['revoke']);
  const { refusal, mayRevoke } = await listKeys(database.db, administrator, administrator.userId);
  expect({ refusal, mayRevoke }).toEqual({ refusal: 'suspended', mayRevoke: true });
});
