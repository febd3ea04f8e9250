import { startKeyUses } from '../../src/traffic/last-used.ts';
import { createPeople, times } from '../support/data/actors.ts';
import { newKeyIn, writtenUseOf } from '../support/data/key-uses.ts';
import { connectTo, useDatabase } from '../support/postgres/store.ts';
import { until } from '../support/wait.ts';

const database = await useDatabase();
const { db } = database;
const people = await createPeople(db);

const rowOf = (id: string) => writtenUseOf(db, id);
const newKey = () => newKeyIn(db, people);

const AT = new Date('2026-05-04T12:00:00Z');

const failing = (error: unknown) => {
  throw error;
};

test('uses that could not be written are kept, merged with later ones, and written next time', async () => {
  const { id, of } = await newKey();
  let isDown = true;
  const { query } = db.pool;
  const pool = Object.assign(Object.create(db.pool), {
    query: (...parameters: unknown[]) =>
      isDown ? Promise.reject(new Error('down')) : Reflect.apply(query, db.pool, parameters),
  });
  const failures: unknown[] = [];
  const uses = startKeyUses({ ...db, pool }, { onFailure: (error) => failures.push(error) });
  const [early, late] = [new Date('2026-05-04T12:00:00Z'), new Date('2026-05-04T12:05:00Z')];
  const begun = uses.of(of, late);
  begun.noteAcceptance(late);
  begun.countRefusedUse();
  begun.countResponse('getKey', 'successful');
  const flushed = uses.flush();
  // The write has begun. Two requests began before it: one gets its response during the write, and one after it.
  await null;
  uses.of(of, early).noteAcceptance(early);
  uses.of(of, early).countRefusedUse();
  begun.countResponse('getEvent', 'failed');
  await flushed;
  await uses.flush();
  expect(failures).toHaveLength(2);
  begun.countResponse('getKey', 'refused');
  isDown = false;
  await uses.flush();
  begun.countResponse('getKey', 'successful');
  await uses.stop();
  expect(await rowOf(id)).toEqual({ lastUsedAt: late, refusedUses: 2 });
  expect(await db.prisma.keyUse.findMany({ where: { keyId: id }, orderBy: { period: 'asc' } })).toEqual(
    ['2026-05-04T12:00:00Z', '2026-05-04T00:00:00Z'].map((startsAt) =>
      expect.objectContaining({ startsAt: new Date(startsAt), successful: 2n, refused: 1n, failed: 1n }),
    ),
  );
  expect(
    await db.prisma.keyOperationUse.findMany({ where: { keyId: id }, orderBy: { operation: 'asc' } }),
  ).toMatchObject([
    { operation: 'getEvent', successful: 0n, refused: 0n, failed: 1n },
    { operation: 'getKey', successful: 2n, refused: 1n, failed: 0n },
  ]);
});

// The risk: one SQL statement for all keys exceeds its time limit each time, and locks all keys until then.
test('a thousand keys are written at once, and those that cannot be written keep no others from it', async () => {
  const { organizationId } = people.scope;
  const { rows } = await db.pool.query<{ id: string }>(
    `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions)
     select $1, gen_random_uuid(), $2, 'Key ' || i, sha256(gen_random_uuid()::text::bytea),
            sha256(gen_random_uuid()::text::bytea), 'charter_live_0000', '{}'
     from generate_series(1, 2500) i returning id`,
    [organizationId, people.member.userId],
  );
  const ids = rows.map(({ id }) => id);
  const { query } = db.pool;
  const sizes: number[] = [];
  let isDown = true;
  const pool = Object.assign(Object.create(db.pool), {
    query: (statement: { values: string[][] }) => {
      const keys = statement.values[1] ?? [];
      sizes.push(keys.length);
      return isDown && keys.includes(ids[0] ?? '')
        ? Promise.reject(new Error('locked'))
        : Reflect.apply(query, db.pool, [statement]);
    },
  });
  const failures: unknown[] = [];
  const uses = startKeyUses({ ...db, pool }, { onFailure: (error) => failures.push(error) });
  for (const id of ids) uses.of({ organizationId, id }, AT).countResponse('getKey', 'successful');
  const counted = async () => {
    const found = await db.prisma.keyUse.findMany({ where: { keyId: { in: ids }, period: 'day' } });
    return [found.length, found.reduce((sum, { successful }) => sum + Number(successful), 0)];
  };
  for (let i = 0; i < 3; i += 1) await uses.flush();
  // Each time, the chunk of keys that cannot be written moves to the end and gets smaller.
  expect([sizes, failures.length]).toEqual([[1000, 1000, 1000, 1000, 500], 3]);
  expect(await counted()).toEqual([2000, 2000]);
  isDown = false;
  await uses.stop();
  expect(await counted()).toEqual([2500, 2500]);
});

// The risk: during an outage of a day, ever more keys are used until the process runs out of memory.
test('memory is bounded: recorded keys stay, and further keys are dropped', async () => {
  const [first, second, third] = [await newKey(), await newKey(), await newKey()];
  const uses = startKeyUses(db, { onFailure: failing, maxKeys: 2 });
  const [at, later] = [new Date('2026-05-04T12:00:00Z'), new Date('2026-05-04T12:05:00Z')];
  for (const { of } of [first, second, third]) uses.of(of, at).noteAcceptance(at);
  uses.of(first.of, later).noteAcceptance(later);
  await uses.stop();
  expect((await rowOf(first.id)).lastUsedAt).toEqual(later);
  expect((await rowOf(second.id)).lastUsedAt).toEqual(at);
  expect((await rowOf(third.id)).lastUsedAt).toBeNull();
});

test('a writer flushes at its interval, and once more when it stops', async () => {
  const { id, of } = await newKey();
  const uses = startKeyUses(db, { onFailure: failing, everySeconds: 0.02 });
  const [at, later] = [new Date('2026-05-04T12:00:00Z'), new Date('2026-05-04T12:05:00Z')];
  uses.of(of, at).noteAcceptance(at);
  await until('the first write', async () => (await rowOf(id)).lastUsedAt);
  expect((await rowOf(id)).lastUsedAt).toEqual(at);
  uses.of(of, later).noteAcceptance(later);
  await uses.stop();
  expect((await rowOf(id)).lastUsedAt).toEqual(later);
});

// The race: ten processes write the same keys in different orders. Locking the rows in those orders would deadlock.
test('ten processes that write the same keys concurrently lose nothing', async () => {
  const keys = await times(20, newKey);
  const own = connectTo(database.url, 10);
  const writers = Array.from({ length: 10 }, () => startKeyUses(own, { onFailure: failing }));
  for (const [i, writer] of writers.entries())
    for (const { of } of i % 2 === 0 ? keys : keys.toReversed()) {
      const use = writer.of(of, AT);
      use.countRefusedUse();
      use.countResponse('getKey', 'refused');
    }
  await Promise.all(writers.map((writer) => writer.stop()));
  await own.close();
  for (const { id } of keys) {
    expect((await rowOf(id)).refusedUses).toBe(10);
    const counted = await db.prisma.keyUse.findMany({ where: { keyId: id } });
    expect(counted.map(({ refused }) => refused)).toEqual([10n, 10n]);
  }
});
