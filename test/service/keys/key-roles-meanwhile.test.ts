import type { Role } from '../../../src/domain/people/role.ts';
import { listKeys } from '../../../src/service/keys/list-keys.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { changeRoleInTheTable, codeOf, createPeople, giveKey, outcomeOf } from '../../support/data/actors.ts';
import { type Action, allowedActions, attempt } from '../../support/data/key-actions.ts';
import { untilWaiting } from '../../support/postgres/postgres.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

// The attack: using a session or a form from before the demotion, with an actor that still has the role "administrator".
test.each<[Role, readonly Action[]]>([
  ['manager', ['revoke']],
  ['member', []],
  ['viewer', []],
])('an administrator who has since become a %s may do this with an administrator’s keys: %j', async (role, actions) => {
  const { administrator, other } = await createPeople(database.db);
  await changeRoleInTheTable(database.db, administrator, role);
  expect(await allowedActions(database.db, { by: administrator, target: other })).toEqual(actions);
});

// The attack: a manager opens the form while the user is a member, and sends it when the user is an administrator.
test('a manager cannot take over a key of a user who was promoted since the form was opened', async () => {
  const { manager, member } = await createPeople(database.db);
  await changeRoleInTheTable(database.db, member, 'administrator');
  expect(await allowedActions(database.db, { by: manager, target: member })).toEqual(['revoke']);
});

// The race: the action begins before the demotion is committed. Without a lock, the action would read the old role.
test('an action waits for a demotion in progress and is then refused', async () => {
  const { administrator, other } = await createPeople(database.db);
  let outcome: Promise<string> = Promise.resolve('');
  await database.db.prisma.$transaction(async (tx) => {
    await tx.user.updateMany({ where: { id: administrator.userId }, data: { role: 'member' } });
    outcome = outcomeOf(attempt(database.db, { by: administrator, target: other }, 'create'));
    await untilWaiting(database.db.pool, 1);
  });
  expect(await outcome).toMatch(/^forbidden/);
});

test('a deactivated person may do nothing, not even with their own keys', async () => {
  const { administrator, member } = await createPeople(database.db);
  const { userId } = administrator;
  const { id: keyId } = await giveKey(database.db, administrator);
  await database.db.prisma.user.updateMany({ where: { id: userId }, data: { deactivatedAt: new Date() } });
  expect(await allowedActions(database.db, { by: administrator, target: member })).toEqual([]);
  expect(await codeOf(revokeKey(database.db, administrator, { keyId, userId }))).toBe('forbidden');
});

test('no key can be made for a deactivated user, but existing keys can be revoked', async () => {
  const { administrator, member } = await createPeople(database.db);
  const { userId, name } = member;
  const { id: keyId } = await giveKey(database.db, member);
  await database.db.prisma.user.updateMany({ where: { id: userId }, data: { deactivatedAt: new Date() } });
  expect(await outcomeOf(attempt(database.db, { by: administrator, target: member }, 'create'))).toBe(
    `refused: ${name} is deactivated: no API key can be created, rotated, renamed, restricted or moved until the user is reactivated.`,
  );
  expect(await codeOf(rotateKey(database.db, administrator, { keyId, userId, environment: 'live' }))).toBe('refused');
  expect(await codeOf(revokeKey(database.db, administrator, { keyId, userId }))).toBe('done');
});

test('in a suspended organization, keys can be revoked and nothing else', async () => {
  const { scope, administrator } = await createPeople(database.db);
  const where = { id: scope.organizationId };
  await database.db.prisma.organization.update({ where, data: { suspendedAt: new Date() } });
  expect(await allowedActions(database.db, { by: administrator, target: administrator })).toEqual(['revoke']);
  const { refusal, mayRevoke } = await listKeys(database.db, administrator, administrator.userId);
  expect({ refusal, mayRevoke }).toEqual({ refusal: 'suspended', mayRevoke: true });
});
