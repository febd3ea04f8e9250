import { renameKey } from '../../../src/service/keys/rename-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { type Page, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const people = await createPeople(db);
const { administrator, manager, member } = people;
const { userId } = member;
// The tests together make more keys than one user may have.
beforeEach(() =>
  db.prisma.apiKey.updateMany({ where: { userId, revokedAt: null, rotatedAt: null }, data: { revokedAt: new Date() } }),
);

const pageOf = (id: string) => `/people/users/${userId}/api-keys/${id}`;
const linksOn = ({ text }: Page) => [...text.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);

/** A key of the member that was rotated so often; each id, the oldest first. */
async function rotatedKey(name: string, rotations: number): Promise<string[]> {
  const ids = [(await giveKey(db, member, { name })).id];
  for (let i = 0; i < rotations; i += 1) {
    const keyId = ids.at(-1) ?? '';
    ids.push(orThrow(await rotateKey(db, manager, { keyId, userId, environment: 'live' })).id);
  }
  return ids;
}

test('a key’s page shows its user, creator, permissions, life, prefix and what can be done with it', async () => {
  const { id, key } = await giveKey(db, member, { name: 'Nightly import' });
  const browser = await browserOf(dashboard, manager);
  const page = await browser.get(pageOf(id));
  const words = wordsOf(page);
  expect(page.status).toBe(200);
  for (const text of [
    ...['Nightly import', key.slice(0, 17), 'The member', member.email, 'Member', 'by an operator'],
    ...['parent_programs:read', 'parent_programs:write', 'No use recorded yet', 'Active', 'Expires'],
  ])
    expect(words).toContain(text);
  expect(page.text).not.toContain(key.slice(17));
  expect(linksOn(page)).toEqual(
    expect.arrayContaining([`${pageOf(id)}/rotate`, `${pageOf(id)}/rename`, `${pageOf(id)}/revoke`]),
  );
});

test('a user sees the page of an own key, and not that of another user', async () => {
  const { id } = await giveKey(db, member, { name: 'Mine' });
  const browser = await browserOf(dashboard, member);
  const own = await browser.get(`/profile/api-keys/${id}`);
  expect([own.status, wordsOf(own)]).toEqual([200, expect.stringContaining('You, The member')]);
  expect((await browser.get(pageOf(id))).status).toBe(403);
  const theirs = await giveKey(db, manager);
  expect((await browser.get(`/profile/api-keys/${theirs.id}`)).status).toBe(404);
});

test('the rotations of a key are linked in both directions', async () => {
  const [first = '', second = '', third = ''] = await rotatedKey('Rotated', 2);
  const browser = await browserOf(dashboard, manager);
  for (const [id, others] of [
    [first, [second, third]],
    [second, [first, third]],
    [third, [first, second]],
  ] as const) {
    const page = await browser.get(pageOf(id));
    expect(linksOn(page)).toEqual(expect.arrayContaining(others.map(pageOf)));
    expect(page.text.match(/<tr role="row"/g)).toHaveLength(4);
  }
  const [before, after] = [wordsOf(await browser.get(pageOf(first))), wordsOf(await browser.get(pageOf(third)))];
  expect(before).toMatch(/was rotated by The manager, .* Replaced by charter_live_/);
  expect(after).toMatch(/by The manager, who rotated charter_live_/);
});

test('the page of an ended key says when and how it ended, and not that it expires', async () => {
  // The risk: a key that was revoked looks alive, because its page shows an expiry in the future.
  const browser = await browserOf(dashboard, manager);
  const [rotated = ''] = await rotatedKey('Ended', 1);
  const { id: revoked } = await giveKey(db, member);
  orThrow(await revokeKey(db, manager, { keyId: revoked, userId }));
  const { id: expired } = await giveKey(db, member);
  await db.prisma.apiKey.updateMany({ where: { id: expired }, data: { expiresAt: new Date('2026-02-03T04:05:06Z') } });
  for (const [id, how, when] of [
    [rotated, 'was rotated by The manager, ', /Would have expired \d+ \w{3} \d{4}, \d\d:\d\d UTC/],
    [revoked, 'was revoked by The manager, ', /Would have expired \d+ \w{3} \d{4}, \d\d:\d\d UTC/],
    [expired, 'has expired, 3 Feb 2026, 04:05 UTC', /Expired 3 Feb 2026, 04:05 UTC/],
  ] as const) {
    const page = await browser.get(pageOf(id));
    expect(wordsOf(page)).toContain(`This key ${how}`);
    // Below it, the table of the rotations says when the successor expires.
    const [about = ''] = /<section[^>]* aria-labelledby="about"[\s\S]*?<\/section>/.exec(page.text) ?? [];
    expect(wordsOf({ text: about })).toMatch(when);
    expect(wordsOf({ text: about })).not.toMatch(/\bExpires\b/);
  }
  const revoking = wordsOf(await browser.get(`${pageOf(expired)}/revoke`));
  expect(revoking).toContain('Expired 3 Feb 2026, 04:05 UTC');
  expect(revoking).not.toMatch(/\bExpires\b/);
  const { id: active } = await giveKey(db, member);
  expect(wordsOf(await browser.get(pageOf(active)))).not.toMatch(/This key (was|has)/);
});

test('the page of a key says once when the key expires, and once when it ended', async () => {
  const browser = await browserOf(dashboard, manager);
  const { id } = await giveKey(db, manager);
  const path = `/profile/api-keys/${id}`;
  const dates = async (date: string) => wordsOf(await browser.get(path)).split(date).length - 1;
  await db.prisma.apiKey.updateMany({ where: { id }, data: { expiresAt: new Date('2999-02-03T04:05:06Z') } });
  expect(await dates('3 Feb 2999')).toBe(1);
  const revokedAt = new Date('2020-05-06T07:08:09Z');
  await db.prisma.apiKey.updateMany({ where: { id }, data: { revokedAt, revokedByUserId: manager.userId } });
  expect(await dates('6 May 2020')).toBe(1);
});

test('of a key without events, its page says so, and where the rotation that made it is recorded', async () => {
  const browser = await browserOf(dashboard, administrator);
  const [first = '', second = ''] = await rotatedKey('Successor', 1);
  const page = await browser.get(pageOf(second));
  expect(wordsOf(page)).toMatch(/Nothing was changed since this key replaced charter_live_\w{4}… \. The rotation/);
  expect(linksOn(page)).toContain(pageOf(first));
  // The demonstration creates keys with SQL.
  const { rows } = await db.pool.query<{ id: string }>(
    `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions)
     select organization_id, gen_random_uuid(), user_id, 'Demonstration', sha256('Demonstration'), sha256(id::text::bytea),
            key_prefix, permissions
     from api_keys where id = $1 returning id`,
    [second],
  );
  expect(wordsOf(await browser.get(pageOf(rows[0]?.id ?? '')))).toContain('No events are recorded for this key.');
});

test('of a long line of rotations, ten keys before and after are shown', async () => {
  // The risk: a key that is rotated daily has thousands of predecessors.
  const ids = await rotatedKey('Daily', 22);
  const browser = await browserOf(dashboard, manager);
  const page = await browser.get(pageOf(ids[11] ?? ''));
  expect(page.text.match(/<tr role="row"/g)).toHaveLength(1 + 21);
  expect(linksOn(page)).toEqual(expect.arrayContaining([ids[1], ids[21]].map((id) => pageOf(id ?? ''))));
  expect(wordsOf(page)).toContain('At most 10 keys before and after this one are shown');
});

test('an administrator sees the events of the key; a manager, who may not read the audit log, does not', async () => {
  const { id } = await giveKey(db, member, { name: 'Watched' });
  await giveKey(db, member, { name: 'Not watched' });
  orThrow(await renameKey(db, member, { keyId: id, userId, name: 'Seen' }));
  orThrow(await revokeKey(db, manager, { keyId: id, userId }));
  const page = await (await browserOf(dashboard, administrator)).get(pageOf(id));
  const words = wordsOf(page);
  for (const text of ['API key created', 'API key renamed', 'API key revoked', 'From “Watched” to “Seen”'])
    expect(words).toContain(text);
  expect(words).not.toContain('Not watched');
  const told = wordsOf(await (await browserOf(dashboard, manager)).get(pageOf(id)));
  expect(told).toContain('was revoked by The manager');
  expect(told).not.toContain('API key renamed');
});

test('every list of keys, and the audit log, link to the page of the key', async () => {
  const { id } = await giveKey(db, member, { name: 'Linked' });
  await db.prisma.apiKey.updateMany({ where: { id }, data: { createdByUserId: manager.userId } });
  const browser = await browserOf(dashboard, administrator);
  for (const path of [
    `/people/users/${userId}/api-keys`,
    `/people/users/${manager.userId}`,
    '/organization/audit-log',
    '/organization/api-keys?search=Linked',
  ]) {
    const links = linksOn(await browser.get(path)).map((link) => link.split('?')[0]);
    expect([path, links]).toEqual([path, expect.arrayContaining([pageOf(id)])]);
  }
  const own = await (await browserOf(dashboard, member)).get('/profile/api-keys');
  expect(linksOn(own)).toContain(`/profile/api-keys/${id}`);
});
