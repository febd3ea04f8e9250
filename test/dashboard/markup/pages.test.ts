import { ROLE_WORDS } from '../../../src/dashboard/markup/words.ts';
import {
  mayCreateOwnKeys,
  mayGovern,
  mayManage,
  mayRevokeKeysOfOthers,
  mayTakeKeysOf,
  ROLES,
  type Role,
} from '../../../src/domain/people/role.ts';
import { Browser, encode, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, fill, type TestDashboard, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { textOf } from '../../support/dashboard/forms.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';

// Text that closes an attribute, an element, a textarea and a comment, and runs a script in each.
const ATTACK = `"'></textarea></title><script>alert(1)</script><img src=x onerror=alert(1)>\${1}{{1}}<!--`;
const EMAIL = `'><svg/onload=alert(1)>'&"@evil.example`;

const dashboard = await useDashboard();
const { db } = dashboard;
const people = await createPeople(db);
const { administrator, member } = people;
const keyId = (await giveKey(db, member, { name: `${ATTACK.slice(0, 90)}` })).id;
await giveKey(db, administrator, { name: ATTACK.slice(0, 90) });
// Writes to the table directly, because rows of an earlier version may contain such text.
await db.prisma.user.updateMany({ data: { name: ATTACK } });
await db.prisma.user.updateMany({ where: { id: member.userId }, data: { email: EMAIL } });
await db.prisma.organization.updateMany({ data: { name: ATTACK, suspendedAt: null } });
const browser = await browserOf(dashboard, administrator, { 'User-Agent': ATTACK });

/** Checks that the page contains no attack text as markup, and that the page shows each attack text in full. */
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
  for (const [suspendedAt, { userId }] of [
    [null, member],
    [new Date(), administrator],
  ] as const) {
    await dashboard.db.prisma.organization.updateMany({ data: { suspendedAt } });
    for (const path of dashboard.paths) {
      const page = await browser.get(fill(path, { userId, keyId }));
      if (page.headers['content-type']?.startsWith('text/html') !== true) continue;
      expectEscaped(path, page);
      if (textOf(page.text).includes(ATTACK.slice(0, 80))) shown += 1;
    }
  }
  await dashboard.db.prisma.organization.updateMany({ data: { suspendedAt: null } });
  expect(shown).toBeGreaterThan(20);
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
  // The attack: a script in the URL, which an error page repeats.
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
  // The attack: a script in the Host header. The page that shows a key also shows our own URL, which comes from that header.
  const path = `/people/users/${administrator.userId}/api-keys`;
  const form = await browser.form(`${path}/new`, path);
  const page = await browser.post(
    path,
    { ...Object.fromEntries(form.fields), name: 'Host' },
    { Host: 'a"><script>alert(1)</script>' },
  );
  expectEscaped('host', page);
});

const dashboards = { Live: dashboard, Test: await useDashboard({ environment: 'test' }) };

async function signedIn(server: TestDashboard) {
  const team = await createPeople(server.db);
  const { id } = await giveKey(server.db, team.member);
  const own = await browserOf(server, team.administrator);
  return { own, ids: { userId: team.member.userId, keyId: id } };
}

test.each(Object.entries(dashboards))(
  'in the %s environment, every page says so in its title and its frame',
  async (name, server) => {
    // The risk: a user who has a live and a test environment open revokes a live key instead of a test key.
    const { own, ids } = await signedIn(server);
    const every = [...server.paths.map((path) => fill(path, ids)), '/profile/nowhere'];
    const some = ['/profile', '/people/users', '/organization', '/profile/nowhere'];
    const paths = name === 'Test' ? every.filter((path) => !path.startsWith('/assets')) : some;
    let pages = 0;
    for (const [visitor, visited] of [
      [own, paths],
      [new Browser(server.url), ['/sign-in', '/forgotten-password', '/report-key', '/nowhere']],
    ] as const) {
      for (const path of visited) {
        const page = await visitor.get(path);
        if (page.headers['content-type']?.startsWith('text/html') !== true) continue;
        const [, title = ''] = /<title>([^<]*)</.exec(page.text) ?? [];
        const [, header = ''] = /<header[^>]*>([\s\S]*?)<\/header>/.exec(page.text) ?? [];
        const words = wordsOf({ ...page, text: header });
        expect([path, title, words]).toEqual([
          path,
          expect.stringMatching(new RegExp(` · ${name} · Charter$`)),
          expect.stringContaining(`Charter ${name} environment`),
        ]);
        pages += 1;
      }
    }
    expect(pages).toBeGreaterThan(name === 'Test' ? 25 : 7);
  },
);

test.each(Object.entries(dashboards))(
  'in the %s environment, the form for a key and the page that shows it say so',
  async (name, server) => {
    const { own } = await signedIn(server);
    const main = ({ text }: { text: string }) => text.slice(text.indexOf('<main'));
    const form = await own.get('/profile/api-keys/new');
    expect(wordsOf({ ...form, text: main(form) })).toContain(
      `${name} environment The key begins with charter_${name.toLowerCase()}_ and works in this environment only.`,
    );
    const shown = await own.submit('/profile/api-keys/new', { name: 'Shown' }, '/profile/api-keys');
    expect(wordsOf({ ...shown, text: main(shown) })).toContain(`Environment ${name} environment`);
  },
);

test.each([
  '/profile',
  '/profile/api-keys',
  `/people/users/${member.userId}/api-keys/${keyId}`,
  '/people/users',
  `/people/users/${administrator.userId}`,
  '/organization/audit-log',
])('%s: every icon is in the sprite, and screen readers skip all of them', async (path) => {
  const { text } = await browser.get(path);
  const names = [...text.matchAll(/<use href="#([\w-]+)"/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(5);
  const known = [...text.matchAll(/<symbol id="([\w-]+)"/g)].map(([, name]) => name);
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
  const pictures = [...text.matchAll(/<svg [^>]*>/g)].map(([tag]) => tag);
  expect(pictures.filter((tag) => !tag.includes('aria-hidden="true"'))).toEqual([]);
});

const LIST = new Intl.ListFormat('en-GB');
const namesOf = (roles: readonly Role[]) => LIST.format(roles.map((role) => `${role}s`));
const others = (role: Role, may: (actor: Role, target: Role) => boolean) => ROLES.filter((target) => may(role, target));

function meaningOf(role: Role): string {
  if (mayGovern(role)) return 'All keys, all people and the organization.';
  if (!mayCreateOwnKeys(role, { membersMayCreateKeys: true })) return 'Reads only. Cannot create keys.';
  if (!mayCreateOwnKeys(role, { membersMayCreateKeys: false }))
    return 'Own keys, if the organization lets members create them.';
  const keys = `keys of ${namesOf(others(role, mayTakeKeysOf))}`;
  const accounts = `accounts of ${namesOf(others(role, mayManage))}`;
  return `Own keys, ${keys}, and ${accounts}.${mayRevokeKeysOfOthers(role) ? ' Can revoke every key.' : ''}`;
}

test.each(ROLES)('the words about the role %s are those of the rules', (role) => {
  expect(ROLE_WORDS[role].meaning).toBe(meaningOf(role));
});

test('an administrator may take all keys and manage all people, as the words say', () => {
  expect(others('administrator', mayTakeKeysOf)).toEqual(ROLES);
  expect(others('administrator', mayManage)).toEqual(ROLES);
});
