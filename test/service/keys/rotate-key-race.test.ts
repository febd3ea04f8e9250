import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { createPeople, giveKey, outcomeOf, type People, times } from '../../support/data/actors.ts';
import { listLiveKeys, outcomeOfUse } from '../../support/data/key-uses.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const ROTATIONS = 5;
const RACES = 12;

const database = await useSharedDatabase();

const use = (key: string) => outcomeOfUse(database.db, key);

function rotate(by: People['member'], keyId: string, userId = by.userId) {
  return rotateKey(database.db, by, { keyId, userId, environment: 'live' });
}

const liveKeys = (userId: string) => listLiveKeys(database.db, userId);

// The race: each of ten concurrent requests finds the key active before any of them has committed. A read followed by a write
// left up to ten active keys.
test(`10 concurrent rotations, ${ROTATIONS} times: one succeeds, one key is active, and the others learn who won and when`, async () => {
  const { db } = database;
  for (let round = 0; round < ROTATIONS; round += 1) {
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

// The race: a person revokes a leaked key successfully, while a rotation has just created an active successor.
test(`a rotation and a revocation at once, ${RACES} times: one succeeds, and each response tells whether a key is active`, async () => {
  const { db } = database;
  const winners = new Set<string>();
  for (let round = 0; round < RACES; round += 1) {
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
  // Each of the two requests must have been the first in some round.
  expect(winners.size).toBe(2);
});
