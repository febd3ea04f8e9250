import type { Actor } from '../../../src/domain/actor.ts';
import { createAccount } from '../../support/data/accounts.ts';
import { createPeople } from '../../support/data/actors.ts';
import { type Fields, filled, keysIn, type Page } from '../../support/http/dashboard.ts';
import { browserOf, fill, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();

const OWN = '/profile/api-keys';

async function createForm(actor: Actor, name = 'Once') {
  const browser = await browserOf(dashboard, actor);
  return { browser, fields: filled(await browser.form(`${OWN}/new`, OWN), { name }) };
}

const countKeys = ({ userId }: Actor) => dashboard.db.prisma.apiKey.count({ where: { userId } });

test('the response that shows a key forbids caching, and contains the key only in its text', async () => {
  // The attack: the back button, the disk cache of a shared machine, or a proxy.
  const { browser, fields } = await createForm(await createAccount(dashboard.db));
  const page = await browser.post(OWN, fields);
  const [key = ''] = keysIn(page);
  expect([page.status, keysIn(page).length]).toEqual([200, 1]);
  expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
  for (const name of ['etag', 'last-modified', 'expires', 'location']) expect(page.headers[name]).toBeUndefined();
  expect(JSON.stringify(page.headers) + page.setCookies.join()).not.toContain(key.slice(0, 20));
  expect(page.text).not.toMatch(new RegExp(`(href|src|action|value)="[^"]*${key}`));
  expect(await dashboard.statusOf(key)).toBe(200);
});

test('a form number that is forged, or belongs to another person or form, shows no key', async () => {
  // The attack: forged form numbers, so that a form can be sent any number of times.
  const account = await createAccount(dashboard.db);
  const { browser, fields } = await createForm(account);
  const { fields: strange } = await createForm(await createAccount(dashboard.db));
  const [id = '', proof = ''] = String(fields['form_id']).split('.');
  for (const form_id of [
    '',
    '.',
    'x.y',
    `x.${proof}`,
    `${id}.`,
    `${id}x.${proof}`,
    String(strange['form_id']),
    undefined,
  ]) {
    const response = await browser.post(OWN, { ...fields, form_id });
    expect([form_id, response.status, keysIn(response)]).toEqual([form_id, 403, []]);
  }
  expect(await countKeys(account)).toBe(0);
});

test('no page, header or log line contains a key, an invitation or a session, except the one response that shows it', async () => {
  // The attack: reading secrets from the logs, the audit log, the export or a page that is left open.
  const people = await createPeople(dashboard.db);
  const browser = await browserOf(dashboard, people.administrator, { 'User-Agent': 'Agent' });
  const { userId } = people.member;
  const keys = `/people/users/${userId}/api-keys`;
  const shown = await browser.submit(`${keys}/new`, { name: 'Hidden' }, keys);
  const [key = ''] = keysIn(shown);
  const { id: keyId } = await dashboard.db.prisma.apiKey.findFirstOrThrow({ where: { userId } });
  const rotated = await browser.submit(`${keys}/${keyId}/rotate`);
  const [next = ''] = keysIn(rotated);
  const person = { name: 'Mei', email: `${crypto.randomUUID()}@example.test`, role: 'viewer' };
  const invited = await browser.submit('/people/users/invite', person);
  const [, link = ''] = /\/welcome\/([\w-]{43})/.exec(invited.text) ?? [];
  expect([key, next, link].map((secret) => secret.length)).toEqual([59, 59, 43]);
  await browser.get(`/people/users?search=${key}`, { 'User-Agent': key, Referer: `http://x/${key}` });
  await browser.get(`/${key}/${link}`);
  await browser.post(OWN, { ...filled(await browser.form(`${OWN}/new`, OWN)), name: key } satisfies Fields);
  const pages: Page[] = [];
  for (const path of dashboard.paths) pages.push(await browser.get(fill(path, { userId, keyId })));
  const { rows } = await dashboard.db.pool.query(
    'select to_jsonb(a)::text from audit_events a union all select to_jsonb(k)::text from api_keys k union all select to_jsonb(s)::text from sessions s union all select to_jsonb(l)::text from access_links l',
  );
  const everything = JSON.stringify([pages, dashboard.logged, rows]);
  for (const secret of [key, next, link, browser.cookies.get('charter') ?? 'none']) {
    expect(everything.includes(secret)).toBe(false);
  }
});
