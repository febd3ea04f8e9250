import { keysIn, wordsOf } from '../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, rowsOf, useDashboard } from '../support/dashboard/dashboard-server.ts';
import { createOneOfEach, formsAt } from '../support/dashboard/every-form.ts';
import { createPeople } from '../support/data/actors.ts';
import { encryptedSecret } from '../support/postgres/postgres.ts';

const dashboard = await useDashboard();
const people = await createPeople(dashboard.db);
const { db } = dashboard;
const at = await createOneOfEach(db, people);
/** All forms that an administrator sees, by the path to which they are sent. */
const forms = await formsAt(await browserOf(dashboard, people.administrator), dashboard.paths.map(at));
const pathsOf = (start: RegExp) => dashboard.paths.filter((path) => start.test(path)).map(at);

test.each(['member', 'viewer'] as const)(
  'a %s gets 403 at every path of people and the organization, also for a form that is posted by hand',
  async (role) => {
    // The attack: posting a form by hand, because the menu hides its page, with a token from a page that the role may open.
    const browser = await browserOf(dashboard, people[role]);
    const form_token = await browser.formToken();
    const before = await rowsOf(db);
    const posted = [];
    for (const path of pathsOf(/^\/(people|organization)/)) {
      const method = role === 'member' ? 'GET' : 'HEAD';
      expect([path, (await browser.send(method, path)).status]).toEqual([path, 403]);
      const response = await browser.post(path, { ...forms.get(path), form_token });
      if (response.status === 405) continue;
      expect([path, response.status, keysIn(response)]).toEqual([path, 403, []]);
      posted.push(path);
    }
    expect(posted.length).toBeGreaterThan(35);
    expect(await rowsOf(db)).toEqual(before);
  },
);

test('a manager may not see or change the sign-in, nor an administrator’s account', async () => {
  // The attack: a manager connects a provider of their own to sign in as anybody, or demotes the administrator.
  const browser = await browserOf(dashboard, people.manager);
  const form_token = await browser.formToken();
  const before = await rowsOf(db);
  for (const path of pathsOf(/^\/organization\/sign-in/)) {
    expect([path, (await browser.get(path)).status]).toEqual([path, 403]);
    const { status } = await browser.post(path, { ...forms.get(path), form_token });
    expect([path, [403, 405].includes(status)]).toEqual([path, true]);
  }
  const user = `/people/users/${people.administrator.userId}`;
  for (const [action, fields] of [
    ['role', { role: 'viewer' }],
    ['deactivate'],
    ['reactivate'],
    ['second-factor'],
  ] as const)
    expect([action, (await browser.post(`${user}/${action}`, { ...fields, form_token })).status]).toEqual([
      action,
      403,
    ]);
  expect(await rowsOf(db)).toEqual(before);
});

test('a manager sees the webhooks without a form, and a form that is posted by hand gets 403', async () => {
  // The attack: a manager has Charter send the organization's events to a URL of their own.
  const browser = await browserOf(dashboard, people.manager);
  const form_token = await browser.formToken();
  const before = await rowsOf(db);
  const refused = [];
  const pages = [];
  for (const path of pathsOf(/^\/organization\/webhooks/)) {
    const response = await browser.post(path, { ...forms.get(path), form_token });
    const page = await browser.get(path);
    expect([path, response.text.includes('whsec_'), page.status]).toEqual([
      path,
      false,
      response.status === 405 ? 200 : 403,
    ]);
    if (response.status === 405) pages.push(page.text);
    else refused.push(path);
  }
  expect([refused.length, pages.length]).toEqual([9, 3]);
  for (const path of refused) expect(pages.join()).not.toContain(`"${path}"`);
  expect(await rowsOf(db)).toEqual(before);
});

test('an e-mail address that contains a query adds nothing to a mailto link', async () => {
  // The attack: an address such as a?bcc=evil@b.example, which the page tells a viewer to contact.
  const mine = await createPeople(db);
  const email = `help?bcc=evil&body=${crypto.randomUUID()}@example.test`;
  await db.prisma.user.updateMany({ where: { id: mine.administrator.userId }, data: { email } });
  const page = await (await browserOf(dashboard, mine.viewer)).get('/profile/api-keys');
  expect(page.text).toContain('href="mailto:help%3Fbcc%3Devil%26body%3D');
});

test('a page that the role may not open names the administrators to ask', async () => {
  const { viewer, manager, administrator } = await createPeople(db);
  for (const [actor, path] of [
    [viewer, '/people/users'],
    [manager, '/organization'],
    [manager, '/organization/audit-log.csv'],
  ] as const) {
    const page = await (await browserOf(dashboard, actor)).get(path);
    expect(page.status).toBe(403);
    expect(wordsOf(page)).toContain(administrator.email);
  }
});

test.each([
  ['administrator', ['My profile', 'People', 'Organization']],
  ['manager', ['My profile', 'People', 'Organization']],
  ['member', ['My profile']],
  ['viewer', ['My profile']],
] as const)('the navigation of a %s leads to %j, and marks the section of the page', async (role, sections) => {
  const browser = await browserOf(dashboard, (await createPeople(db))[role]);
  const linksOn = ({ text }: { text: string }) => {
    const [, navigation = ''] = /<nav[^>]* aria-label="Main">(.*?)<\/nav>/s.exec(text) ?? [];
    return [...navigation.matchAll(/<a href="([^"]*)"( aria-current="\w+")?>(?:<svg.*?<\/svg>)?([^<]*)</gs)];
  };
  const links = linksOn(await browser.get('/profile'));
  expect(links.map(([, , , name]) => name)).toEqual(sections);
  for (const [, href = '', , name] of links) {
    const page = await browser.get(href);
    const target = page.status === 303 ? await browser.get(page.headers['location'] ?? '') : page;
    const current = linksOn(target).filter(([, , mark]) => mark !== undefined);
    expect([name, target.status, current.map(([, , , each]) => each)]).toEqual([name, 200, [name]]);
  }
});

test('a manager sees no role above member in a form, and no action buttons for an administrator', async () => {
  // The attack: learning from the page which forms a person with more rights can send.
  const { db } = dashboard;
  const { browser, administrator } = await createSignedIn(dashboard, 'manager');
  const invite = await browser.get('/people/users/invite');
  expect([...invite.text.matchAll(/<option value="(\w+)"/g)].map(([, role]) => role).toSorted()).toEqual([
    'member',
    'viewer',
  ]);
  await db.prisma.user.updateMany({
    where: { id: administrator.userId },
    data: { totpSecret: encryptedSecret(administrator), totpSince: new Date() },
  });
  const page = await browser.get(`/people/users/${administrator.userId}`);
  expect(page.text).not.toMatch(/\/(role|link|deactivate|reactivate|second-factor)"/);
});
