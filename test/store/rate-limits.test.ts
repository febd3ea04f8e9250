import { deleteIdleRateLimits, leaseTokens } from '../../src/store/keys/rate-limits.ts';
import { useDatabase } from '../support/postgres/store.ts';

const { db } = await useDatabase();
const subject = () => `key:${crypto.randomUUID()}`;
const lease = async (name: string, rate: number, wanted: number) =>
  (await leaseTokens(db, [{ subject: name, rate, wanted, owed: 0 }])).get(name);
/** Moves the last lease of the subject into the past. */
const age = (name: string, seconds: number) =>
  db.pool.query("update rate_limits set updated_at = updated_at - $2 * interval '1 s' where subject = $1", [
    name,
    seconds,
  ]);

/** A bucket with this rate holds one token, which takes 100 seconds to refill: longer than a statement on a busy machine. */
const SLOW_RATE = 0.01;

test('a new bucket holds the requests of 0.2 s, and at least one', async () => {
  expect(await lease(subject(), 100, 15)).toEqual({ granted: 15, left: 5 });
  expect(await lease(subject(), 1, 1)).toEqual({ granted: 1, left: 0 });
});

test('a bucket grants no more than it holds, in whole tokens, and is refilled with time up to its capacity', async () => {
  const name = subject();
  const take = async (secondsLater: number) => {
    await age(name, secondsLater);
    return (await lease(name, SLOW_RATE, 1))?.granted;
  };
  expect((await lease(name, SLOW_RATE, 1))?.granted).toBe(1);
  const [empty, half, refilled] = [await take(0), await take(50), await take(50)];
  const [full, rest] = [await take(3600), await take(0)];
  expect({ empty, half, refilled, full, rest }).toEqual({ empty: 0, half: 0, refilled: 1, full: 1, rest: 0 });
});

test('a clock that goes back takes no token away', async () => {
  const name = subject();
  await lease(name, 10, 0);
  await age(name, -3600);
  expect((await lease(name, 10, 2))?.granted).toBe(2);
  await age(name, 0.1);
  expect((await lease(name, 10, 1))?.granted).toBe(1);
});

test('a changed limit applies at once to what the bucket holds', async () => {
  const name = subject();
  await lease(name, 100, 0);
  expect(await lease(name, 10, 1)).toEqual({ granted: 1, left: 1 });
});

// The race: two processes that lock the same rows in different orders would deadlock.
test('many simultaneous leases for the same subjects, in any order, neither deadlock nor grant too much', async () => {
  const subjects = Array.from({ length: 20 }, subject);
  const leases = await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const requests = subjects.map((name) => ({ subject: name, rate: SLOW_RATE, wanted: 1, owed: 0 }));
      return leaseTokens(db, i % 2 === 0 ? requests : requests.reverse());
    }),
  );
  const granted = subjects.map((name) => leases.reduce((sum, each) => sum + (each.get(name)?.granted ?? 0), 0));
  // Each bucket holds one token.
  expect(granted).toEqual(subjects.map(() => 1));
});

test('a lease writes no WAL that must reach the disk, and is a heap-only update', async () => {
  const { rows } = await db.pool.query(
    `select relpersistence as persistence, reloptions as options,
            (select count(*)::int from pg_index where indrelid = c.oid) as indexes
     from pg_class c where relname = 'rate_limits'`,
  );
  expect(rows).toEqual([{ persistence: 'u', options: ['fillfactor=50'], indexes: 1 }]);
});

test('housekeeping deletes the buckets that were not used for an hour', async () => {
  const [old, recent] = [subject(), subject()];
  await lease(old, 10, 1);
  await lease(recent, 10, 1);
  await age(old, 3601);
  await deleteIdleRateLimits(db, { now: new Date() });
  const { rows } = await db.pool.query('select subject from rate_limits where subject = any($1)', [[old, recent]]);
  expect(rows).toEqual([{ subject: recent }]);
});

test('what is owed is taken even if the bucket does not hold it, and nothing is granted until it is refilled', async () => {
  const name = subject();
  const owe = async (owed: number, wanted = 0) =>
    (await leaseTokens(db, [{ subject: name, rate: 100, wanted, owed }])).get(name);
  // A new bucket has 20 tokens.
  expect(await owe(100)).toEqual({ granted: 0, left: -80 });
  // While the clock is behind, nothing is refilled.
  await age(name, -3600);
  expect(await owe(0, 5)).toEqual({ granted: 0, left: -80 });
  await age(name, 0.9);
  expect((await owe(0, 5))?.granted).toBe(5);
  await age(name, 3600);
  expect((await owe(10, 5))?.granted).toBe(5);
});
