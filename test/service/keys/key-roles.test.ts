import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { Role } from '../../../src/domain/people/role.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { createActor, createPeople, NOBODY, outcomeOf, READ } from '../../support/data/actors.ts';
import { ACTIONS, type Action, allowedActions, attempt } from '../../support/data/key-actions.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

// The attack: posting by hand a form that the page does not show.
test.each<[Role, 'own' | Role, readonly Action[]]>([
  ['administrator', 'own', ACTIONS],
  ['administrator', 'administrator', ACTIONS],
  ['administrator', 'manager', ACTIONS],
  ['administrator', 'viewer', ACTIONS],
  ['manager', 'own', ACTIONS],
  ['manager', 'administrator', ['revoke']],
  ['manager', 'manager', ACTIONS],
  ['manager', 'member', ACTIONS],
  ['manager', 'viewer', ACTIONS],
  ['member', 'own', ACTIONS],
  ['member', 'administrator', []],
  ['member', 'member', []],
  ['member', 'viewer', []],
  ['viewer', 'own', ['revoke']],
  ['viewer', 'administrator', []],
  ['viewer', 'viewer', []],
])('a %s with keys of %s: %j', async (role, target, actions) => {
  const { scope, [role]: by } = await createPeople(database.db);
  const holder = target === 'own' ? by : await createActor(database.db, scope, target);
  expect(await allowedActions(database.db, { by, target: holder })).toEqual(actions);
});

test.each([
  ['viewer', 'own', 'create', 'refused: You may not create API keys. Contact an administrator or support.'],
  ['viewer', 'own', 'rotate', 'refused: You may not rotate API keys. Contact an administrator or support.'],
  [
    'member',
    'viewer',
    'revoke',
    'forbidden: You may not revoke API keys of other users. Contact an administrator or support.',
  ],
  [
    ...['manager', 'administrator', 'rotate'],
    'refused: You may not rotate API keys of an administrator, because a key has its user’s permissions. Contact an administrator.',
  ],
] as const)(
  'the refusal of a %s who manages keys of %s (%s) says whom to contact',
  async (role, target, action, words) => {
    const people = await createPeople(database.db);
    const by = people[role];
    expect(await outcomeOf(attempt(database.db, { by, target: target === 'own' ? by : people[target] }, action))).toBe(
      words,
    );
  },
);

// The attack: trying ids to learn which users exist.
test('a member gets the same refusal for a colleague, a stranger and an unknown id; an administrator gets not found for the last two', async () => {
  const ours = await createPeople(database.db);
  const theirs = await createPeople(database.db);
  const nobody = { ...theirs.member, userId: NOBODY };
  const create = (by: Actor, userId: string) =>
    outcomeOf(issueKey(database.db, by, { userId, name: 'x', permissions: READ, lifeDays: 30, environment: 'live' }));
  const refusals = [ours.viewer, theirs.viewer, nobody].map(({ userId }) => create(ours.member, userId));
  expect(new Set(await Promise.all(refusals)).size).toBe(1);
  for (const { userId } of [theirs.viewer, nobody])
    expect(await create(ours.administrator, userId)).toBe('not_found: There is no such user.');
});
