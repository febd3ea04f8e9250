import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { codeOf, createPeople, giveKey, outcomeOf, type People } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();
const { db } = database;

const DAY_MS = 86_400_000;

function rotate({ member }: People, keyId: string, lifeDays?: number | null, now?: () => Date) {
  const { userId } = member;
  return rotateKey(db, member, { keyId, userId, environment: 'live', lifeDays, ...(now !== undefined && { now }) });
}

function eventOf(keyId: string) {
  return db.prisma.auditEvent.findFirst({ where: { keyId, action: 'key.rotated' }, select: { detail: true } });
}

test('a rotation keeps the old expiry, or gives a new life from that moment, and the audit log says which', async () => {
  const people = await createPeople(db, { maxKeyLifeDays: 90 });
  const now = new Date();
  const { id, expiresAt } = await giveKey(db, people.member, { lifeDays: 20 });
  const kept = orThrow(await rotate(people, id));
  expect(kept.expiresAt).toEqual(expiresAt);
  expect((await eventOf(id))?.detail).not.toHaveProperty('expires');
  const renewed = orThrow(await rotate(people, kept.id, 90, () => now));
  const until = new Date(now.getTime() + 90 * DAY_MS);
  expect(renewed.expiresAt).toEqual(until);
  expect(await eventOf(kept.id)).toMatchObject({ detail: { expires: until.toISOString() } });
  const [row] = await db.prisma.apiKey.findMany({ where: { id: renewed.id } });
  expect([row?.expiresAt, row?.createdAt]).toEqual([until, now]);
  const shorter = orThrow(await rotate(people, renewed.id, 1, () => now));
  expect(shorter.expiresAt).toEqual(new Date(now.getTime() + DAY_MS));
});

const TOO_LONG = 'invalid: expiry must be at most 90 days, the longest that your organization allows.';
const ENDLESS = 'invalid: expiry must be set: your organization does not allow keys that never expire.';

// The attack: a rotation as a way around the organization’s policy for new keys.
test.each([
  [90, false, 'done'],
  [91, false, TOO_LONG],
  [91, true, TOO_LONG],
  [null, false, ENDLESS],
  [null, true, 'done'],
  [0, true, 'invalid: expiry must be an integer from 1 to 3650 days.'],
  [3651, true, 'invalid: expiry must be an integer from 1 to 3650 days.'],
  [Number.NaN, true, 'invalid: expiry must be an integer from 1 to 3650 days.'],
])('a new life of %s days, with unlimited lifetimes allowed %s: %s', async (lifeDays, allowsUnendingKeys, outcome) => {
  const people = await createPeople(db, { maxKeyLifeDays: 90, allowsUnendingKeys });
  const { id } = await giveKey(db, people.member, { lifeDays: 20 });
  expect(await outcomeOf(rotate(people, id, lifeDays))).toBe(outcome);
  const [old] = await db.prisma.apiKey.findMany({ where: { id } });
  expect(old?.rotatedAt === null).toBe(outcome !== 'done');
  expect(await db.prisma.apiKey.count({ where: { userId: people.member.userId } })).toBe(outcome === 'done' ? 2 : 1);
});

test('a key that never expires keeps that only while the organization allows it', async () => {
  // The attack: a key that is older than the policy is rotated again and again, so that it never expires.
  const people = await createPeople(db, { maxKeyLifeDays: 90, allowsUnendingKeys: false });
  const { id } = await giveKey(db, people.member, { lifeDays: null });
  expect(await outcomeOf(rotate(people, id))).toBe(ENDLESS);
  expect(await codeOf(rotate(people, id, 90))).toBe('done');

  const allowing = await createPeople(db, { allowsUnendingKeys: true });
  const unending = await giveKey(db, allowing.member, { lifeDays: null });
  expect(orThrow(await rotate(allowing, unending.id)).expiresAt).toBeNull();
});

test('a key keeps its expiry only while the organization allows it', async () => {
  // The attack: keeping the long life of a key from before the policy was shortened, by one rotation after another.
  const people = await createPeople(db, { maxKeyLifeDays: 30 });
  const { id } = await giveKey(db, people.member, { lifeDays: 300 });
  const shortened = 'invalid: expiry must be at most 30 days, the longest that your organization allows.';
  expect(await outcomeOf(rotate(people, id))).toBe(shortened);
  expect(await db.prisma.apiKey.count({ where: { id, rotatedAt: null } })).toBe(1);
  expect(await codeOf(rotate(people, id, 30))).toBe('done');

  // At `dayLater`, the key has exactly 30 days left, which the policy allows.
  const { id: longest, expiresAt } = await giveKey(db, people.member, { lifeDays: 31 });
  const dayLater = new Date((expiresAt?.getTime() ?? 0) - 30 * DAY_MS);
  const tooEarly = () => new Date(dayLater.getTime() - 1);
  expect(await outcomeOf(rotate(people, longest, undefined, tooEarly))).toBe(shortened);
  expect(orThrow(await rotate(people, longest, undefined, () => dayLater)).expiresAt).toEqual(expiresAt);
});
