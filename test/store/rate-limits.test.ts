import { deleteIdleRateLimits, leaseTokens } from '../../src/store/rate-limits.ts';
import { useDatabase } from '../support/postgres/store.ts';

const { db } = await useDatabase();
const subject = () => `key:${crypto.randomUUID()}`;
const lease = async (name: string, rate: number, wanted: number) =>
  (await leaseTokens(db, [{ subject: name, rate, wanted, owed: 0 }])).get(name);
/** Moves the last lease into the past. */
const age = (name: string, seconds: number) =>
  db.pool.query("update rate_limits set updated_at = updated_at - $2 * interval '1 s' where subject = $1", [
    name,
    seconds,
  ]);

/** Repeats the work if it took so long that its bucket was refilled too far meanwhile, as on a busy machine. */
async function withinTime<T>(ms: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const beganAt = performance.now();
    const result = await work();
    if (performance.now() - beganAt < ms) return result;
  }
}

test('a new bucket holds the requests of 0.2 s, and at least one', async () => {
  expect(await lease(subject(), 100, 15)).toEqual({ granted: 15, left: 5 });
  expect(await lease(subject(), 1, 1)).toEqual({ granted: 1, left: 0 });
});

test('a bucket grants no more than it holds, in whole tokens, and is refilled with time up to its capacity', async () => {
  const granted = await withinTime(90, async () => {
    const name = subject();
    const take = async (wanted: number) => (await lease(name, 10, wanted))?.granted;
    await take(2);
    const empty = await take(2);
    await age(name, 0.1);
    const refilled = await take(2);
    await age(name, 3600);
    return { empty, refilled, full: await take(2), rest: await take(1) };
  });
  expect(granted).toEqual({ empty: 0, refilled: 1, full: 2, rest: 0 });
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

// Two processes that lock the same rows in different orders would wait for each other.
test('many simultaneous leases for the same subjects, in any order, neither deadlock nor grant too much', async () => {
  const subjects = Array.from({ length: 20 }, subject);
  const leases = await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const requests = subjects.map((name) => ({ subject: name, rate: 5, wanted: 1, owed: 0 }));
      return leaseTokens(db, i % 2 === 0 ? requests : requests.reverse());
    }),
  );
  const granted = subjects.map((name) => leases.reduce((sum, each) => sum + (each.get(name)?.granted ?? 0), 0));
  // Each bucket holds one token; a slow run refills it meanwhile.
  expect(Math.min(...granted)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...granted)).toBeLessThan(20);
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
  const { name, owe, first, owing } = await withinTime(90, async () => {
    const name = subject();
    const owe = async (owed: number, wanted = 0) =>
      (await leaseTokens(db, [{ subject: name, rate: 100, wanted, owed }])).get(name);
    return { name, owe, first: await owe(100), owing: await owe(0, 5) };
  });
  // A new bucket, with 20 tokens.
  expect(first).toEqual({ granted: 0, left: -80 });
  expect(owing?.granted).toBe(0);
  expect(owing?.left).toBeLessThan(-70);
  await age(name, 0.9);
  expect((await owe(0, 5))?.granted).toBe(5);
  await age(name, 3600);
  expect((await owe(10, 5))?.granted).toBe(5);
});
