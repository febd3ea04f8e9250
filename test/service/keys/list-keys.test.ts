import { hashKey } from '../../../src/domain/keys/api-key.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { getKey, listKeys, listKeysMadeForOthers } from '../../../src/service/keys/list-keys.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { codeOf, createPeople, giveKey, NOBODY, outcomeOf, READ, times } from '../../support/data/actors.ts';
import { countStatements } from '../../support/postgres/statements.ts';
import { createKeyRow, useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

const DAY = 86_400_000;

test('the lists of active and ended keys show each key’s creator and end, and never the key itself', async () => {
  const { db } = database;
  const { member, manager } = await createPeople(db);
  const { userId } = member;
  const request = { userId, permissions: READ, environment: 'live' } as const;
  const expired = await giveKey(db, member, { name: 'Expired' });
  await db.prisma.apiKey.updateMany({ where: { id: expired.id }, data: { expiresAt: new Date(1000) } });
  const soon = orThrow(await issueKey(db, member, { ...request, name: 'Soon', lifeDays: 30 }));
  const createdAt = new Date(Date.now() - 200 * DAY);
  await db.prisma.apiKey.updateMany({ where: { id: soon.id }, data: { createdAt } });
  const rotated = orThrow(await issueKey(db, manager, { ...request, name: 'Rotated', lifeDays: 90 }));
  const successor = orThrow(await rotateKey(db, member, { keyId: rotated.id, userId, environment: 'live' }));
  const revoked = orThrow(await issueKey(db, member, { ...request, name: 'Revoked', lifeDays: 90 }));
  orThrow(await revokeKey(db, manager, { keyId: revoked.id, userId }));

  const { keys: active, holder, counts } = await listKeys(db, member, userId);
  const { keys: ended } = await listKeys(db, member, userId, { isActive: false });
  expect(counts).toEqual({ active: 2, ended: 3 });
  expect(holder).toMatchObject({ id: userId, name: 'The member', email: member.email, role: 'member' });
  expect(active).toMatchObject([
    { id: successor.id, name: 'Rotated', state: 'active', createdBy: 'The member', isExpiringSoon: false },
    { id: soon.id, state: 'active', createdBy: 'The member', isExpiringSoon: true, endedAt: null, endedBy: null },
  ]);
  expect(ended).toMatchObject([
    { id: revoked.id, state: 'revoked', endedBy: 'The manager', endedAt: expect.any(Date), isExpiringSoon: false },
    { id: rotated.id, state: 'rotated', createdBy: 'The manager', endedBy: 'The member' },
    { id: expired.id, state: 'expired', createdBy: null, endedBy: null, endedAt: new Date(1000) },
  ]);
  expect(active[1]).toMatchObject({
    prefix: soon.key.slice(0, 17),
    permissions: READ,
    lastUsedAt: null,
    refusedUses: 0,
  });
  const text = JSON.stringify([active, ended]);
  for (const { key } of [expired, soon, rotated, successor, revoked]) {
    expect(text).not.toContain(key.slice(17));
    expect(text).not.toContain(hashKey(key));
  }
});

test('a key expires soon in the last fifth of its life, and is expired at that moment', async () => {
  const { db } = database;
  const { member } = await createPeople(db);
  const { expiresAt } = await giveKey(db, member, { lifeDays: 90 });
  const end = expiresAt?.getTime() ?? 0;
  const stateAt = async (time: number) => {
    const at = { now: new Date(time) };
    const lists = [true, false].map((isActive) => listKeys(db, member, member.userId, { ...at, isActive }));
    const keys = (await Promise.all(lists)).flatMap((list) => list.keys);
    return [keys[0]?.state, keys[0]?.isExpiringSoon];
  };
  expect(await stateAt(end - 18 * DAY - 1)).toEqual(['active', false]);
  expect(await stateAt(end - 18 * DAY)).toEqual(['active', true]);
  expect(await stateAt(end)).toEqual(['expired', false]);
});

// The risk: one SQL query for each row.
test('200 keys take the same three statements as none', async () => {
  const { db } = database;
  const { scope, manager, member, viewer } = await createPeople(db);
  const { userId, email } = member;
  await times(200, () => createKeyRow(db, { scope, userId, email }));
  expect(await countStatements(db, () => listKeys(db, manager, viewer.userId))).toBe(3);
  expect(await countStatements(db, () => listKeys(db, manager, userId))).toBe(3);
});

type Asked = { readonly after?: string | null; readonly before?: string | null };
type Found<K> = { readonly keys: readonly K[]; readonly previous: string | null; readonly next: string | null };

/** Returns all pages of the list, from the first to the last, and the same pages on the way back. */
async function pagesOf<K>(ask: (asked: Asked) => Promise<Found<K>>) {
  const pages = [await ask({})];
  for (let next = pages[0]?.next ?? null; next !== null && pages.length < 100; next = pages.at(-1)?.next ?? null)
    pages.push(await ask({ after: next }));
  const back = [pages.at(-1)];
  for (let before = back[0]?.previous ?? null; before !== null && back.length < 100; before = back[0]?.previous ?? null)
    back.unshift(await ask({ before }));
  const [there, here] = [pages, back].map((each) => each.map((page) => page?.keys ?? []));
  return { there: there ?? [], back: here ?? [] };
}

test.each([true, false])(
  '120 keys, active: %s, are listed page by page in both directions, each once, the newest first',
  async (isActive) => {
    // A user can have at most ten active keys. The list must be complete even if there are more.
    const { db } = database;
    const { scope, member } = await createPeople(db);
    const { userId, email } = member;
    const [expiresAt, otherExpiresAt] = isActive ? [null, new Date(1000)] : [new Date(1000), null];
    await times(120, () => createKeyRow(db, { scope, userId, email }, { expiresAt }));
    await times(3, () => createKeyRow(db, { scope, userId, email }, { expiresAt: otherExpiresAt }));
    // Many keys get the same time of creation, so that the id decides their order.
    await db.pool.query(
      `update api_keys set created_at = timestamptz '2026-01-01' + (get_byte(key_hash, 0) % 7) * interval '1 minute'
     where user_id = $1`,
      [userId],
    );
    const { rows } = await db.pool.query(
      'select id from api_keys where user_id = $1 and (expires_at is null) = $2 order by created_at desc, id desc',
      [userId, isActive],
    );
    const { there, back } = await pagesOf((asked) => listKeys(db, member, userId, { isActive, ...asked }));
    expect(there.map((page) => page.length)).toEqual([50, 50, 20]);
    expect(there.flat().map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(back).toEqual(there);
  },
);

test('an invalid cursor starts at the first page', async () => {
  const { db } = database;
  const { scope, member } = await createPeople(db);
  const { userId, email } = member;
  await times(2, () => createKeyRow(db, { scope, userId, email }, { expiresAt: new Date(1000) }));
  const first = await listKeys(db, member, userId, { isActive: false });
  const position = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  for (const after of [
    ...['', 'nonsense', position(), position('x', NOBODY), position('2026-01-01', 'x')],
    ...[position('-271821-04-20T00:00:00.000Z', NOBODY), position('99999-01-01', NOBODY)],
    ...[position('2026-01-01', NOBODY), position(1, 2, 3), position(NOBODY)],
  ]) {
    const lists = [{ after }, { before: after }].map((asked) =>
      listKeys(db, member, userId, { isActive: false, ...asked }),
    );
    for (const { keys } of await Promise.all(lists)) expect([after, keys]).toEqual([after, first.keys]);
  }
});

test('one key of this user is found by its id among any number', async () => {
  const { db } = database;
  const { member, manager, viewer } = await createPeople(db);
  const { userId } = member;
  const { id } = await giveKey(db, member, { name: 'Wanted' });
  expect(await getKey(db, member, { userId, keyId: id })).toMatchObject({ key: { id, name: 'Wanted' }, refusal: null });
  for (const keyId of [NOBODY, 'x', (await giveKey(db, manager)).id]) {
    expect(await outcomeOf(getKey(db, manager, { userId, keyId }))).toBe('not_found: There is no such API key.');
  }
  expect(await codeOf(getKey(db, viewer, { userId, keyId: id }))).toBe('forbidden');
});

test.each([
  ['administrator', 'administrator', [null, true]],
  ['administrator', 'viewer', [null, true]],
  ['manager', 'member', [null, true]],
  ['manager', 'administrator', ['role', true]],
  ['member', 'member', [null, true]],
  ['viewer', 'viewer', ['role', true]],
] as const)(
  'a %s who sees keys of the %s gets the refusal to rotate them, and whether they may be revoked: %j',
  async (role, target, expected) => {
    const people = await createPeople(database.db);
    const list = await listKeys(database.db, people[role], people[target].userId);
    expect([list.refusal, list.mayRevoke]).toEqual(expected);
  },
);

// The attack: another user’s id in the URL of the list.
test('members and viewers see only their own keys, and nobody sees another organization’s', async () => {
  const { db } = database;
  const [ours, theirs] = [await createPeople(db), await createPeople(db)];
  for (const actor of [ours.member, ours.viewer]) {
    for (const userId of [ours.manager.userId, theirs.member.userId, NOBODY, 'x']) {
      expect(await codeOf(listKeys(db, actor, userId))).toBe('forbidden');
      expect(await codeOf(listKeysMadeForOthers(db, actor, userId))).toBe('forbidden');
    }
  }
  for (const userId of [theirs.member.userId, NOBODY, 'x']) {
    expect(await outcomeOf(listKeys(db, ours.administrator, userId))).toBe('not_found: There is no such user.');
    expect(await codeOf(listKeysMadeForOthers(db, ours.administrator, userId))).toBe('not_found');
  }
});

test('the list says that no key can be made for a deactivated user', async () => {
  const { db } = database;
  const { administrator, member } = await createPeople(db);
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt: new Date() } });
  expect(await listKeys(db, administrator, member.userId)).toMatchObject({
    refusal: 'deactivated',
    mayRevoke: true,
  });
});

// The risk: a manager who leaves has seen the keys of other people, and these keys stay active.
test('active keys that a person made or rotated for others are listed for review', async () => {
  const { db } = database;
  const { administrator, manager, member, viewer } = await createPeople(db);
  const request = { permissions: READ, lifeDays: 30, environment: 'live' } as const;
  const made = orThrow(await issueKey(db, manager, { ...request, userId: viewer.userId, name: 'Made' }));
  const ended = orThrow(await issueKey(db, manager, { ...request, userId: viewer.userId, name: 'Ended' }));
  orThrow(await revokeKey(db, administrator, { keyId: ended.id, userId: viewer.userId }));
  orThrow(await issueKey(db, manager, { ...request, userId: manager.userId, name: 'Own' }));
  const { id } = await giveKey(db, member);
  const taken = orThrow(await rotateKey(db, manager, { keyId: id, userId: member.userId, environment: 'live' }));
  const { keys, next } = await listKeysMadeForOthers(db, administrator, manager.userId);
  expect(keys).toMatchObject([
    { id: taken.id, holder: { id: member.userId, name: 'The member', email: member.email } },
    { id: made.id, holder: { id: viewer.userId } },
  ]);
  expect(next).toBeNull();
});

test('120 keys that a person made for others are listed page by page, each once, newest first', async () => {
  const { db } = database;
  const { scope, administrator, manager, member } = await createPeople(db);
  await times(120, () => createKeyRow(db, { scope, userId: member.userId, email: member.email }));
  await db.pool.query(
    `update api_keys set created_by_user_id = $2, created_at = timestamptz '2026-01-01' + (get_byte(key_hash, 0) % 7) * interval '1 minute'
     where user_id = $1`,
    [member.userId, manager.userId],
  );
  const { rows } = await db.pool.query('select id from api_keys where user_id = $1 order by created_at desc, id desc', [
    member.userId,
  ]);
  const { there, back } = await pagesOf((asked) => listKeysMadeForOthers(db, administrator, manager.userId, asked));
  expect(there.map((page) => page.length)).toEqual([50, 50, 20]);
  expect(there.flat().map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect(back).toEqual(there);
});
