import type { Actor } from '../../src/domain/actor.ts';
import type { Role } from '../../src/domain/role.ts';
import { issueKey } from '../../src/service/issue-key.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { renameKey } from '../../src/service/rename-key.ts';
import { revokeKey } from '../../src/service/revoke-key.ts';
import { rotateKey } from '../../src/service/rotate-key.ts';
import { codeOf, createActor, createPeople, giveKey, NOBODY, outcomeOf, READ, READ_WRITE } from '../support/actors.ts';
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

// The attack: a form that the page does not show, posted by hand.
test.each<[Role, 'own' | Role, readonly Deed[]]>([
  ['administrator', 'own', DEEDS],
  ['administrator', 'administrator', DEEDS],
  ['administrator', 'manager', DEEDS],
  ['administrator', 'viewer', DEEDS],
  ['manager', 'own', DEEDS],
  ['manager', 'administrator', ['revoke']],
  ['manager', 'manager', DEEDS],
  ['manager', 'member', DEEDS],
  ['manager', 'viewer', DEEDS],
  ['member', 'own', DEEDS],
  ['member', 'administrator', []],
  ['member', 'member', []],
  ['member', 'viewer', []],
  ['viewer', 'own', ['revoke']],
  ['viewer', 'administrator', []],
  ['viewer', 'viewer', []],
])('a %s with keys of %s: %j', async (role, target, deeds) => {
  const { scope, [role]: by } = await createPeople(database.db);
  const holder = target === 'own' ? by : await createActor(database.db, scope, target);
  expect(await allowedDeeds(by, holder)).toEqual(deeds);
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
] as const)('a %s who wants to act on keys of %s (%s) is told whom to contact', async (role, target, deed, words) => {
  const people = await createPeople(database.db);
  const by = people[role];
  expect(await outcomeOf(attempt(by, target === 'own' ? by : people[target], deed))).toBe(words);
});

// The attack: a key for a viewer with power that the viewer lacks, which would wake once the viewer is promoted.
test('a manager makes a reading key for a viewer, and no writing one', async () => {
  const { manager, viewer } = await createPeople(database.db);
  const request = { userId: viewer.userId, name: 'Sync', lifeDays: 30, environment: 'live' } as const;
  expect(await outcomeOf(issueKey(database.db, manager, { ...request, permissions: READ_WRITE }))).toBe(
    'invalid: permissions must not hold parent_programs:write: a viewer does not have this permission.',
  );
  expect(orThrow(await issueKey(database.db, manager, { ...request, permissions: READ }))).toMatchObject({
    permissions: READ,
  });
});

// The attack: trying ids to learn who exists.
test('a member is refused alike for a colleague, a stranger and nobody; an administrator finds the last two not', async () => {
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
