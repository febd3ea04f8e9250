import { changeNoticeSettings } from '../../../src/service/organizations/policy.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { startKeyUses } from '../../../src/traffic/last-used.ts';
import { type Browser, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople, giveKey, type People } from '../../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../../support/data/integrations.ts';
import { moveDates, moveNotices, writeAllNotices } from '../../support/data/key-notices.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const DISMISS = '/profile/notices/dismiss';
const USED = { createdAgo: 200, usedAgo: 1 };

async function noticesOn(browser: Browser, path: string): Promise<string[]> {
  const { status, text } = await browser.get(path);
  expect([path, status]).toEqual([path, 200]);
  const [section = ''] = /<section class="notice warn key-notices"[\s\S]*?<\/section>/.exec(text) ?? [];
  return [...section.matchAll(/<li class="notice-line"><p class="notice-text">([\s\S]*?)<\/p>/g)].map(
    ([, words = '']) => words.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' '),
  );
}

const startsOf = (notices: readonly string[]) => notices.map((words) => words.replace(/ on \d.*/, ''));

async function giveExpiringKey({ member }: People, name = 'Nightly import') {
  const key = await giveKey(db, member, { name });
  await moveDates(db, key.id, { ...USED, expiresIn: 6 });
  await writeAllNotices(db);
  return key;
}

test('the pages of the holder show a notice with a link to the key, until the key is extended, rotated or the notice closed', async () => {
  const people = await createPeople(db);
  const key = await giveExpiringKey(people);
  const browser = await browserOf(dashboard, people.member);
  const notice = [`Nightly import ${key.key.slice(0, 17)}… expires`];
  for (const path of ['/profile', '/profile/api-keys'])
    expect(startsOf(await noticesOn(browser, path))).toEqual(notice);
  expect((await noticesOn(browser, '/profile')).join()).toContain('or create a second key and change to it');
  for (const path of ['/profile/sessions', '/profile/api-keys/new', `/profile/api-keys/${key.id}`])
    expect(await noticesOn(browser, path)).toEqual([]);
  expect((await browser.get('/profile')).text).toContain(`href="/profile/api-keys/${key.id}"`);
  await moveDates(db, key.id, { expiresIn: 5 });
  expect(await noticesOn(browser, '/profile')).toEqual([]);
  await writeAllNotices(db);
  expect(startsOf(await noticesOn(browser, '/profile'))).toEqual(notice);
  const dismissed = await browser.submit('/profile/api-keys', {}, DISMISS);
  expect([dismissed.status, dismissed.headers['location']]).toEqual([303, '/profile/api-keys']);
  expect(await noticesOn(browser, '/profile')).toEqual([]);
  await moveDates(db, key.id, { expiresIn: 0.5 });
  await writeAllNotices(db);
  expect(startsOf(await noticesOn(browser, '/profile'))).toEqual(notice);
});

test('a later notice replaces an earlier one, and others see neither it nor can close it', async () => {
  // The attack: closing a colleague's notices, or making the form redirect a colleague to another site.
  const people = await createPeople(db);
  const key = await giveExpiringKey(people);
  await db.pool.query(`update key_notices set occasion = 'earlier, 30' where key_id = $1 and kind = 'expires'`, [
    key.id,
  ]);
  await db.pool.query('update api_keys set next_check_at = default where id = $1', [key.id]);
  await writeAllNotices(db);
  const browser = await browserOf(dashboard, people.member);
  expect(await noticesOn(browser, '/profile')).toHaveLength(1);
  const form = await browser.form('/profile', DISMISS);
  const notice = new Map(form.fields).get('notice') ?? '';
  for (const other of [people.administrator, (await createPeople(db)).administrator]) {
    const attacker = await browserOf(dashboard, other);
    expect(await noticesOn(attacker, '/profile')).toEqual([]);
    const form_token = await attacker.formToken();
    const { status, headers } = await attacker.post(DISMISS, { form_token, notice, next: 'https://evil.example/' });
    expect([status, headers['location']]).toEqual([303, '/profile']);
  }
  expect(await noticesOn(browser, '/profile')).toHaveLength(1);
});

test('the owner sees the notices of an integration on the pages of the integration and on their own', async () => {
  const { browser, member, manager, scope } = await createSignedIn(dashboard, 'member');
  const integration = await giveIntegration(db, member);
  const { id } = await giveIntegrationKey(db, { scope }, integration, { name: 'Sync' });
  await moveDates(db, id, { ...USED, expiresIn: 6 });
  await writeAllNotices(db);
  const url = `/organization/integrations/${integration.id}`;
  for (const path of ['/profile', '/organization/integrations', url, `${url}/api-keys`])
    expect((await noticesOn(browser, path)).join()).toMatch(new RegExp(`^Sync .* of ${integration.name} expires on`));
  expect(await noticesOn(await browserOf(dashboard, manager), url)).toEqual([]);
  const { headers } = await browser.submit(url, {}, DISMISS);
  expect(headers['location']).toBe(url);
  expect(await noticesOn(browser, url)).toEqual([]);
});

test('at most three notices are shown, the next end first, and the number of the others', async () => {
  const people = await createPeople(db);
  for (let i = 0; i < 6; i += 1) {
    const { id } = await giveExpiringKey(people, `Key ${i}`);
    await moveDates(db, id, { expiresIn: i === 2 ? 5 : 6 });
    await writeAllNotices(db);
  }
  const browser = await browserOf(dashboard, people.member);
  const shown = await noticesOn(browser, '/profile');
  expect(shown).toHaveLength(3);
  expect(shown[0]).toMatch(/^Key 2 /);
  expect(wordsOf(await browser.get('/profile'))).toContain('3 further notices');
});

test('the page of a key that was ended because it was not used says so, and so do the list, the audit log and a notice', async () => {
  const { browser, administrator, member, scope } = await createSignedIn(dashboard, 'member');
  const { id } = await giveKey(db, member, { name: 'Forgotten' });
  orThrow(await changeNoticeSettings(db, administrator, { endsUnusedAfterDays: 30, tellsNewNetworks: false }));
  await db.pool.query(`update organizations set ends_unused_since = '2026-01-01' where id = $1`, [
    scope.organizationId,
  ]);
  await moveDates(db, id, { createdAgo: 90 });
  await writeAllNotices(db);
  expect((await noticesOn(browser, '/profile')).join()).toMatch(
    /^Forgotten .* is not used, and ends on .* unless it is used/,
  );
  await moveNotices(db, id, 2);
  expect(await writeAllNotices(db)).toEqual([id]);
  expect((await noticesOn(browser, '/profile')).join()).toMatch(
    /^Forgotten .* was ended on .*, because it was not used\.$/,
  );
  expect(wordsOf(await browser.get(`/profile/api-keys/${id}`))).toContain(
    'This key was revoked because it was not used',
  );
  expect(wordsOf(await browser.get('/profile/api-keys?state=ended'))).toContain('Revoked not used');
  const revoke = wordsOf(await browser.get(`/profile/api-keys/${id}/revoke`));
  expect(revoke).toContain('was revoked because it was not used');
  const log = wordsOf(await (await browserOf(dashboard, administrator)).get('/organization/audit-log'));
  expect(log).toContain('Because it was not used');
  expect(log).toContain('Unused keys end after 30 days');
  expect(log).toContain('Charter');
});

test('the notice about a limited key says when, and what to do', async () => {
  const { member, scope } = await createPeople(db);
  const { id } = await giveKey(db, member, { name: 'Busy' });
  const uses = startKeyUses(db, { onFailure: (error) => expect(error).toBeNull() });
  for (let i = 0; i <= 100; i += 1)
    uses.of({ organizationId: scope.organizationId, id }, dashboard.now()).countResponse('getKey', 'limited');
  await uses.stop();
  expect((await noticesOn(await browserOf(dashboard, member), '/profile'))[0]).toMatch(
    /^Busy .* was refused by its rate limit more than 100 times in an hour, on .* Spread the requests, use batches/,
  );
});

test('the notice that a key ends disappears when the organization ends it later, or not at all', async () => {
  const { browser, administrator, member, scope } = await createSignedIn(dashboard, 'member');
  const { id } = await giveKey(db, member, { name: 'Forgotten' });
  const endAfter = async (endsUnusedAfterDays: number | null) => {
    orThrow(await changeNoticeSettings(db, administrator, { endsUnusedAfterDays, tellsNewNetworks: false }));
    const since = `update organizations set ends_unused_since = '2026-01-01' where id = $1 and ends_unused_since is not null`;
    await db.pool.query(since, [scope.organizationId]);
    await writeAllNotices(db);
    return noticesOn(browser, '/profile');
  };
  await moveDates(db, id, { createdAgo: 90 });
  expect(await endAfter(30)).toHaveLength(1);
  expect(await endAfter(300)).toEqual([]);
  expect(await endAfter(30)).toHaveLength(1);
  expect(await endAfter(null)).toEqual([]);
});

test('administrators see how many keys expire soon or were never used, on the overview and above the list', async () => {
  const people = await createPeople(db);
  await giveExpiringKey(people);
  for (const name of ['Unused', 'Unused too']) await giveKey(db, people.manager, { name });
  const browser = await browserOf(dashboard, people.administrator);
  for (const path of ['/organization', '/organization/api-keys', '/organization/api-keys?state=ended&search=zzz']) {
    const { text } = await browser.get(path);
    expect(text).toContain('<a href="/organization/api-keys?expiry=soon">Expiring soon: 1</a>');
    expect(text).toContain('<a href="/organization/api-keys?use=never">No use recorded: 2</a>');
  }
  expect(wordsOf(await browser.get('/organization'))).toContain('3 active');
});
