import { createPeople, giveKey } from '../../support/data/actors.ts';
import { encode, type Page } from '../../support/http/dashboard.ts';
import { browserOf, fill, useDashboard } from '../../support/http/dashboard-server.ts';
import { textOf } from '../../support/http/forms.ts';

// Closes an attribute, an element, a textarea and a comment, and runs a script in each.
const ATTACK = `"'></textarea></title><script>alert(1)</script><img src=x onerror=alert(1)>\${1}{{1}}<!--`;
const EMAIL = `'><svg/onload=alert(1)>'&"@evil.example`;

const dashboard = await useDashboard();
const { db } = dashboard;
const people = await createPeople(db);
const { administrator, member } = people;
const keyId = (await giveKey(db, member, { name: `${ATTACK.slice(0, 90)}` })).id;
await giveKey(db, administrator, { name: ATTACK.slice(0, 90) });
// Writes to the table directly: rows of an earlier version may contain such text.
await db.prisma.user.updateMany({ data: { name: ATTACK } });
await db.prisma.user.updateMany({ where: { id: member.userId }, data: { email: EMAIL } });
await db.prisma.organization.updateMany({ data: { name: ATTACK, suspendedAt: null } });
const browser = await browserOf(dashboard, administrator, { 'User-Agent': ATTACK });

/** No attack text is parsed as markup, and each page that shows it shows it in full. */
function expectEscaped(where: string, page: Page): void {
  const inside = page.text.replaceAll(/<script src="\/assets\/[\w.]+" defer><\/script>/g, '');
  const found = /<script|<img|<svg\/|onload=alert\(1\)>|'><|"'>|<!--(?!\s*$)|<\/title>[\s\S]*<\/title>/i.exec(inside);
  expect([where, found?.[0]]).toEqual([where, undefined]);
  for (const tag of inside.match(/<[a-z][^>]*>/gi) ?? []) {
    const bare = tag.replace(/="[^"]*"/g, '');
    expect([where, bare]).toEqual([where, expect.stringMatching(/^<[a-z0-9]+( (?!on|style)[a-z-]+)*\/?>$/i)]);
    for (const [, name = '', value] of tag.matchAll(/([\w-]+)="([^"]*)"/g)) {
      if (/^(href|src|action)$/.test(name)) expect(value).toMatch(/^(\/(?!\/)|#|mailto:|otpauth:)/);
    }
  }
}

test('every page escapes names, key names, the organization’s name and e-mail addresses', async () => {
  // The attack: stored XSS. A member gives a key a name that runs a script when an administrator views it.
  await browser.submit(`/people/users/${member.userId}/api-keys/${keyId}/rename`, { name: `x${ATTACK.slice(0, 90)}` });
  let shown = 0;
  for (const suspendedAt of [null, new Date()]) {
    await dashboard.db.prisma.organization.updateMany({ data: { suspendedAt } });
    for (const path of dashboard.paths) {
      for (const userId of [member.userId, administrator.userId]) {
        const page = await browser.get(fill(path, { userId, keyId }));
        if (page.headers['content-type']?.startsWith('text/html') !== true) continue;
        expectEscaped(path, page);
        if (textOf(page.text).includes(ATTACK.slice(0, 80))) shown += 1;
      }
    }
  }
  await dashboard.db.prisma.organization.updateMany({ data: { suspendedAt: null } });
  expect(shown).toBeGreaterThan(30);
});

test('searches, filters, forms and messages escape the text that was typed', async () => {
  // The attack: reflected XSS through a link.
  const text = encodeURIComponent(ATTACK);
  const queries = [
    '/people/users?search=',
    '/people/users?after=',
    '/organization/audit-log?person=',
    '/sign-in?next=',
  ];
  const more = [
    '/organization/audit-log?action=',
    '/organization/audit-log?from=',
    '/organization/audit-log?after=',
    '/profile?done=',
  ];
  for (const path of [...queries, ...more]) expectEscaped(path, await browser.get(path + text));
  const keys = `/people/users/${member.userId}/api-keys`;
  const forms = [
    ['/people/users/invite', '/people/users/invite', { name: ATTACK, email: ATTACK, role: ATTACK }],
    [`${keys}/new`, keys, { name: ATTACK.repeat(9), permissions: ATTACK, expiry: ATTACK }],
    [`${keys}/${keyId}/rename`, `${keys}/${keyId}/rename`, { name: `${ATTACK}${'x'.repeat(100)}` }],
    ['/organization', '/organization', { max_key_life_days: ATTACK }],
    [`/people/users/${member.userId}`, `/people/users/${member.userId}/role`, { role: ATTACK }],
  ] as const;
  for (const [page, action, change] of forms) {
    const response = await browser.submit(page, change, action);
    expect([action, response.status]).toEqual([action, 422]);
    expectEscaped(action, response);
  }
  browser.cookies.set('charter-form', encodeURIComponent(ATTACK));
  const guest = await browser.post('/sign-in', { form_token: ATTACK, email: ATTACK });
  expectEscaped('/sign-in', guest);
});

test('the pages that show a new key, a link or a conflict escape names as well', async () => {
  // The attack: a script on the page that shows a secret.
  const keys = `/people/users/${member.userId}/api-keys`;
  const made = await browser.submit(`${keys}/new`, { name: `y${ATTACK.slice(0, 90)}` }, keys);
  expect(made.status).toBe(200);
  expectEscaped('reveal', made);
  const { id } = await giveKey(dashboard.db, member, { name: `z${ATTACK.slice(0, 90)}` });
  const rotated = await browser.submit(`${keys}/${id}/rotate`);
  expectEscaped('rotated', rotated);
  const again = await browser.post(`${keys}/${id}/revoke`, { form_token: await browser.formToken() });
  expect(again.status).toBe(409);
  expectEscaped('conflict', again);
  const person = { name: ATTACK, email: `${crypto.randomUUID()}@example.test`, role: 'viewer' };
  const invited = await browser.submit('/people/users/invite', person);
  expectEscaped('invited', invited);
  const [path = ''] = /\/welcome\/[\w-]{43}/.exec(invited.text) ?? [];
  const welcome = await browser.get(path);
  expect(textOf(welcome.text)).toContain(ATTACK);
  expectEscaped('welcome', welcome);
});

test('the page for an unknown path does not repeat the path', async () => {
  // The attack: an error page that repeats the URL.
  for (const path of [
    '/profile/<script>alert(1)</script>',
    '/people/users/"onload=alert(1)',
    '/<svg/onload=alert(1)>',
    '/welcome/"\'><script>',
  ]) {
    const page = await browser.get(encode({ p: path }).slice(2).replaceAll('%2F', '/'));
    expect([path, page.status]).toEqual([path, 404]);
    expectEscaped(path, page);
    const raw = await browser.get(path.replaceAll(' ', '+'));
    expectEscaped(path, raw);
  }
});

test('a host that contains a script is escaped', async () => {
  // The attack: the page that reveals a key also shows our own URL, which comes from the Host header.
  const path = `/people/users/${administrator.userId}/api-keys`;
  const form = await browser.form(`${path}/new`, path);
  const page = await browser.post(
    path,
    { ...Object.fromEntries(form.fields), name: 'Host' },
    { Host: 'a"><script>alert(1)</script>' },
  );
  expectEscaped('host', page);
});
