import { DAY_MS, formatMonthDay } from '../../../src/domain/time.ts';
import { disableEndpoint } from '../../../src/service/webhooks/disabling.ts';
import { expectToSay, fillForm, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople } from '../../support/data/actors.ts';
import { addEndpoint, countDay, withoutMail, writeEvent } from '../../support/data/webhooks.ts';

const dashboard = await useDashboard();
const { db } = dashboard;

const LIST = '/organization/webhooks';
const NEW = `${LIST}/new`;

const secretsIn = ({ text, headers }: Page) =>
  `${text}${JSON.stringify(headers)}`.match(/whsec_[A-Za-z0-9+/=]+/g) ?? [];
const follow = (browser: Awaited<ReturnType<typeof browserOf>>, page: Page) =>
  browser.get(page.headers['location'] ?? '');

async function createEndpoint(role: 'administrator' | 'manager' = 'administrator') {
  const { browser, ...people } = await createSignedIn(dashboard, role);
  const { id, url: receiverUrl } = await addEndpoint(db, people.administrator);
  return {
    ...{ people, browser, id },
    url: `${LIST}/${id}`,
    receiverUrl,
    ids: { organizationId: people.scope.organizationId, endpointId: id },
  };
}

test('the secret of a new endpoint is shown in the first response alone', async () => {
  // The attack: reloading the page, going back, or reading the secret later as a manager.
  const people = await createPeople(db);
  const browser = await browserOf(dashboard, people.administrator);
  const fields = fillForm(await browser.form(NEW), { url: 'https://example.org/hooks' });
  const shown = await browser.post(NEW, fields);
  expect([shown.status, secretsIn(shown)]).toEqual([200, [expect.stringMatching(/^whsec_.{44}$/)]]);
  expect(shown.headers['cache-control']).toBe('no-store');
  const again = await browser.post(NEW, fields);
  expect([again.status, secretsIn(again)]).toEqual([409, []]);
  expect(wordsOf(again)).toContain('This form was sent already');
  const endpoints = await db.prisma.webhookEndpoint.findMany({
    where: { organizationId: people.scope.organizationId },
  });
  expect(endpoints).toHaveLength(1);
  const manager = await browserOf(dashboard, people.manager);
  const url = `${LIST}/${endpoints[0]?.id}`;
  for (const reader of [browser, manager])
    for (const path of [LIST, url, `${url}/rotate`, `${url}/change`, '/organization/audit-log'])
      expect([path, secretsIn(await reader.get(path))]).toEqual([path, []]);
});

test('a rotation shows the new secret once, and says how long the previous one signs', async () => {
  const { people, browser, url } = await createEndpoint();
  const fields = fillForm(await browser.form(`${url}/rotate`));
  const shown = await browser.post(`${url}/rotate`, fields);
  expect([shown.status, secretsIn(shown).length]).toEqual([200, 1]);
  expect(wordsOf(shown)).toContain('each event also has a signature with the previous secret');
  const again = await browser.post(`${url}/rotate`, fields);
  expect([again.status, secretsIn(again)]).toEqual([409, []]);
  expect(wordsOf(await browser.get(url))).toContain('The previous one also signs until');
  expect(wordsOf(await browser.get(`${url}/rotate`))).toContain('The secret was rotated less than 24 hours ago.');
  dashboard.passMinutes(24 * 60 + 1);
  try {
    const later = await browserOf(dashboard, people.administrator);
    expect(wordsOf(await later.get(url))).not.toContain('The previous one also signs until');
  } finally {
    dashboard.passMinutes(-(24 * 60 + 1));
  }
});

test.each([
  ['http://example.org/', 'URL must begin with https://'],
  ['https://169.254.169.254/latest/meta-data', 'URL must not have an address of this machine or of a private'],
  ['https://localhost/', 'URL must not have an address of this machine or of a private'],
  ['https://ada:secret@example.org/', 'Verify the signature of each event instead.'],
  ['nonsense', 'URL must be a whole URL, such as https://example.org/webhooks.'],
])('the URL %s is refused with 422, in the form for a new endpoint and in that for a change', async (url, words) => {
  const { browser, url: path } = await createEndpoint();
  for (const form of [NEW, `${path}/change`]) {
    const page = await browser.submit(form, { url });
    expect([form, page.status, wordsOf(page)]).toEqual([form, 422, expect.stringContaining(words)]);
    expect(page.text).toContain('id="url-error"');
    expect(page.text).toContain(`value="${url}"`);
    const both = await browser.submit(form, { url, event_types: undefined });
    expect(both.text).toContain('id="event_types-error"');
  }
});

test('the eleventh endpoint is refused, and the pages say so before the form is filled in', async () => {
  const { browser, administrator } = await createSignedIn(dashboard, 'administrator');
  for (let i = 0; i < 10; i += 1) await addEndpoint(db, administrator, { url: `https://example.org/${i}` });
  expect((await browser.get(LIST)).text).not.toContain(`href="${NEW}"`);
  expect(wordsOf(await browser.get(NEW))).toContain('10 of 10 endpoints: no more can be added.');
  const page = await browser.submit(NEW, { url: 'https://example.org/more' });
  expectToSay(page, 409, 'has 10 webhook endpoints already');
});

test('an endpoint is changed, disabled, enabled and deleted, and each page confirms what was done', async () => {
  const { browser, id, url } = await createEndpoint();
  const change = { url: 'https://hooks.example.com/new', event_types: 'parent_program.deleted' };
  const changed = await follow(browser, await browser.submit(`${url}/change`, change));
  expect(wordsOf(changed)).toMatch(/hooks\.example\.com .*The endpoint is saved\..*parent_program\.deleted/);
  expect(wordsOf(changed)).not.toContain('parent_program.created');
  // The attack: a link that claims what was not done.
  expect(wordsOf(await browser.get(`${url}?done=disabled`))).not.toContain('is disabled.');
  const disabled = await follow(browser, await browser.submit(`${url}/disable`));
  expect(wordsOf(disabled)).toMatch(/The endpoint is disabled\..*Disabled By an administrator/);
  expect((await browser.post(`${url}/disable`, { form_token: await browser.formToken() })).status).toBe(409);
  const enabled = await follow(browser, await browser.submit(url, {}, `${url}/enable`));
  expect(wordsOf(enabled)).toMatch(/The endpoint is enabled\..*Enabled/);
  const deleted = await follow(browser, await browser.submit(`${url}/delete`));
  expect(wordsOf(deleted)).toMatch(/The endpoint and its deliveries are deleted\..*No webhook endpoints yet/);
  expect((await browser.get(url)).status).toBe(404);
  expect(await db.prisma.webhookEndpoint.findFirst({ where: { id } })).toBeNull();
});

test('the list says in words how each endpoint does, and only of one’s own organization', async () => {
  const theirs = await createPeople(db);
  await addEndpoint(db, theirs.administrator, { url: 'https://theirs.example.org/' });
  const { people, browser, url, ids } = await createEndpoint('manager');
  const now = dashboard.now();
  await countDay(db, ids, { now, succeeded: 3 });
  await countDay(db, ids, { now, daysAgo: 4, failed: 1 });
  for (let i = 0; i < 3; i += 1) await writeEvent(db, people.scope);
  const words = wordsOf(await browser.get(LIST));
  expect(words).toMatch(
    /1 of 10 .*example\.org \/webhooks Enabled 3 deliveries wait parent_program created, updated, deleted Today \d+ \w{3} 20\d\d/,
  );
  expect(words).not.toContain('theirs.example.org');
  await db.prisma.webhookEndpoint.updateMany({ where: { id: ids.endpointId }, data: { failingSince: now } });
  expect(wordsOf(await browser.get(LIST))).toMatch(/Failing Since \d+/);
  expect(wordsOf(await browser.get(url))).toMatch(/Failing Since \d+/);
});

test('the chart has the attempts of seven days, with the same numbers in a table', async () => {
  const { browser, url, ids } = await createEndpoint('manager');
  expect(wordsOf(await browser.get(url))).toContain('Last 7 days No attempts.');
  const now = dashboard.now();
  await countDay(db, ids, { now, succeeded: 1200, failed: 3 });
  await countDay(db, ids, { now, daysAgo: 6, succeeded: 10 });
  await countDay(db, ids, { now, daysAgo: 7, failed: 5000 });
  const page = await browser.get(url);
  expect(page.text).toContain('aria-label="Last 7 days: 1,210 successful, 3 failed; at most 1,203 in one day.');
  expect(page.text.match(/<g>/g)).toHaveLength(7);
  const dates = Array.from({ length: 6 }, (_, i) => formatMonthDay(new Date(now.getTime() - (6 - i) * DAY_MS)));
  const [, scale = ''] = /<p class="use-scale"[^>]*>(.*?)<\/p>/.exec(page.text) ?? [];
  expect(scale.match(/[\d,]+/g)).toEqual(['1,500', '750', '0']);
  expect([...page.text.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text)).toEqual([...dates, 'Today']);
  expect(wordsOf(page)).toMatch(/Day Successful Failed .* 1,200 3 .* 10 0 /);
  expect(page.text).not.toMatch(/<style|\sstyle=|\son\w+=/);
});

test.each([
  ['gone', 'Its receiver responded with 410 Gone'],
  ['failing', 'Every attempt of 5 days failed'],
] as const)(
  'every page of the organization tells administrators of an endpoint that was disabled as %s',
  async (reason, why) => {
    const theirs = await createPeople(db);
    const { people, browser: administrator, id, url, receiverUrl } = await createEndpoint();
    await disableEndpoint(withoutMail(db), people.scope, { id, url: receiverUrl, reason });
    const notice = '1 webhook endpoint was disabled because the receiver failed.';
    const manager = await browserOf(dashboard, people.manager);
    const stranger = await browserOf(dashboard, theirs.administrator);
    for (const path of ['/organization', '/organization/api-keys', LIST, '/organization/audit-log']) {
      expect([path, wordsOf(await administrator.get(path))]).toEqual([path, expect.stringContaining(notice)]);
      expect([path, wordsOf(await stranger.get(path))]).toEqual([path, expect.not.stringContaining(notice)]);
    }
    expect(wordsOf(await manager.get(LIST))).not.toContain(notice);
    expect(wordsOf(await manager.get(LIST))).toContain(why);
    expect(wordsOf(await administrator.get(url))).toContain('Repair the receiver');
    const log = wordsOf(await administrator.get('/organization/audit-log'));
    expect(log).toMatch(new RegExp(`Webhook endpoint disabled .*${why}.* Charter `));
    await administrator.submit(url, {}, `${url}/enable`);
    expect(wordsOf(await administrator.get('/organization'))).not.toContain(notice);
  },
);

test('the audit log names each action and its endpoint, filters by it, and the export has the exact values', async () => {
  const { browser, id, url } = await createEndpoint();
  await browser.submit(`${url}/change`, { url: 'https://example.org/next', event_types: ['parent_program.created'] });
  await browser.submit(`${url}/rotate`);
  await browser.submit(url, {}, `${url}/test`);
  await browser.submit(`${url}/disable`);
  await browser.submit(url, {}, `${url}/enable`);
  await browser.submit(`${url}/delete`);
  const words = wordsOf(await browser.get('/organization/audit-log'));
  for (const line of [
    'Webhook endpoint added https://example.org/webhooks For parent_program.created, parent_program.updated, parent_program.deleted',
    'Webhook endpoint changed https://example.org/next Events: from parent_program.created, parent_program.updated, parent_program.deleted to parent_program.created Its URL was https://example.org/webhooks',
    'Webhook secret rotated https://example.org/next',
    'Webhook test event sent https://example.org/next',
    'Webhook endpoint disabled https://example.org/next',
    'Webhook endpoint enabled https://example.org/next',
    'Webhook endpoint deleted https://example.org/next',
  ])
    expect(words).toContain(line);
  expect(words.replaceAll(/Request [\w-]+|[\w-]+@/g, '')).not.toContain(id);
  const filtered = wordsOf(await browser.get('/organization/audit-log?action=webhook.deleted'));
  expect(filtered).toMatch(/Time Event By Target IP address .*Webhook endpoint deleted https/);
  const { text } = await browser.get('/organization/audit-log.csv?action=webhook.changed');
  expect(text).toContain(`endpoint: ${id}; `);
  expect(text.split('\r\n')).toHaveLength(3);
});
