import { authenticate, findKeysIn } from '../../src/service/authenticate.ts';
import { revokeKey } from '../../src/service/revoke-key.ts';
import { rotateKey } from '../../src/service/rotate-key.ts';
import { createPeople, giveKey, outcomeOf, type People, times } from '../support/actors.ts';
import { openTestDatabase, type TestDatabase } from '../support/store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const ignoring = { used: () => {}, refused: () => {} };
const use = (key: string) =>
  outcomeOf(
    authenticate(key, {
      findKey: findKeysIn(database.db),
      environment: 'live',
      now: () => new Date(),
      keyUses: ignoring,
    }),
  );

function rotate(by: People['member'], keyId: string, userId = by.userId) {
  return rotateKey(database.db, by, { keyId, userId, environment: 'live' });
}

async function liveKeys(userId: string) {
  return database.db.prisma.apiKey.findMany({ where: { userId, rotatedAt: null, revokedAt: null } });
}

// The attack: ten requests at once, each of which finds the key active before any other has written. Read-then-write left
// up to ten live keys.
test('of 10 rotations at once, 20 times, one wins, one key lives, and the losers hear who won and when', async () => {
  const { db } = database;
  for (let round = 0; round < 20; round += 1) {
    const { administrator, manager, member } = await createPeople(db);
    const { id } = await giveKey(db, member);
    const by = [administrator, manager, member];
    const outcomes = await times(10, (i) => outcomeOf(rotate(by[i % 3] ?? member, id, member.userId)));
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    const losers = outcomes.filter((outcome) =>
      /^conflict: The key ".*" was rotated by The (administrator|manager|member) on \d+ \w{3} \d{4}, \d\d:\d\d UTC\. /.test(
        outcome,
      ),
    );
    expect(losers).toHaveLength(9);
    expect(await liveKeys(member.userId)).toHaveLength(1);
    expect(await db.prisma.auditEvent.count({ where: { keyId: id, action: 'key.rotated' } })).toBe(1);
  }
});

// The attack: who revokes a leaked key is told that it is done, while a rotation has just put a live one in its place.
test('of a rotation and a revocation at once, 30 times, one wins: revoked leaves no live key, rotated says that one lives', async () => {
  const { db } = database;
  const winners = new Set<string>();
  for (let round = 0; round < 30; round += 1) {
    const { manager, member } = await createPeople(db);
    const { id, key } = await giveKey(db, member);
    const rotation = () => outcomeOf(rotate(member, id));
    const revocation = () => outcomeOf(revokeKey(db, manager, { keyId: id, userId: member.userId }));
    const [rotated, revoked] =
      round % 2 === 0
        ? await Promise.all([rotation(), revocation()])
        : (await Promise.all([revocation(), rotation()])).reverse();
    expect([rotated, revoked].filter((outcome) => outcome === 'done')).toHaveLength(1);
    const live = await liveKeys(member.userId);
    if (revoked === 'done') {
      expect(live).toEqual([]);
      expect(rotated).toMatch(
        /^conflict: The key ".*" was revoked by The manager on .*\. If you still need a key, create a new one\.$/,
      );
    } else {
      expect(live).toHaveLength(1);
      expect(revoked).toContain('was rotated by The member on');
      expect(revoked).toContain(`(${live[0]?.keyPrefix}…), is active: revoke that one to end its use.`);
    }
    winners.add(revoked === 'done' ? 'revoke' : 'rotate');
    expect(await use(key)).toMatch(/^unauthenticated/);
  }
  // Whoever is the first to hold the user's row.
  expect(winners.size).toBe(2);
});
