import type { Actor } from '../../../src/domain/audit/actor.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { listKeys } from '../../../src/service/keys/list-keys.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { codeOf, createPeople, giveKey, outcomeOf, READ, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

function create(by: Actor, change: { lifeDays?: number | null; name?: string; userId?: string } = {}) {
  const name = crypto.randomUUID();
  const request = { userId: by.userId, name, permissions: READ, lifeDays: 30, environment: 'live', ...change } as const;
  return issueKey(database.db, by, request);
}

const TOO_LONG = 'invalid: expiry must be at most 90 days, the longest that your organization allows.';
const ENDLESS = 'invalid: expiry must be set: your organization does not allow keys that never expire.';

// The attack: sending a lifetime that the form does not offer.
test.each([
  [90, false, 'done'],
  [91, false, TOO_LONG],
  [null, false, ENDLESS],
  [null, true, 'done'],
  [91, true, TOO_LONG],
])('a key of %s days, with unlimited lifetimes allowed %s: %s', async (lifeDays, allowsUnendingKeys, outcome) => {
  const { administrator } = await createPeople(database.db, { maxKeyLifeDays: 90, allowsUnendingKeys });
  expect(await outcomeOf(create(administrator, { lifeDays }))).toBe(outcome);
});

test.each([0, -1, 1.5, Number.NaN, 3651, Number.POSITIVE_INFINITY])(
  'a lifetime of %d days is invalid',
  async (lifeDays) => {
    const { administrator } = await createPeople(database.db, { maxKeyLifeDays: 3650, allowsUnendingKeys: true });
    expect(await codeOf(create(administrator, { lifeDays }))).toBe('invalid');
  },
);

// The attack: a member’s form that was opened before the policy changed.
test('where members may not make keys they cannot create or rotate their own, and a manager can do it for them', async () => {
  const { member, manager } = await createPeople(database.db, { membersMayCreateKeys: false });
  const { id: keyId } = await giveKey(database.db, member);
  const rotation = { keyId, userId: member.userId, environment: 'live' } as const;
  expect(await outcomeOf(create(member))).toBe(
    'refused: You may not create API keys. Contact an administrator or support.',
  );
  expect(await codeOf(rotateKey(database.db, member, rotation))).toBe('refused');
  expect((await listKeys(database.db, member, member.userId)).refusal).toBe('role');
  expect(await codeOf(create(manager, { userId: member.userId }))).toBe('done');
  expect(await codeOf(rotateKey(database.db, manager, rotation))).toBe('done');
  expect(await codeOf(create(manager))).toBe('done');
});

// The race: concurrent requests of several people each count the keys before any of them has committed.
test('fifty concurrent creations by three people for one user make ten keys', async () => {
  const { administrator, manager, member } = await createPeople(database.db);
  const by = [administrator, manager, member];
  const outcomes = await times(50, (i) => outcomeOf(create(by[i % 3] ?? member, { userId: member.userId })));
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(10);
  expect(outcomes.filter((outcome) => /^conflict: .* has 10 active keys/.test(outcome))).toHaveLength(40);
});

test('fifty concurrent creations of one name by three people make one key', async () => {
  const { administrator, manager, member } = await createPeople(database.db);
  const by = [administrator, manager, member];
  const outcomes = await times(50, (i) =>
    outcomeOf(create(by[i % 3] ?? member, { userId: member.userId, name: 'Sync' })),
  );
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
  expect(outcomes.filter((outcome) => /^name-taken: .* has a key named "Sync" already/.test(outcome))).toHaveLength(49);
});

// The race: two people who each lock their own row first, and then the other's, would deadlock.
test('two administrators who make keys for each other concurrently do not block each other', async () => {
  const { administrator, other } = await createPeople(database.db);
  const outcomes = await times(18, (i) =>
    codeOf(
      i % 2 === 0 ? create(administrator, { userId: other.userId }) : create(other, { userId: administrator.userId }),
    ),
  );
  expect(outcomes.every((outcome) => outcome === 'done')).toBe(true);
});
