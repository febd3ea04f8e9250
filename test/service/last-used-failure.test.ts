import { setTimeout as delay } from 'node:timers/promises';
import { startKeyUses } from '../../src/service/last-used.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createActor, createPeople, giveKey, times } from '../support/actors.ts';
import { KEYRING } from '../support/encryption.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();
const people = await createPeople(server.db);

async function rowOf(id: string) {
  const row = await server.db.prisma.apiKey.findFirstOrThrow({ where: { id } });
  return { lastUsedAt: row.lastUsedAt, refusedUses: row.refusedUses };
}

async function newKey() {
  const actor = await createActor(server.db, people.scope, 'member');
  const { id, key } = await giveKey(server.db, actor);
  return { actor, id, key, of: { organizationId: people.scope.organizationId, id } };
}

const AT = new Date('2026-05-04T12:00:00Z');

const failing = (error: unknown) => {
  throw error;
};

test('uses that could not be written are kept, merged with later ones, and written next time', async () => {
  const { id, of } = await newKey();
  let isDown = true;
  const { query } = server.db.pool;
  const pool = Object.assign(Object.create(server.db.pool), {
    query: (...parameters: unknown[]) =>
      isDown ? Promise.reject(new Error('down')) : Reflect.apply(query, server.db.pool, parameters),
  });
  const failures: unknown[] = [];
  const uses = startKeyUses({ ...server.db, pool }, { onFailure: (error) => failures.push(error) });
  const [early, late] = [new Date('2026-05-04T12:00:00Z'), new Date('2026-05-04T12:05:00Z')];
  const begun = uses.of(of, late);
  begun.accepted(late);
  begun.ended();
  begun.responded('successful');
  const flushed = uses.flush();
  // Now the write has begun. Requests that began before it get their responses during it, and after it.
  await null;
  uses.of(of, early).accepted(early);
  uses.of(of, early).ended();
  begun.responded('failed');
  await flushed;
  await uses.flush();
  expect(failures).toHaveLength(2);
  begun.responded('refused');
  isDown = false;
  await uses.flush();
  begun.responded('successful');
  await uses.stop();
  expect(await rowOf(id)).toEqual({ lastUsedAt: late, refusedUses: 2 });
  expect(await server.db.prisma.keyUse.findMany({ where: { keyId: id }, orderBy: { period: 'asc' } })).toEqual(
    ['2026-05-04T12:00:00Z', '2026-05-04T00:00:00Z'].map((startsAt) =>
      expect.objectContaining({ startsAt: new Date(startsAt), successful: 2n, refused: 1n, failed: 1n }),
    ),
  );
});

// The risk: during an outage of a day, ever more keys are used until the process runs out of memory.
test('memory is bounded: recorded keys stay, and further keys are dropped', async () => {
  const [first, second, third] = [await newKey(), await newKey(), await newKey()];
  const uses = startKeyUses(server.db, { onFailure: failing, maxKeys: 2 });
  const [at, later] = [new Date('2026-05-04T12:00:00Z'), new Date('2026-05-04T12:05:00Z')];
  for (const { of } of [first, second, third]) uses.of(of, at).accepted(at);
  uses.of(first.of, later).accepted(later);
  await uses.stop();
  expect((await rowOf(first.id)).lastUsedAt).toEqual(later);
  expect((await rowOf(second.id)).lastUsedAt).toEqual(at);
  expect((await rowOf(third.id)).lastUsedAt).toBeNull();
});

test('a writer flushes at its interval, and once more when it stops', async () => {
  const { id, of } = await newKey();
  const uses = startKeyUses(server.db, { onFailure: failing, everySeconds: 0.02 });
  const [at, later] = [new Date('2026-05-04T12:00:00Z'), new Date('2026-05-04T12:05:00Z')];
  uses.of(of, at).accepted(at);
  const deadline = Date.now() + 5000;
  while ((await rowOf(id)).lastUsedAt === null && Date.now() < deadline) await delay(10);
  expect((await rowOf(id)).lastUsedAt).toEqual(at);
  uses.of(of, later).accepted(later);
  await uses.stop();
  expect((await rowOf(id)).lastUsedAt).toEqual(later);
});

// Ten processes write the same keys in different orders; locking rows in those orders would deadlock.
test('ten processes that write the same keys concurrently lose nothing', async () => {
  const keys = await times(20, newKey);
  const db = openDatabase({ url: server.databaseUrl, keyring: KEYRING, poolSize: 10, onIdleError: () => {} });
  const writers = Array.from({ length: 10 }, () => startKeyUses(db, { onFailure: failing }));
  for (const [i, writer] of writers.entries())
    for (const { of } of i % 2 === 0 ? keys : keys.toReversed()) {
      const use = writer.of(of, AT);
      use.ended();
      use.responded('refused');
    }
  await Promise.all(writers.map((writer) => writer.stop()));
  await db.close();
  for (const { id } of keys) {
    expect((await rowOf(id)).refusedUses).toBe(10);
    const counted = await server.db.prisma.keyUse.findMany({ where: { keyId: id } });
    expect(counted.map(({ refused }) => refused)).toEqual([10n, 10n]);
  }
});
