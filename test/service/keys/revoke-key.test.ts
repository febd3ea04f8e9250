import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { revokeApiKeysOf } from '../../../src/store/keys/api-keys.ts';
import { codeOf, createPeople, giveKey, outcomeOf, times } from '../../support/data/actors.ts';
import { outcomeOfUse } from '../../support/data/key-uses.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

const use = (key: string) => outcomeOfUse(database.db, key);

test('a revoked key is refused at once, and its row names who revoked it', async () => {
  const { manager, administrator } = await createPeople(database.db);
  const { id: keyId, key } = await giveKey(database.db, administrator);
  orThrow(await revokeKey(database.db, manager, { keyId, userId: administrator.userId }));
  expect(await use(key)).toMatch(/^unauthenticated: This API key was revoked at/);
  const row = await database.db.prisma.apiKey.findFirst({ where: { id: keyId } });
  expect(row).toMatchObject({ revokedByUserId: manager.userId, rotatedAt: null, successorId: null });
});

test('of ten concurrent revocations one succeeds, and the others learn who revoked the key', async () => {
  const { manager, member } = await createPeople(database.db);
  const { id: keyId } = await giveKey(database.db, member);
  const outcomes = await times(10, () => outcomeOf(revokeKey(database.db, manager, { keyId, userId: member.userId })));
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
  expect(outcomes.filter((outcome) => /^conflict: .* was revoked by The manager on /.test(outcome))).toHaveLength(9);
  expect(await database.db.prisma.auditEvent.count({ where: { keyId, action: 'key.revoked' } })).toBe(1);
});

// The risk: after the rotation of a leaked key, a person revokes the key and believes that no key is active.
test('revoking a rotated key says that its successor is active', async () => {
  const { member } = await createPeople(database.db);
  const { id: keyId } = await giveKey(database.db, member, { name: 'Sync' });
  const { userId } = member;
  const { key, id } = orThrow(await rotateKey(database.db, member, { keyId, userId, environment: 'live' }));
  expect(await outcomeOf(revokeKey(database.db, member, { keyId, userId }))).toMatch(
    new RegExp(
      `^conflict: The key "Sync" was rotated by The member on .* UTC\\. The key that replaced it, "Sync" \\(${key.slice(0, 17)}…\\), is active: revoke that one to end its use\\.$`,
    ),
  );
  expect(await outcomeOf(revokeKey(database.db, member, { keyId: id, userId }))).toBe('done');
});

test('an operator’s revocation is reported as such', async () => {
  const { scope, member } = await createPeople(database.db);
  const { id: keyId } = await giveKey(database.db, member);
  const target = { keyId, userId: member.userId };
  orThrow(await revokeKey(database.db, { kind: 'operator', scope }, target));
  expect(await outcomeOf(revokeKey(database.db, member, target))).toContain('was revoked by an operator on');
});

test('revoking an expired key frees its name', async () => {
  const { member } = await createPeople(database.db);
  const { id: keyId } = await giveKey(database.db, member, { name: 'Sync' });
  await database.db.prisma.apiKey.updateMany({ where: { id: keyId }, data: { expiresAt: new Date(0) } });
  expect(await codeOf(giveKey(database.db, member, { name: 'Sync' }))).toBe('conflict');
  orThrow(await revokeKey(database.db, member, { keyId, userId: member.userId }));
  expect(await codeOf(giveKey(database.db, member, { name: 'Sync' }))).toBe('done');
});

test('revoking all keys of a user revokes no other user’s key', async () => {
  const { scope, member, manager } = await createPeople(database.db);
  const keys = await times(3, () => giveKey(database.db, member));
  const kept = await giveKey(database.db, manager);
  const at = new Date();
  const revoked = await revokeApiKeysOf(database.db.prisma, scope, {
    userId: member.userId,
    at,
    byUserId: manager.userId,
  });
  expect(new Set(revoked.map(({ id }) => id))).toEqual(new Set(keys.map(({ id }) => id)));
  expect(await use(keys[0]?.key ?? '')).toMatch(/revoked/);
  expect(await use(kept.key)).toBe('done');
  const foreign = await createPeople(database.db);
  const request = { userId: manager.userId, at, byUserId: null };
  expect(await revokeApiKeysOf(database.db.prisma, foreign.scope, request)).toEqual([]);
});
