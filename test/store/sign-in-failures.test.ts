import { deleteExpiredSignInFailures } from '../../src/store/people/sign-in-failures.ts';
import { CHUNK_ROWS } from '../../src/store/sql/chunks.ts';
import { openWithAutoExplain } from '../support/postgres/plans.ts';
import { withClient, writeRows } from '../support/postgres/postgres.ts';
import { useDatabase } from '../support/postgres/store.ts';

// The rows that a flood of guesses from many addresses leaves: most still count, and some have expired.

const COUNTED = 40_000;
const OLD = 2500;
const NOW = new Date('2026-05-04T12:00:00.000Z');

const database = await useDatabase();
const planned = await openWithAutoExplain(database.url);
afterAll(() => planned.db.close());

async function fill(): Promise<void> {
  await writeRows(
    database.db,
    `insert into sign_in_failures (key, points, expire)
     select 'password:' || gen_random_uuid(), 1, $1::bigint + case when i <= ${OLD} then -i else i end
     from generate_series(1, ${COUNTED + OLD}) i`,
    [NOW.getTime()],
  );
  await database.db.pool.query('vacuum analyze sign_in_failures');
}

const left = () => database.db.prisma.signInFailure.count();

test('expired failures are deleted through the index of their end, in bounded chunks, and no others are', async () => {
  await fill();
  const plans = await planned.explainAll(async () =>
    expect(await deleteExpiredSignInFailures(planned.db, { now: NOW })).toBe(OLD),
  );
  expect(plans).toHaveLength(Math.ceil(OLD / CHUNK_ROWS));
  for (const { text, blocks } of plans) {
    expect(text).toContain('sign_in_failures_expire_idx');
    expect(text).not.toContain('Seq Scan');
    // Each row takes one index look-up to find it, and one to delete it.
    expect(blocks).toBeLessThan(CHUNK_ROWS * 10);
  }
  expect(await left()).toBe(COUNTED);
  expect(await deleteExpiredSignInFailures(planned.db, { now: NOW })).toBe(0);
});

test('a count that is being changed is left for the next round, and blocks nobody', async () => {
  const key = 'password:held';
  await database.db.prisma.signInFailure.create({ data: { key, points: 1, expire: BigInt(NOW.getTime() - 1) } });
  await withClient(database.url, async (holder) => {
    await holder.query('begin');
    await holder.query('select 1 from sign_in_failures where key = $1 for update', [key]);
    expect(await deleteExpiredSignInFailures(database.db, { now: NOW })).toBe(0);
    await holder.query('rollback');
  });
  expect(await deleteExpiredSignInFailures(database.db, { now: NOW })).toBe(1);
});
