import { hashKey } from '../../../src/domain/keys/api-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { listKeysByHash } from '../../../src/store/unscoped/keys.ts';
import {
  changeRoleInTheTable,
  createPeople,
  giveKey,
  outcomeOf,
  type People,
  READ,
  times,
} from '../../support/data/actors.ts';
import { callerWith, listLiveKeys, outcomeOfUse } from '../../support/data/key-uses.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

const use = (key: string) => outcomeOfUse(database.db, key);

function rotate(by: People['member'], keyId: string, userId = by.userId) {
  return rotateKey(database.db, by, { keyId, userId, environment: 'live' });
}

const liveKeys = (userId: string) => listLiveKeys(database.db, userId);

test('the successor keeps name, permissions, expiry and user of the old key, which is refused at once', async () => {
  const { member, manager } = await createPeople(database.db);
  const { id, key, name, expiresAt } = await giveKey(database.db, member, { permissions: READ });
  const rotated = orThrow(await rotate(manager, id, member.userId));
  expect(rotated).toEqual({
    kind: 'issued',
    id: expect.any(String),
    key: expect.any(String),
    name,
    permissions: READ,
    expiresAt,
    addresses: [],
    requestsPerSecond: null,
    limits: { perKey: null, perOrganization: null },
    holder: { id: member.userId, kind: 'person', name: member.name, email: member.email },
    replacedPrefix: key.slice(0, 17),
  });
  expect(rotated.key).not.toBe(key);
  expect(await use(key)).toMatch(/^unauthenticated: This API key was rotated at .* Use the key that replaced it\.$/);
  expect(await use(rotated.key)).toBe('done');
  const hash = hashKey(rotated.key);
  expect((await listKeysByHash(database.db, [hash])).get(hash)).toMatchObject({ id: rotated.id, name, expiresAt });
  expect(await liveKeys(member.userId)).toMatchObject([{ id: rotated.id, createdByUserId: manager.userId }]);
  const old = await database.db.prisma.apiKey.findFirst({ where: { id } });
  expect(old).toMatchObject({ successorId: rotated.id, rotatedByUserId: manager.userId });
});

test('a late rotation learns the current successor after any number of rotations, or that none is active', async () => {
  const { member } = await createPeople(database.db);
  const first = await giveKey(database.db, member, { name: 'Sync' });
  const second = orThrow(await rotate(member, first.id));
  const third = orThrow(await rotate(member, second.id));
  expect(await outcomeOf(rotate(member, first.id))).toContain(`(${third.key.slice(0, 17)}…), is active`);
  orThrow(await revokeKey(database.db, member, { keyId: third.id, userId: member.userId }));
  expect(await outcomeOf(rotate(member, first.id))).toMatch(/The key that replaced it has ended too\.$/);
});

// The attack: extending an expired key beyond the organization’s policy by a rotation.
test('an expired key cannot be rotated, and the refusal says to create a new one', async () => {
  const { member } = await createPeople(database.db);
  const { id, expiresAt } = await giveKey(database.db, member, { lifeDays: 1 });
  const at = expiresAt ?? new Date();
  const request = { keyId: id, userId: member.userId, environment: 'live' } as const;
  expect(await outcomeOf(rotateKey(database.db, member, { ...request, now: () => at }))).toMatch(
    /^conflict: The key ".*" expired on .* UTC\. Create a new key instead\.$/,
  );
  expect(await liveKeys(member.userId)).toHaveLength(1);
  const justBefore = () => new Date(at.getTime() - 1);
  expect(await outcomeOf(rotateKey(database.db, member, { ...request, now: justBefore }))).toBe('done');
});

// The attack: keeping a viewer’s key until the viewer is promoted, and then having it rotated into a key that writes.
test('a key that was issued to a viewer only reads, even after a promotion and a rotation', async () => {
  const { manager, viewer } = await createPeople(database.db);
  const { id, key } = await giveKey(database.db, viewer);
  await changeRoleInTheTable(database.db, viewer, 'administrator');
  expect(await callerWith(database.db, key)).toMatchObject({ permissions: READ });
  // The user is an administrator now, so a manager cannot rotate the key.
  expect(await outcomeOf(rotate(manager, id, viewer.userId))).toMatch(/^refused/);
  const rotated = orThrow(await rotate(viewer, id));
  expect(rotated.permissions).toEqual(READ);
  expect(await callerWith(database.db, rotated.key)).toMatchObject({ permissions: READ });
});

test('a user with ten keys can rotate one, because the successor replaces the old key', async () => {
  const { member } = await createPeople(database.db);
  const keys = await times(10, () => giveKey(database.db, member));
  expect(await outcomeOf(rotate(member, keys[0]?.id ?? ''))).toBe('done');
  expect(await liveKeys(member.userId)).toHaveLength(10);
});
