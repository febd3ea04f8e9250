import { noPasskeysWords } from '../../../src/dashboard/proof/passkeys.ts';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import { relyingPartyAt } from '../../../src/domain/people/ways-in.ts';
import { resetSecondFactor } from '../../../src/service/sign-in-settings/second-factor.ts';
import { Browser, expectToSay, wordsOf } from '../../support/dashboard/dashboard.ts';
import {
  browserOf,
  newBrowser,
  rowsOf,
  startDashboard,
  useDashboard,
  visit,
} from '../../support/dashboard/dashboard-server.ts';
import {
  Authenticator,
  addPasskeyTo,
  optionsFrom,
  sendCredential,
  signInWithPasskey,
} from '../../support/dashboard/passkeys.ts';
import { createAccount } from '../../support/data/accounts.ts';
import { listAuditEventsOf, times } from '../../support/data/actors.ts';

const ORIGIN = 'https://charter.example.org';
const dashboard = await useDashboard({ publicUrl: ORIGIN });
const { db } = dashboard;
const NEW = '/profile/passkeys/new';

const signedIn = (actor: Actor) => visit(dashboard, actor);

async function withPasskey() {
  const owner = await createAccount(db);
  const browser = await signedIn(owner);
  await addPasskeyTo(browser, ORIGIN);
  return { owner, browser };
}

const rowOf = ({ userId }: Actor) => db.prisma.passkey.findFirstOrThrow({ where: { userId } });

test('a passkey is renamed and removed by its owner only, and the last way to sign in stays', async () => {
  const { owner, browser } = await withPasskey();
  const { id } = await rowOf(owner);
  const path = `/profile/passkeys/${id}`;
  const stranger = await signedIn(await createAccount(db, { scope: owner.scope }));
  const before = await rowsOf(db);
  const form_token = await stranger.formToken();
  expect((await stranger.get(path)).status).toBe(404);
  expect((await stranger.post(path, { form_token, name: 'Mine' })).status).toBe(404);
  expect((await stranger.post(`${path}/remove`, { form_token })).status).toBe(404);
  expect((await browser.submit(path, { name: ' ' })).status).toBe(422);
  expect(await rowsOf(db)).toEqual(before);
  expect((await browser.submit(path, { name: 'Desk' })).headers['location']).toBe(
    '/profile?done=passkey-renamed#passkeys',
  );
  expect(await rowOf(owner)).toMatchObject({ name: 'Desk' });
  await db.prisma.user.updateMany({ where: { id: owner.userId }, data: { passwordHash: null } });
  const last = await browser.submit(path, {}, `${path}/remove`);
  expectToSay(last, 409, 'your only way to sign in');
  await addPasskeyTo(browser, ORIGIN);
  expect((await browser.submit(path, {}, `${path}/remove`)).status).toBe(303);
  expect((await listAuditEventsOf(db, owner)).map(({ action, detail }) => [action, detail])).toEqual([
    ['user.passkey_added', { passkey: 'Laptop' }],
    ['user.passkey_renamed', { from: 'Laptop', to: 'Desk' }],
    ['user.passkey_added', { passkey: 'Laptop' }],
    ['user.passkey_removed', { passkey: 'Desk' }],
  ]);
});

test('the removal of a person’s second factor by an administrator removes the passkeys, too', async () => {
  // The attack: an intruder adds a passkey of their own, which survives a new password and the removal of the second factor.
  const administrator = await createAccount(db, { role: 'administrator' });
  const owner = await createAccount(db, { scope: administrator.scope });
  const intruder = await addPasskeyTo(await signedIn(owner), ORIGIN);
  const admin = await signedIn(administrator);
  const user = `/people/users/${owner.userId}`;
  expect(wordsOf(await admin.get(user))).toContain('Passkeys 1');
  expect(wordsOf(await admin.get(`${user}/second-factor`))).toContain('Their passkeys stop working.');
  expect((await admin.submit(`${user}/second-factor`)).headers['location']).toBe(`${user}?done=factor-removed`);
  const guest = newBrowser(dashboard);
  expect((await signInWithPasskey(guest, intruder)).status).toBe(422);
  const removed = (await listAuditEventsOf(db, owner)).find(({ action }) => action === 'user.second_factor_removed');
  expect(removed?.detail).toEqual({ before: 'off', passkeys: '1' });
  expect((await resetSecondFactor(db, administrator, { userId: owner.userId })).kind).toBe('conflict');
});

test('a person has at most 20 passkeys, under concurrent requests too', async () => {
  const { owner, browser } = await withPasskey();
  await db.pool.query(
    `insert into passkeys (organization_id, id, user_id, credential_id, user_handle, public_key, counter, is_backup_eligible, is_backed_up, name)
     select organization_id, gen_random_uuid(), user_id, sha256((id::text || i)::bytea), user_handle, public_key, 0, false, false, 'Old ' || i
     from passkeys, generate_series(1, 17) i where user_id = $1`,
    [owner.userId],
  );
  const pages = await times(4, async () => {
    const page = await browser.get(NEW);
    return { page, credential: new Authenticator(ORIGIN).create(await optionsFrom(browser, page)) };
  });
  const added = await Promise.all(
    pages.map(({ page, credential }) => sendCredential(browser, page, { credential, name: 'New' })),
  );
  expect(added.map(({ status }) => status).toSorted()).toEqual([303, 303, 409, 409]);
  expect(await db.prisma.passkey.count({ where: { userId: owner.userId } })).toBe(20);
});

test.each([
  ['http://192.0.2.7', false, 'Passkeys need a host name, and this address is an IP address.'],
  ['https://192.0.2.7', true, 'Passkeys need a host name, and this address is an IP address.'],
  ['http://charter.example.org', true, 'Passkeys need HTTPS, and this address begins with http://.'],
  [
    'http://charter.example.org',
    false,
    'Passkeys need the address of this installation: an operator must set PUBLIC_URL.',
  ],
])('at %s, with PUBLIC_URL set: %s, the pages say why there are no passkeys', (origin, isConfigured, words) => {
  const site = relyingPartyAt(origin, { isConfigured });
  expect(site.kind === 'none' && wordsOf({ text: String(noPasskeysWords(site)) })).toContain(words);
});

test('where there are no passkeys, the pages say so in place of their forms, which are refused', async () => {
  await using other = await startDashboard({ databaseUrl: dashboard.databaseUrl });
  const browser = await browserOf(other, await createAccount(other.db));
  for (const page of [await new Browser(other.url).get('/sign-in'), await browser.get('/profile')])
    expect([wordsOf(page), page.text]).toEqual([
      expect.stringContaining('Passkeys need a host name'),
      expect.not.stringContaining('data-passkey'),
    ]);
  const form_token = await browser.formToken();
  expect((await browser.post('/profile/passkeys/options', { form_token })).status).toBe(404);
});
