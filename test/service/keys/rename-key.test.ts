import { renameKey } from '../../../src/service/keys/rename-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { codeOf, createPeople, giveKey, outcomeOf, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

async function namesOf(userId: string): Promise<string[]> {
  const where = { userId, rotatedAt: null, revokedAt: null };
  return (await database.db.prisma.apiKey.findMany({ where })).map(({ name }) => name).sort();
}

test('renaming a key frees its old name', async () => {
  const { member } = await createPeople(database.db);
  const { userId } = member;
  const { id: keyId } = await giveKey(database.db, member, { name: 'Old' });
  orThrow(await renameKey(database.db, member, { keyId, userId, name: ' New ' }));
  await giveKey(database.db, member, { name: 'Old' });
  expect(await namesOf(userId)).toEqual(['New', 'Old']);
});

test('of concurrent renames and creations with one name, one succeeds', async () => {
  const { member } = await createPeople(database.db);
  const { userId } = member;
  const keys = await times(5, (i) => giveKey(database.db, member, { name: `Key ${i}` }));
  const outcomes = await Promise.all([
    ...keys.map(({ id: keyId }) => codeOf(renameKey(database.db, member, { keyId, userId, name: 'Same' }))),
    ...keys.map(() => codeOf(giveKey(database.db, member, { name: 'Same' }))),
  ]);
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
});

test('renaming a key to its current name changes nothing and leaves no event', async () => {
  const { member } = await createPeople(database.db);
  const { id: keyId } = await giveKey(database.db, member, { name: 'Same' });
  expect(await codeOf(renameKey(database.db, member, { keyId, userId: member.userId, name: 'Same' }))).toBe('done');
  expect(await database.db.prisma.auditEvent.count({ where: { keyId, action: 'key.renamed' } })).toBe(0);
});

test('a name that looks like another key’s name is taken, and a key’s own name may be respelled', async () => {
  const { member } = await createPeople(database.db);
  const { userId } = member;
  const { id: keyId } = await giveKey(database.db, member, { name: 'Nightly  sync' });
  await giveKey(database.db, member, { name: 'Reports' });
  expect(await outcomeOf(renameKey(database.db, member, { keyId, userId, name: 'Re\u200bports' }))).toMatch(
    /^name-taken: .* has a key named "Reports" already/,
  );
  orThrow(await renameKey(database.db, member, { keyId, userId, name: 'Nightly sync' }));
  expect(await namesOf(userId)).toEqual(['Nightly sync', 'Reports']);
});

test.each(['revoked', 'expired'])('a key that was %s keeps its name', async (end) => {
  const { member } = await createPeople(database.db);
  const { userId } = member;
  const { id: keyId } = await giveKey(database.db, member, { name: 'Old' });
  if (end === 'revoked') orThrow(await revokeKey(database.db, member, { keyId, userId }));
  else await database.db.prisma.apiKey.updateMany({ where: { id: keyId }, data: { expiresAt: new Date(0) } });
  expect(await outcomeOf(renameKey(database.db, member, { keyId, userId, name: 'New' }))).toMatch(
    new RegExp(`^conflict: The key "Old" (was )?${end}`),
  );
});
