import { changePolicy, getPolicy } from '../../../src/service/organizations/policy.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { listAdministrators } from '../../../src/store/people/user-lists.ts';
import { createAccount } from '../../support/data/accounts.ts';
import { changeRoleInTheTable, codeOf, outcomeOf } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const POLICY = { membersMayCreateKeys: false, maxKeyLifeDays: 90, allowsUnendingKeys: false, requiresAddresses: false };

test('a policy change is audited with the old and new values, and an unchanged policy is not audited', async () => {
  const administrator = await createAccount(db, { role: 'administrator' });
  orThrow(await changePolicy(db, administrator, POLICY));
  orThrow(await changePolicy(db, administrator, POLICY));
  expect((await getPolicy(db, administrator)).policy).toEqual(POLICY);
  const { organizationId } = administrator.scope;
  expect(await db.prisma.auditEvent.findMany({ where: { organizationId } })).toMatchObject([
    {
      action: 'organization.policy_changed',
      actorUserId: administrator.userId,
      targetUserId: null,
      detail: { 'members may create keys': 'yes -> no', 'longest key life': '365 days -> 90 days' },
    },
  ]);
});

test('only people who are administrators at that moment can change the policy', async () => {
  // The attack: a manager or a former administrator sends the form.
  const administrator = await createAccount(db, { role: 'administrator' });
  for (const role of ['manager', 'member', 'viewer'] as const) {
    const person = await createAccount(db, { role, scope: administrator.scope });
    expect(await codeOf(getPolicy(db, person))).toBe('forbidden');
    expect(await codeOf(changePolicy(db, person, POLICY))).toBe('forbidden');
  }
  await changeRoleInTheTable(db, administrator, 'manager');
  expect(await codeOf(changePolicy(db, administrator, POLICY))).toBe('forbidden');
});

test.each([0, 3651, 1.5, Number.NaN, -1])('a longest key lifetime of %p days is refused', async (maxKeyLifeDays) => {
  const administrator = await createAccount(db, { role: 'administrator' });
  const outcome = await outcomeOf(changePolicy(db, administrator, { ...POLICY, maxKeyLifeDays }));
  expect(outcome).toBe('invalid: max_key_life_days must be an integer from 1 to 3650.');
});

test('only the fields of a policy are taken', async () => {
  // The attack: sending a field "suspendedAt" or "name" in addition to those of the form.
  const administrator = await createAccount(db, { role: 'administrator' });
  const given = { ...POLICY, name: 'Taken over', suspendedAt: new Date(), id: 'x' };
  orThrow(await changePolicy(db, administrator, given));
  expect(await getPolicy(db, administrator)).toMatchObject({ name: 'Test', suspendedAt: null });
});

test('the contacts are the active administrators of this organization', async () => {
  const administrator = await createAccount(db, { role: 'administrator' });
  const gone = await createAccount(db, { role: 'administrator', scope: administrator.scope });
  await createAccount(db, { role: 'administrator' });
  await db.prisma.user.updateMany({ where: { id: gone.userId }, data: { deactivatedAt: new Date() } });
  const { userId: id, name, email } = administrator;
  expect(await listAdministrators(db, administrator.scope)).toEqual([{ id, name, email }]);
});
