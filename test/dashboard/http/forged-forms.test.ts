import { Browser, encode, type Fields, fillForm } from '../../support/dashboard/dashboard.ts';
import { browserOf, rowsOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createOneOfEach, formsAt } from '../../support/dashboard/every-form.ts';
import { createPeople, inParallel, NOBODY } from '../../support/data/actors.ts';

const dashboard = await useDashboard();
const people = await createPeople(dashboard.db);
const browser = await browserOf(dashboard, people.administrator);
const at = await createOneOfEach(dashboard.db, people);
/** All forms that an administrator sees, by the path to which they are sent. */
const forms = await formsAt(browser, dashboard.paths.map(at));
const form_token = await browser.formToken();

/** Returns every path that accepts POST, with the fields of its form. */
async function everyPost(): Promise<[string, Fields][]> {
  const all: [string, Fields][] = [];
  await inParallel(dashboard.paths, async (pattern) => {
    const path = at(pattern);
    // A path that accepts forms refuses this Content-Type with 415, before it reads the form.
    const { status } = await browser.post(path, {}, { 'Content-Type': 'text/plain' });
    if (status === 405 || status === 404) return;
    expect([path, status]).toEqual([path, 415]);
    all.push([path, forms.get(path) ?? { form_token }]);
  });
  expect(all.length).toBeGreaterThanOrEqual(20);
  return all;
}

const posts = await everyPost();

test('a form without a token, with another session’s token or with one from before sign-in gets 403 and changes nothing', async () => {
  // The attack: another site sends a form on behalf of its visitor, with a token of the attacker’s own session.
  const stranger = await (await browserOf(dashboard, people.other)).formToken();
  const guest = new Browser(dashboard.url);
  const victim = await browserOf(dashboard, people.administrator);
  const early = new Map((await guest.form('/sign-in')).fields).get('form_token') ?? '';
  for (const [name, value] of guest.cookies) if (name.endsWith('form')) victim.cookies.set(name, value);
  const before = await rowsOf(dashboard.db);
  await inParallel(posts, async ([path, fields]) => {
    const isOpen = /^\/(sign-in|single-sign-on|forgotten-password|report-key|welcome)/.test(path);
    const blank = path === '/organization' ? { empty: '', blank: ' ' } : {};
    const tokens = { none: undefined, ...blank, strangers: stranger, ...(!isOpen && { early }) };
    for (const [kind, form_token] of Object.entries(tokens)) {
      const { status } = await victim.post(path, { ...fields, form_token });
      expect([path, kind, status]).toEqual([path, kind, 403]);
    }
  });
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

const FOREIGN: Readonly<Record<string, Record<string, string | undefined>>> = {
  'another site': { 'Sec-Fetch-Site': 'cross-site' },
  'another site that claims our origin': { 'Sec-Fetch-Site': 'cross-site', Origin: 'OURS' },
  'a sister domain': { 'Sec-Fetch-Site': 'same-site', Origin: 'OURS' },
  'nobody knows where': { 'Sec-Fetch-Site': 'none', Origin: 'OURS' },
  'two places': { 'Sec-Fetch-Site': 'same-origin, cross-site', Origin: 'OURS' },
  'an old browser on another site': { 'Sec-Fetch-Site': undefined, Origin: 'https://evil.example' },
  'an old browser in a sandboxed frame': { 'Sec-Fetch-Site': undefined, Origin: 'null' },
  'another port': { 'Sec-Fetch-Site': undefined, Origin: 'http://127.0.0.1:1' },
  'a host that begins as ours': { 'Sec-Fetch-Site': undefined, Origin: 'OURS.evil.example' },
  'somebody who says nothing': { 'Sec-Fetch-Site': undefined },
  'somebody who gives a referrer alone': { 'Sec-Fetch-Site': undefined, Referer: 'OURS/profile' },
};

/** The kinds of request that are sent to every path. The other kinds are sent only to the paths in SOME. */
const EVERYWHERE = ['another site', 'an old browser on another site', 'somebody who says nothing'];
const SOME = ['/organization', '/sign-in', '/sign-out', `/people/users/${people.member.userId}/deactivate`];

test.each(Object.entries(FOREIGN))('a complete form from %s gets 403 and changes nothing', async (from, headers) => {
  // The attack: cross-site request forgery (CSRF) with a known token.
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value?.replace('OURS', dashboard.url)]),
  );
  const before = await rowsOf(dashboard.db);
  const tried = posts.filter(([path]) => EVERYWHERE.includes(from) || SOME.includes(path));
  expect(tried.length).toBeGreaterThanOrEqual(SOME.length);
  await inParallel(tried, async ([path, fields]) => {
    expect([path, (await browser.post(path, fields, sent)).status]).toEqual([path, 403]);
  });
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

test('an old browser on our own page that sends only Origin is accepted', async () => {
  // Over plain HTTP, browsers do not send Sec-Fetch-Site.
  const headers = { 'Sec-Fetch-Site': undefined, Origin: dashboard.url };
  const fields = { ...forms.get('/organization'), max_key_life_days: '300' };
  expect((await browser.post('/organization', fields, headers)).status).toBe(303);
});

test('GET, HEAD, PUT, PATCH, DELETE and OPTIONS change nothing on any path, whatever the URL contains', async () => {
  // The attack: an image or a link in an e-mail with the URL of a form.
  const before = await rowsOf(dashboard.db);
  await inParallel(posts, async ([path, fields], i) => {
    const query = encode(fields);
    for (const method of ['GET', 'HEAD', ['PUT', 'PATCH', 'DELETE', 'OPTIONS'][i % 4] ?? '']) {
      const { status } = await browser.send(method, `${path}?${query}`, {
        headers: { 'X-HTTP-Method-Override': 'POST' },
      });
      const allowed = method === 'GET' || method === 'HEAD' ? /^(200|303|404|405)$/ : /^405$/;
      expect([method, path, String(status)]).toEqual([method, path, expect.stringMatching(allowed)]);
    }
  });
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

const EXTRA = {
  role: 'administrator',
  user_id: NOBODY,
  ['__proto__']: 'x',
  organization_id: NOBODY,
  organizationId: NOBODY,
  userId: NOBODY,
  id: NOBODY,
  permissions: 'parent_programs:write',
  expires_at: '2999-01-01',
  password_hash: 'x',
  deactivated_at: '',
  created_by_user_id: NOBODY,
  environment: 'test',
  constructor: 'x',
  'role[]': 'administrator',
  secret: 'whsec_AAAA',
  is_test: 'true',
  'event_types[]': 'webhook.test',
};

test('every form refuses a field that it does not have, and changes nothing', async () => {
  // The attack: adding the names of other columns to a form, in the hope that the server assigns them.
  const before = await rowsOf(dashboard.db);
  expect(forms.size).toBeGreaterThanOrEqual(20);
  await inParallel([...forms], async ([action, fields]) => {
    const extra = Object.entries(EXTRA).slice(0, action === '/organization' ? undefined : 3);
    for (const [name, value] of extra.filter(([each]) => !Object.hasOwn(fields, each))) {
      const response = await browser.post(action, { ...fields, [name]: value });
      expect([action, name, response.status]).toEqual([action, name, 422]);
    }
  });
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

test('a POST ignores form fields in the query string', async () => {
  // The attack: sending fields in the URL, in the hope that a lax parser merges them with the body.
  const own = await browserOf(dashboard, people.member);
  const query = `?userId=${people.administrator.userId}&role=administrator&permissions=parent_programs:write&form_token=x`;
  const form = fillForm(await own.form('/profile/api-keys/new', '/profile/api-keys'), { name: 'Query' });
  const response = await own.post(`/profile/api-keys${query}`, { ...form, permissions: 'parent_programs:read' });
  expect(response.status).toBe(200);
  const [key] = await dashboard.db.prisma.apiKey.findMany({ where: { name: 'Query' } });
  expect(key).toMatchObject({ userId: people.member.userId, permissions: ['parent_programs:read'] });
});
