import { permissionWords } from '../../../src/dashboard/markup/words.ts';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { renameKey } from '../../../src/service/keys/rename-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { changePolicy } from '../../../src/service/organizations/policy.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { changeRole, deactivateUser } from '../../../src/service/people/change-user.ts';
import { inviteUser } from '../../../src/service/people/invitations.ts';
import { prove } from '../../../src/service/sign-in/prove.ts';
import { resetSecondFactor } from '../../../src/service/sign-in-settings/second-factor.ts';
import { Browser, expectToSay, keysIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { textOf } from '../../support/dashboard/forms.ts';
import { giveProof } from '../../support/dashboard/proof.ts';
import {
  addSecondFactor,
  ageProofs,
  codeAt,
  createAccount,
  givePasskey,
  openSession,
  PASSWORD,
} from '../../support/data/accounts.ts';
import { createPeople, giveKey, outcomeOf, READ_WRITE } from '../../support/data/actors.ts';

const PATH = '/organization/audit-log';
const DAY_MS = 86_400_000;

const dashboard = await useDashboard();
const { db } = dashboard;
const people = await createPeople(db);
const admin = await browserOf(dashboard, people.administrator);
const key = await giveKey(db, people.member, { name: 'Nightly import' });
await giveKey(db, people.manager, { name: 'Reporting' });

const filter = async (fields: Record<string, string>) =>
  (await admin.submit(PATH, fields)).headers['location'] ?? 'no redirect';

test('the form finds the events of a person by a part of the name, and of a key by its name or prefix', async () => {
  for (const fields of [
    { person: 'THE MEM' },
    { key: 'nightly' },
    { key: `${key.key.slice(0, 17)}…` },
    { person: 'the mem', key: 'nightly' },
  ]) {
    const page = await admin.get(await filter(fields));
    expect([fields, page.status, wordsOf(page).includes('Nightly import')]).toEqual([fields, 200, true]);
    expect(wordsOf(page)).not.toContain('Reporting');
  }
});

test.each([
  ['composed', 'Jos\u00e9'],
  ['decomposed', 'Jose\u0301'],
])('a name is found by its %s Unicode form', async (_form, name) => {
  // The bug: a name copied from a file of macOS, where the accent is a separate character, matched nobody.
  const { browser, member } = await createSignedIn(dashboard, 'administrator');
  const data = { name: 'Jos\u00e9' };
  await db.prisma.user.updateMany({ where: { id: member.userId }, data });
  await giveKey(db, member, data);
  for (const field of ['person', 'key']) {
    for (const path of [
      `${PATH}?${field}=${encodeURIComponent(name)}`,
      (await browser.submit(PATH, { [field]: name })).headers['location'] ?? '',
    ]) {
      const page = await browser.get(path);
      expect([path, page.status, wordsOf(page)]).toEqual([path, 200, expect.stringContaining('API key created')]);
    }
  }
});

test('a filter finds what it names and nothing that nearly matches', async () => {
  const { administrator, scope } = await createPeople(db);
  const foreign = await createPeople(db);
  const browser = await browserOf(dashboard, administrator);
  const named = async (name: string, email: string, keyName: string, organizationScope = scope) => {
    const actor = await createAccount(db, { scope: organizationScope, role: 'member' });
    const where = { id: actor.userId };
    await db.prisma.user.updateMany({
      where,
      data: { name, email: `${email}-${scope.organizationId}@near.test` },
    });
    await giveKey(db, actor, { name: keyName });
  };
  const at = `${scope.organizationId}@near.test`;
  await named('Ann Lee', 'ann', 'Sync 1%');
  await named('Joann Lee', 'joann', 'Sync 10');
  await named('Ann_Lee', 'ann_lee', 'Sync_1');
  await named('Änn Straße', 'aenn', 'Sync 1\\');
  await named('Ann Lee', 'stranger', 'Sync 1 of others', foreign.scope);
  const keysFor = async (filters: Record<string, string>) => {
    const { status, text } = await browser.get(`${PATH}?${new URLSearchParams(filters)}`);
    return status === 200 ? [...new Set(text.match(/Sync[ _]1[^<]*/g))].toSorted() : status;
  };
  for (const [filters, found] of [
    [{ person: 'ann lee' }, ['Sync 1%', 'Sync 10']],
    [{ person: `ann-${at}` }, ['Sync 1%']],
    [{ person: `ANN-${at.toUpperCase()}` }, ['Sync 1%']],
    [{ person: 'ann_lee' }, ['Sync_1']],
    [{ person: 'A\u0308NN STRASSE' }, ['Sync 1\\']],
    [{ person: 'Ann L%' }, 422],
    [{ person: 'stranger' }, 422],
    [{ key: 'sync 1' }, ['Sync 1%', 'Sync 10', 'Sync 1\\']],
    [{ key: 'sync_1' }, ['Sync_1']],
    [{ key: '1%' }, ['Sync 1%']],
    [{ key: '1\\' }, ['Sync 1\\']],
    [{ person: 'joann', key: 'sync 1%' }, []],
    [{ key: 'sync 1', action: 'key.revoked' }, []],
  ] as const)
    expect([filters, await keysFor(filters)]).toEqual([filters, typeof found === 'number' ? found : found.toSorted()]);
});

test('the page says how many events there are, and of many, that there are more than 1,000', async () => {
  const { browser, member, scope } = await createSignedIn(dashboard, 'administrator');
  for (let i = 0; i < 3; i += 1) await giveKey(db, member, { name: `Counted ${i}` });
  expect(wordsOf(await browser.get(PATH))).toContain('Events 3 in all');
  expect(wordsOf(await browser.get(`${PATH}?key=counted%201`))).toContain('Events 1 found');
  await db.pool.query(
    `insert into audit_events (organization_id, id, act) select $1, uuidv7(), 'key.renamed' from generate_series(1, 1000)`,
    [scope.organizationId],
  );
  expect(wordsOf(await browser.get(PATH))).toContain('Events 1,000+ in all');
});

test('a whole API key in a filter finds its events, and never gets into a URL, a page or a log', async () => {
  // The attack: reading a leaked key in the browser's history or in a proxy's log, after an administrator searched for it.
  for (const name of ['person', 'key', 'action', 'from']) {
    for (const text of [key.key, key.key.slice(13), ` "${key.key}"`, key.key.slice(0, 40)]) {
      const location = await filter({ [name]: text });
      expect([name, text, location.includes(key.key.slice(18, 30))]).toEqual([name, text, false]);
      const page = await admin.get(location);
      expect([keysIn(page), page.text.includes(key.key.slice(18, 30))]).toEqual([[], false]);
      if (name === 'key') expect(wordsOf(page)).toContain('API key created');
    }
  }
  expect(dashboard.logged.join('')).not.toContain(key.key.slice(18, 30));
});

test.each([
  ['page', ''],
  ['export', '.csv'],
])('the %s reports all invalid filters at once, without events and without a file', async (_, suffix) => {
  // The risk: an empty list beside an error is taken for "nothing happened".
  const query = 'action=none&person=nobody&key=nothing&from=2026-02-30&to=x';
  const page = await admin.get(`${PATH}${suffix}?${query}`);
  expect([page.status, page.headers['content-disposition']]).toEqual([422, undefined]);
  for (const field of ['action', 'person', 'key', 'from', 'to']) expect(page.text).toContain(`href="#${field}"`);
  expect(wordsOf(page)).not.toContain('No events');
  expect(page.text).not.toContain('Export as CSV');
  expect(wordsOf(page).includes('Nothing was exported.')).toBe(suffix === '.csv');
});

test('a last day before the first one is refused, and so is a part of a name that matches too many people', async () => {
  const early = await admin.get(`${PATH}?from=2026-03-02&to=2026-03-01`);
  expectToSay(early, 422, 'To must not be before the first day.');
  const { organizationId } = people.scope;
  await db.pool.query(
    `insert into users (organization_id, id, email, name, role)
     select $1, gen_random_uuid(), 'twin-' || i || '@example.test', 'Twin ' || i, 'viewer' from generate_series(1, 21) i`,
    [organizationId],
  );
  const many = await admin.get(`${PATH}?person=twin`);
  expectToSay(many, 422, 'more than 20 people match');
  expect((await admin.get(`${PATH}?person=twin-3@example.test`)).status).toBe(200);
  expect(wordsOf(await admin.get(`${PATH}?from=2099-01-01`))).toContain('No recorded event matches the filters.');
});

test('links lead to today, the last 7 and the last 30 days in UTC, and keep the other filters', async () => {
  const page = await admin.get(`${PATH}?key=nightly&from=2026-01-01&to=2026-01-02`);
  for (const [name, days] of [
    ['Today', 1],
    ['Last 7 days', 7],
    ['Last 30 days', 30],
  ] as const) {
    const from = new Date(dashboard.now().getTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    expect(page.text).toContain(`<a href="${PATH}?key=nightly&amp;from=${from}">${name}</a>`);
    const current = await admin.get(`${PATH}?key=nightly&from=${from}`);
    expect([current.status, current.text.includes(`aria-current="true">${name}</a>`)]).toEqual([200, true]);
    expect(wordsOf(current)).toContain('Nightly import');
  }
  expect(page.text).toContain(`<a href="${PATH}?key=nightly">All time</a>`);
});

test('each event has its second in UTC, and the instant for the script', async () => {
  const { text } = await admin.get(PATH);
  expect(text).toMatch(
    /<time datetime="\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)\.\d{3}Z" data-local-time>\d{1,2} \w{3} \d{4}, \1 UTC<\/time>/,
  );
});

const named = { 'User-Agent': 'Agent/1' };

/** Returns the events that the request of this response recorded. */
async function eventsOf({ headers }: Page) {
  const requestId = headers['x-request-id'] ?? '';
  const events = await db.prisma.auditEvent.findMany({ where: { requestId }, orderBy: { id: 'asc' } });
  return events.map(({ action, actorUserId, targetUserId, keyId, ip, userAgent }) => ({
    action,
    actorUserId,
    targetUserId,
    keyId,
    ip,
    userAgent,
  }));
}

const from = { ip: '127.0.0.1', userAgent: 'Agent/1' };

test('each action on people records one event with actor, target, address and request', async () => {
  // The attack: an action that records no event, or a false one. The tests of the services check actions on keys and
  // integrations.
  const { member, administrator } = await createPeople(db);
  const acting = await browserOf(dashboard, administrator, { ...named, 'X-Forwarded-For': '203.0.113.9' });
  const user = `/people/users/${member.userId}`;
  const expectEvent = async (page: Page, action: string, targetUserId: unknown = member.userId) =>
    expect(await eventsOf(page)).toEqual([
      { action, actorUserId: administrator.userId, targetUserId, keyId: null, ...from },
    ]);
  const person = { name: 'Mei', email: `${crypto.randomUUID()}@example.test`, role: 'viewer' };
  const invited = await acting.submit('/people/users/invite', person);
  await expectEvent(invited, 'user.invited', expect.any(String));
  await expectEvent(await acting.submit(user, { role: 'viewer' }, `${user}/role`), 'user.role_changed');
  await expectEvent(await acting.submit(user, {}, `${user}/link`), 'user.invited');
  await givePasskey(db, member);
  await expectEvent(await acting.submit(`${user}/second-factor`), 'user.second_factor_removed');
  await expectEvent(await acting.submit(`${user}/deactivate`), 'user.deactivated');
  await expectEvent(await acting.submit(user, {}, `${user}/reactivate`), 'user.reactivated');
  const [path = ''] = /\/welcome\/[\w-]{43}/.exec(invited.text) ?? [];
  const guest = new Browser(dashboard.url, { headers: named });
  const { id } = await db.prisma.user.findFirstOrThrow({ where: { email: person.email } });
  expect(await eventsOf(await guest.submit(path, { password: PASSWORD }))).toEqual([itself('user.password_set', id)]);
});

function itself(action: string, userId: string) {
  return { action, actorUserId: userId, targetUserId: userId, keyId: null, ...from };
}

test('each action on one’s own account records one event, and so does a failed sign-in', async () => {
  // The attack: an intruder in an account goes unnoticed by its owner.
  const account: Actor = await createAccount(db);
  const browser = new Browser(dashboard.url, { headers: { 'User-Agent': 'Agent/1' } });
  const expectEvent = async (page: Page, action: string) =>
    expect(await eventsOf(page)).toEqual([itself(action, account.userId)]);
  expect(await eventsOf(await browser.signIn(account.email, 'wrong'))).toEqual([
    { ...itself('user.sign_in_failed', account.userId), actorUserId: null },
  ]);
  await expectEvent(await browser.signIn(account.email, PASSWORD), 'user.signed_in');
  const path = '/profile/second-factor';
  await ageProofs(db, account);
  const asked = await browser.submit(path);
  await expectEvent(await giveProof(browser, asked, { password: 'wrong' }), 'user.proof_failed');
  const setUp = await giveProof(browser, asked);
  const [, uri = ''] = /href="(otpauth:[^"]*)"/.exec(setUp.text) ?? [];
  const form_token = await browser.formToken();
  const code = codeAt(textOf(uri), dashboard.now());
  await expectEvent(
    await browser.post('/profile/second-factor/confirm', { form_token, code }),
    'user.second_factor_on',
  );
  await expectEvent(await browser.submit(`${path}/recovery-codes`), 'user.recovery_codes_made');
  await expectEvent(await browser.submit(path, {}, `${path}/remove`), 'user.second_factor_off');
  await openSession(db, account, dashboard.now());
  await openSession(db, account, dashboard.now());
  await expectEvent(await browser.submit('/profile/sessions'), 'user.session_ended');
  const everywhere = '/profile/sessions/sign-out-everywhere';
  await expectEvent(await browser.submit('/profile/sessions', {}, everywhere), 'user.signed_out_everywhere');
  const change = { password: 'seven otters juggle 93 lanterns' };
  await expectEvent(await browser.submit('/profile/password', change), 'user.password_set');
  await expectEvent(await browser.submit('/profile', {}, '/sign-out'), 'user.signed_out');
});

const POLICY = { membersMayCreateKeys: true, maxKeyLifeDays: 365, allowsUnendingKeys: false, requiresAddresses: false };
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d/;

const { administrator, member } = await createPeople(db, POLICY);
const { userId } = member;
const request = { userId, permissions: READ_WRITE, lifeDays: 300, environment: 'live' } as const;
const made = orThrow(await issueKey(db, administrator, { ...request, name: 'First name' }));
const expiresAt = made.expiresAt;
orThrow(await renameKey(db, administrator, { keyId: made.id, userId, name: 'Second name' }));
const successor = orThrow(await rotateKey(db, administrator, { keyId: made.id, userId, environment: 'live' }));
orThrow(
  await inviteUser(db, administrator, { email: `${crypto.randomUUID()}@example.test`, name: 'Mei', role: 'viewer' }),
);
orThrow(await changeRole(db, administrator, { userId, role: 'manager' }));
orThrow(await changePolicy(db, administrator, { ...POLICY, maxKeyLifeDays: 1, allowsUnendingKeys: true }));
const account = await createAccount(db, { scope: administrator.scope });
await addSecondFactor(db, account, new Date());
orThrow(await resetSecondFactor(db, administrator, { userId: account.userId }));
const wrongProof = { given: { kind: 'password', password: 'wrong', code: '' }, token: '', now: new Date() } as const;
await outcomeOf(prove(db, account, wrongProof));
orThrow(await deactivateUser(db, administrator, { userId }));
const reading = await browserOf(dashboard, administrator);
const [page, file] = [await reading.get(PATH), await reading.get(`${PATH}.csv`)];

test('the log page describes events in words, with names, prefixes, roles and dates that people can read', () => {
  const words = wordsOf(page);
  for (const line of [
    'API key created Its name was “First name” Expires ',
    `UTC ${wordsOf({ text: permissionWords(READ_WRITE) }).trim()} The administrator`,
    'API key renamed From “First name” to “Second name”',
    `API key rotated Replaced by ${successor.key.slice(0, 17)}…`,
    'API key revoked Because the user was deactivated',
    'User invited As Viewer',
    'Role changed From Member to Manager',
    'Second factor removed It was on',
    'Proof of identity failed With the password',
    'Longest key life: from 365 days to 1 day',
    'Keys that never expire: from not allowed to allowed',
  ]) {
    expect(words).toContain(line);
  }
});

test('the log page shows no ids and no machine times, and each date has a machine-readable form', () => {
  // Exceptions are the request id, which people quote to support, and e-mail addresses.
  expect(wordsOf(page).replaceAll(/Request [\w-]+|[\w-]+@/g, '')).not.toMatch(UUID);
  expect(wordsOf(page)).not.toMatch(ISO);
  const iso = expiresAt?.toISOString() ?? '';
  expect(page.text).toMatch(
    new RegExp(`Expires <time datetime="${iso}">\\d{1,2} [A-Z][a-z]{2} \\d{4}, \\d\\d:\\d\\d UTC</time>`),
  );
});

test('the export has the exact values', () => {
  const rows = file.text.split('\r\n');
  const created = rows.find((row) => row.includes('key.created')) ?? '';
  expect(created).toContain(`expires: ${expiresAt?.toISOString()}`);
  expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,key\.created,/);
  expect(rows.find((row) => row.includes('key.rotated'))).toContain(`successor: ${successor.id}`);
  expect(rows.find((row) => row.includes('user.role_changed'))).toContain('after: manager; before: member');
  expect(file.text).toContain('longest key life: 365 days -> 1 day');
});
