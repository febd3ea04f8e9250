import { hashKey } from '../../src/domain/api-key.ts';
import { issueKey } from '../../src/service/issue-key.ts';
import { getKey, listKeys, listKeysMadeForOthers } from '../../src/service/list-keys.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { revokeKey } from '../../src/service/revoke-key.ts';
import { rotateKey } from '../../src/service/rotate-key.ts';
import { codeOf, createPeople, giveKey, NOBODY, outcomeOf, READ, times } from '../support/actors.ts';
import { countStatements } from '../support/statements.ts';
import { createKeyRow, useDatabase } from '../support/store.ts';

const database = await useDatabase();

const DAY = 86_400_000;

test('the list shows each key’s creator and end, active keys first, and never the key itself', async () => {
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

  const { keys, holder } = await listKeys(db, member, userId);
  expect(holder).toEqual({ id: userId, name: 'The member', email: member.email, role: 'member' });
  expect(keys).toMatchObject([
    { id: successor.id, name: 'Rotated', state: 'active', createdBy: 'The member', isExpiringSoon: false },
    { id: soon.id, state: 'active', createdBy: 'The member', isExpiringSoon: true, endedAt: null, endedBy: null },
    { id: revoked.id, state: 'revoked', endedBy: 'The manager', endedAt: expect.any(Date), isExpiringSoon: false },
    { id: rotated.id, state: 'rotated', createdBy: 'The manager', endedBy: 'The member' },
    { id: expired.id, state: 'expired', createdBy: null, endedBy: null, endedAt: new Date(1000) },
  ]);
  expect(keys[1]).toMatchObject({ prefix: soon.key.slice(0, 17), permissions: READ, lastUsedAt: null, refusedUses: 0 });
  const text = JSON.stringify(keys);
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
    const { keys } = await listKeys(db, member, member.userId, { now: new Date(time) });
    return [keys[0]?.state, keys[0]?.isExpiringSoon];
  };
  expect(await stateAt(end - 18 * DAY - 1)).toEqual(['active', false]);
  expect(await stateAt(end - 18 * DAY)).toEqual(['active', true]);
  expect(await stateAt(end)).toEqual(['expired', false]);
});

// The risk: one query for each row.
test('200 keys take the same two statements as none', async () => {
  const { db } = database;
  const { scope, manager, member, viewer } = await createPeople(db);
  const { userId, email } = member;
  await times(200, () => createKeyRow(db, { scope, userId, email }));
  expect(await countStatements(db, () => listKeys(db, manager, viewer.userId))).toBe(2);
  expect(await countStatements(db, () => listKeys(db, manager, userId))).toBe(2);
});

/** Every list page, from the first to the last. */
async function pagesOf<K>(ask: (after: string | null) => Promise<{ keys: readonly K[]; next: string | null }>) {
  const pages: (readonly K[])[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof ask>> = await ask(after);
    pages.push(page.keys);
    after = page.next;
  } while (after !== null && pages.length < 100);
  return pages;
}

test.each([3, 60])(
  '120 keys, %d of them active, are listed page by page, each once, active ones first and then the newest',
  async (count) => {
    // At most ten keys are active; the list would still be complete if there were more.
    const { db } = database;
    const { scope, member } = await createPeople(db);
    const { userId, email } = member;
    await times(count, () => createKeyRow(db, { scope, userId, email }));
    await times(120 - count, () => createKeyRow(db, { scope, userId, email }, { expiresAt: new Date(1000) }));
    // Many keys of one instant, so that the id decides their order.
    await db.pool.query(
      `update api_keys set created_at = timestamptz '2026-01-01' + (get_byte(key_hash, 0) % 7) * interval '1 minute'
     where user_id = $1`,
      [userId],
    );
    const { rows } = await db.pool.query(
      'select id from api_keys where user_id = $1 order by expires_at is null desc, created_at desc, id desc',
      [userId],
    );
    const pages = await pagesOf((after) => listKeys(db, member, userId, { after }));
    expect(pages.map((page) => page.length)).toEqual([50, 50, 20]);
    expect(pages.flat().map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(pages.flat().findLastIndex(({ state }) => state === 'active')).toBe(count - 1);
  },
);

test('an invalid cursor starts at the first page', async () => {
  const { db } = database;
  const { scope, member } = await createPeople(db);
  const { userId, email } = member;
  await times(2, () => createKeyRow(db, { scope, userId, email }, { expiresAt: new Date(1000) }));
  const first = await listKeys(db, member, userId);
  const position = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  for (const after of [
    ...['', 'nonsense', position(), position('active', 'x', NOBODY), position('ended', '2026-01-01', 'x')],
    ...[position('gone', new Date().toISOString(), NOBODY), position('ended', '-271821-04-20T00:00:00.000Z', NOBODY)],
    ...[position('ended', '99999-01-01', NOBODY), position(1, 2, 3), position('ended', NOBODY)],
  ]) {
    expect([after, (await listKeys(db, member, userId, { after })).keys]).toEqual([after, first.keys]);
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

// The attack: a manager who leaves has seen keys of others, which stay active.
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
  const pages = await pagesOf((after) => listKeysMadeForOthers(db, administrator, manager.userId, { after }));
  expect(pages.map((page) => page.length)).toEqual([50, 50, 20]);
  expect(pages.flat().map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
});
