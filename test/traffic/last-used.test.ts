import { revokeKey } from '../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { startKeyUses } from '../../src/traffic/last-used.ts';
import { Client } from '../support/clients/client.ts';
import { createActor, createPeople, createScope, giveKey, times } from '../support/data/actors.ts';
import { newKeyIn, writtenUseOf } from '../support/data/key-uses.ts';
import { countStatements } from '../support/postgres/statements.ts';
import { startServer, useServer } from '../support/servers/server.ts';

const server = await useServer();
const people = await createPeople(server.db);

const MINUTE = 60_000;

const rowOf = (id: string) => writtenUseOf(server.db, id);
const newKey = () => newKeyIn(server.db, people);

const failing = (error: unknown) => {
  throw error;
};

test('a use is written with the next flush and not before, so a request runs one query', async () => {
  const { id, key } = await newKey();
  const client = new Client(server.url, key);
  await client.get('/api/key');
  expect(await countStatements(server.db, () => client.get('/api/key'))).toBe(1);
  expect(await rowOf(id)).toEqual({ lastUsedAt: null, refusedUses: 0 });
  const before = Date.now();
  await server.keyUses.flush();
  const { lastUsedAt } = await rowOf(id);
  expect(Math.abs((lastUsedAt?.getTime() ?? 0) - before)).toBeLessThanOrEqual(MINUTE + Date.now() - before);
});

test('refused uses of rotated and revoked keys are counted, but are not uses', async () => {
  const [rotated, revoked] = [await newKey(), await newKey()];
  orThrow(
    await rotateKey(server.db, rotated.actor, { keyId: rotated.id, userId: rotated.actor.userId, environment: 'live' }),
  );
  orThrow(await revokeKey(server.db, revoked.actor, { keyId: revoked.id, userId: revoked.actor.userId }));
  for (const { key } of [rotated, revoked, revoked])
    expect((await new Client(server.url, key).get('/api/key')).status).toBe(401);
  await server.keyUses.flush();
  expect(await rowOf(rotated.id)).toEqual({ lastUsedAt: null, refusedUses: 1 });
  expect(await rowOf(revoked.id)).toEqual({ lastUsedAt: null, refusedUses: 2 });
  await new Client(server.url, revoked.key).get('/api/key');
  await server.keyUses.flush();
  expect(await rowOf(revoked.id)).toEqual({ lastUsedAt: null, refusedUses: 3 });
});

// The risk: a process with a slow clock overwrites a later time from another process.
test('the time of last use only moves forward, within a process and between two', async () => {
  const { id, of } = await newKey();
  const [early, late] = [new Date('2026-05-04T12:00:00Z'), new Date('2026-05-04T12:05:00Z')];
  const [one, two] = [startKeyUses(server.db, { onFailure: failing }), startKeyUses(server.db, { onFailure: failing })];
  one.of(of, late).noteAcceptance(late);
  one.of(of, early).noteAcceptance(early);
  await one.stop();
  expect(await rowOf(id)).toEqual({ lastUsedAt: late, refusedUses: 0 });
  two.of(of, early).noteAcceptance(early);
  two.of(of, early).countRefusedUse();
  await two.stop();
  expect(await rowOf(id)).toEqual({ lastUsedAt: late, refusedUses: 1 });
});

test('one statement writes many keys of several organizations, and an empty flush writes nothing', async () => {
  const other = await createActor(server.db, await createScope(server.db), 'member');
  const foreign = await giveKey(server.db, other);
  const keys = await times(5, newKey);
  const uses = startKeyUses(server.db, { onFailure: failing });
  const at = new Date('2026-05-04T12:00:00Z');
  const hourLater = new Date('2026-05-04T13:00:00Z');
  for (const { of } of keys) {
    for (let i = 0; i < 1000; i += 1) {
      const use = uses.of(of, at);
      use.noteAcceptance(at);
      use.countResponse('getKey', 'successful');
    }
    uses.of(of, hourLater).countResponse('getKey', 'refused');
  }
  uses.of({ organizationId: other.scope.organizationId, id: foreign.id }, at).noteAcceptance(at);
  expect(await countStatements(server.db, () => uses.flush(), ['lease_tokens'])).toBe(1);
  for (const id of [...keys.map((key) => key.id), foreign.id]) expect((await rowOf(id)).lastUsedAt).toEqual(at);
  for (const { id: keyId } of keys) {
    const counted = await server.db.prisma.keyUse.findMany({ where: { keyId }, orderBy: { startsAt: 'asc' } });
    expect(counted.map(({ period, successful, refused }) => [period, successful, refused])).toEqual([
      ['day', 1000n, 1n],
      ['hour', 1000n, 0n],
      ['hour', 0n, 1n],
    ]);
  }
  expect(await countStatements(server.db, () => uses.stop(), ['lease_tokens'])).toBe(0);
});

test('a use names its organization, so the same id in another organization stays unchanged', async () => {
  const { id } = await newKey();
  const uses = startKeyUses(server.db, { onFailure: failing });
  const elsewhere = { organizationId: (await createScope(server.db)).organizationId, id };
  uses.of(elsewhere, new Date()).noteAcceptance(new Date());
  uses.of(elsewhere, new Date()).countResponse('getKey', 'successful');
  await uses.stop();
  expect((await rowOf(id)).lastUsedAt).toBeNull();
  expect(await server.db.prisma.keyUse.count({ where: { keyId: id } })).toBe(0);
});

test('the time of last use survives a restart', async () => {
  const { id, key } = await newKey();
  const second = await startServer({ databaseUrl: server.databaseUrl });
  await new Client(second.url, key).get('/api/key');
  await second.close();
  const { lastUsedAt } = await rowOf(id);
  expect(lastUsedAt).not.toBeNull();
  const third = await startServer({ databaseUrl: server.databaseUrl });
  await third.close();
  expect((await rowOf(id)).lastUsedAt).toEqual(lastUsedAt);
});
