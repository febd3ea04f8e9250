import { rm, writeFile } from 'node:fs/promises';
import { readDomainMap } from '../../../src/service/cells/domain-map.ts';
import { Browser, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { PASSWORD } from '../../support/data/accounts.ts';
import { COMMON_HOST, COMMON_URL, cellOf, useDomainsFile } from '../../support/data/cells.ts';
import { createTeam } from '../../support/data/team.ts';

const EU = cellOf('eu1', 'Europe', 'http://eu1.charter.test');
const US = cellOf('us1', 'United States', 'http://us1.charter.test');
const domainsFile = await useDomainsFile();
const MAP = 'acme.example us1\nxn--bcher-kva.example eu1\nboth.example eu1\nboth.example us1\nlost.example ap1\n';
await writeFile(domainsFile, MAP);
const cells = { cell: 'eu1', cells: [EU, US], commonUrl: COMMON_URL, publicUrl: EU.url };
const dashboard = await useDashboard({ ...cells, cellDomainsFile: domainsFile });
const withoutMap = await useDashboard(cells);

const atCommon = ({ url } = dashboard) => new Browser(url, { headers: { Host: COMMON_HOST } });
const atCell = () => new Browser(dashboard.url, { headers: { Host: 'eu1.charter.test' } });
const linksOf = ({ text }: Page) => [...text.matchAll(/href="(http:[^"]+)"/g)].map(([, href = '']) => href);
const submit = (email: string, next = '') =>
  atCommon().submit(next === '' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`, { email }, '/sign-in');
/** Returns the page without the form token and the e-mail, which differ between requests. */
const essenceOf = ({ status, text }: Page, email: string) => ({
  status,
  text: text.replaceAll(/name="form_token" value="[^"]+"/g, '').replaceAll(encodeURIComponent(email), 'EMAIL'),
});

test('the sign-in asks for the e-mail, and offers the cells by name, each at its own address', async () => {
  const page = await atCommon().get('/sign-in');
  expect(page.status).toBe(200);
  expect(wordsOf(page)).toMatch(/E-mail.*Europe.*United States/);
  expect(linksOf(page)).toEqual([`${EU.url}/sign-in`, `${US.url}/sign-in`, `${COMMON_URL}/report-key`]);
  expect(page.text).not.toContain('type="password"');
});

test('without a map of domains, it offers the cells only', async () => {
  const page = await atCommon(withoutMap).get('/sign-in');
  expect(page.text).not.toContain('<input');
  expect(linksOf(page).slice(0, 2)).toEqual([`${EU.url}/sign-in`, `${US.url}/sign-in`]);
});

test.each([
  ['mei@acme.example', US],
  [' Mei@ACME.example ', US],
  ['mei@bücher.example', EU],
])('%j leads to the cell of its domain, with the e-mail in the fragment only', async (email, { url }) => {
  const page = await submit(email);
  const to = `${url}/sign-in#email=${encodeURIComponent(email.trim().toLowerCase())}`;
  expect(page).toMatchObject({ status: 200, headers: { refresh: `0; url=${to}` } });
  expect(linksOf(page)[0]).toBe(to);
});

// The attack: learning from the page which e-mail addresses have an account.
test('an e-mail with an account gets the same page as one without', async () => {
  const { member } = await createTeam(dashboard.db);
  const other = member.email.replace(/^[^@]+/, 'nobody');
  const [known, unknown] = [await submit(member.email), await submit(other)];
  expect(essenceOf(known, member.email)).toEqual(essenceOf(unknown, other));
  expect(linksOf(known).slice(0, 2)).toEqual(
    [EU, US].map(({ url }) => `${url}/sign-in#email=${encodeURIComponent(member.email)}`),
  );
});

test.each(['mei@both.example', 'mei@lost.example', 'mei@example', 'mei@cme.example', 'mei@sub.acme.example'])(
  '%s, whose cell the map does not name, is offered the cells or asked again',
  async (email) => {
    const page = await submit(email);
    expect(page.headers).not.toHaveProperty('refresh');
    expect([200, 422]).toContain(page.status);
    expect(wordsOf(page)).toMatch(/Europe.*United States/);
  },
);

test('a new map is effective at once, and without one people choose, while the log says why', async () => {
  await writeFile(domainsFile, 'new.example eu1\n');
  expect((await submit('mei@new.example')).headers).toHaveProperty('refresh');
  await rm(domainsFile);
  const logged = dashboard.logged.length;
  const page = await submit('mei@new.example');
  await writeFile(domainsFile, MAP);
  expect(page.status).toBe(200);
  expect(linksOf(page)).toHaveLength(3);
  expect(dashboard.logged.slice(logged).join('')).toContain('which cannot be read (ENOENT).');
});

test.each([
  ['a name in capital letters or Unicode counts as the domain', 'BÜCHER.test eu1\n', true],
  ['a word that is no domain is ignored', 'bücher eu1\nbücher.test, eu1\nhttps://bücher.test eu1\n', false],
])('in a map, %s', async (_, map, isFound) => {
  await writeFile(domainsFile, map);
  const { problem } = await readDomainMap({ domainsFile, cells: cells.cells });
  const page = await submit('mei@bücher.test');
  await writeFile(domainsFile, MAP);
  expect('refresh' in page.headers).toBe(isFound);
  if (isFound) expect(problem).toBeNull();
  else expect(problem).toMatch(/^Line 1 of CHARTER_CELL_DOMAINS .* is ignored: it is not an e-mail domain/);
});

test('no log, cookie or query has the e-mail', async () => {
  const browser = atCommon();
  for (const domain of ['acme.example', 'nowhere.example']) {
    const page = await browser.submit('/sign-in', { email: `secretive@${domain}` });
    expect(linksOf(page).filter((href) => new URL(href).search.includes('secretive'))).toEqual([]);
  }
  expect([...browser.cookies.keys()]).toEqual(['charter-form']);
  expect(dashboard.logged.filter((line) => line.includes('secretive'))).toEqual([]);
});

// The attack: a link to our sign-in page that leads to another site afterwards.
test.each(['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/sign-in'])(
  'next=%s is not followed',
  async (next) => {
    for (const page of [
      await atCommon().get(`/sign-in?next=${encodeURIComponent(next)}`),
      await submit('mei@acme.example', next),
      await submit('mei@nowhere.example', next),
    ]) {
      expect(page.text).not.toMatch(/evil|javascript:/);
      for (const href of linksOf(page)) expect([EU.url, US.url, COMMON_URL]).toContain(new URL(href).origin);
    }
  },
);

test('the page that somebody asked for is where the sign-in of the cell leads', async () => {
  const asked = await atCommon().get('/organization/audit-log?action=user.signed_in');
  expect(asked).toMatchObject({
    status: 303,
    headers: { location: '/sign-in?next=%2Forganization%2Faudit-log%3Faction%3Duser.signed_in' },
  });
  const page = await atCommon().get(asked.headers['location'] ?? '');
  expect(linksOf(page)[0]).toBe(`${EU.url}${asked.headers['location']}`);
});

test.each(['/', '/profile', '/people/users', '/forgotten-password', '/welcome/abc', '/single-sign-on/abc/start'])(
  '%s leads to the sign-in',
  async (path) => {
    const { status, headers } = await atCommon().get(path);
    expect(status).toBe(303);
    expect(headers['location']).toMatch(/^\/sign-in/);
  },
);

test.each(['/profile/password', '/sign-in/passkey', '/sign-in/second-factor', '/forgotten-password', '/welcome/abc'])(
  'no form of a cell is accepted at %s',
  async (path) => {
    const token = (await atCommon().form('/sign-in')).fields.find(([name]) => name === 'form_token')?.[1] ?? '';
    expect(await atCommon().post(path, { form_token: token })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    });
  },
);

test('nobody signs in at the common address, and a session of the cell is none there', async () => {
  const { administrator } = await createTeam(dashboard.db);
  const common = atCommon();
  const { fields } = await common.form('/sign-in');
  const password = { ...Object.fromEntries(fields), email: administrator.email, password: PASSWORD };
  expect((await common.post('/sign-in', password)).status).toBe(422);
  const cell = atCell();
  expect((await cell.signIn(administrator.email, PASSWORD)).status).toBe(303);
  for (const [name, value] of cell.cookies) common.cookies.set(name, value);
  expect((await common.get('/people/users')).headers['location']).toMatch(/^\/sign-in/);
  expect((await cell.get('/people/users')).status).toBe(200);
});

test('forms of other sites are refused', async () => {
  const { fields } = await atCommon().form('/sign-in');
  const sent = { ...Object.fromEntries(fields), email: 'mei@acme.example' };
  for (const headers of [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': undefined, Origin: EU.url },
  ])
    expect((await atCommon().post('/sign-in', sent, headers)).status).toBe(403);
  const browser = atCommon();
  const own = { ...Object.fromEntries((await browser.form('/sign-in')).fields), email: 'mei@acme.example' };
  const ours = { 'Sec-Fetch-Site': undefined, Origin: COMMON_URL };
  expect((await browser.post('/sign-in', own, ours)).status).toBe(200);
});

test('the sign-in of a cell says which it is, and links to the others', async () => {
  for (const path of ['/sign-in', '/forgotten-password']) {
    const page = await atCell().get(path);
    expect(wordsOf(page)).toMatch(/This is Charter for Europe ?\. Sign in elsewhere/);
    expect(page.text).toContain(`href="${COMMON_URL}/sign-in"`);
  }
});

test('a new key is for the address that stays the same if the organization moves', async () => {
  const { administrator } = await createTeam(dashboard.db);
  const browser = atCell();
  await browser.signIn(administrator.email, PASSWORD);
  const page = await browser.submit('/profile/api-keys/new', { name: 'Test', expiry: '90' }, '/profile/api-keys');
  expect(page.text).toContain(`${COMMON_URL}/api/parent_programs`);
});
