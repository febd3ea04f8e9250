import { exchangeRaw } from '../../support/clients/client.ts';
import { Browser, encode, type Fields, type Page } from '../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople, NOBODY } from '../../support/data/actors.ts';
import { expectLinearTime } from '../../support/linear-time.ts';

const dashboard = await useDashboard();
const { administrator } = await createPeople(dashboard.db);
const browser = await browserOf(dashboard, administrator);
const token = await browser.formToken();

const FORM = 'application/x-www-form-urlencoded';
const invite = (change: Fields = {}): Fields => ({
  form_token: token,
  form_id: 'x.y',
  name: 'Odd',
  email: 'odd@example.test',
  role: 'viewer',
  ...change,
});
const send = (body: string | Buffer, type = FORM, headers: Record<string, string> = {}) =>
  browser.send('POST', '/people/users/invite', {
    body,
    headers: { 'Content-Type': type, 'Sec-Fetch-Site': 'same-origin', ...headers },
  });

/** Checks that the page is the dashboard's own error page, without internal details. */
function expectPage(page: Page, status: number): void {
  expect(page.status).toBe(status);
  expect(page.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  expect(page.text).not.toMatch(/node_modules|\.ts:\d|\bat (async )?\S+ \(|prisma/i);
}

test.each([
  'application/json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencodedx',
  '',
])('a body of the type "%s" gets 415', async (type) => {
  // The attack: types that another site can send without a preflight request, or that a lax parser takes for JSON.
  expectPage(await send(encode(invite()), type), 415);
});

test('a compressed body gets 415', async () => {
  // The attack: a decompression bomb.
  expectPage(await send(encode(invite()), FORM, { 'Content-Encoding': 'gzip' }), 415);
});

test('a body of one megabyte gets 413, with or without Content-Length', async () => {
  // The attack: exhausting the server’s memory.
  expectPage(await send('a'.repeat(1_048_576)), 413);
  const head = [
    `Cookie: charter=${browser.cookies.get('charter')}`,
    'Sec-Fetch-Site: same-origin',
    `Content-Type: ${FORM}`,
  ];
  const start = ['POST /people/users/invite HTTP/1.1', 'Host: x', 'Connection: close', ...head];
  const told = [...start, 'Content-Length: 1048576', '', 'a'].join('\r\n');
  expect(await exchangeRaw(dashboard.url, told)).toMatch(/^HTTP\/1.1 413 /);
  const chunk = `8000\r\n${'a'.repeat(0x8000)}\r\n`;
  const untold = [...start, 'Transfer-Encoding: chunked', '', chunk].join('\r\n');
  expect(await exchangeRaw(dashboard.url, untold)).toMatch(/^HTTP\/1.1 413 /);
});

test('a POST without a body and without Content-Length counts as a form without a token', async () => {
  // The attack: making a parser wait for a body that does not exist.
  const head = ['Host: x', 'Connection: close', `Cookie: charter=${browser.cookies.get('charter')}`];
  const fields = [...head, 'Sec-Fetch-Site: same-origin', `Content-Type: ${FORM}`];
  const request = ['POST /people/users/invite HTTP/1.1', ...fields, '', ''].join('\r\n');
  expect(await exchangeRaw(dashboard.url, request)).toMatch(/^HTTP\/1.1 403 /);
});

test('a form with a thousand unknown fields is refused at the first one', async () => {
  // The attack: so many fields that a parser with quadratic cost, or with hash collisions, takes very long.
  await expectLinearTime(async (count) => {
    const fields = Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, '']));
    expectPage(await send(encode(invite(fields))), 422);
  }, 250);
});

test.each(['role', 'email', 'form_token', 'form_id'])('the field "%s" sent twice is refused', async (name) => {
  // The attack: sending two values, because one parser takes the first value and another the last.
  const fields = invite();
  const twice = { ...fields, [name]: [String(fields[name]), 'administrator'] };
  expectPage(await send(encode(twice)), 422);
});

test('the longest list that fits in a body is parsed in time in proportion to its length and refused', async () => {
  // The attack: hundreds of values of the only field that may repeat.
  const { fields } = await browser.form('/profile/api-keys/new', '/profile/api-keys');
  await expectLinearTime(async (length) => {
    const change = { ...Object.fromEntries(fields), name: 'Many', permissions: Array.from({ length }, () => 'x') };
    expectPage(await browser.post('/profile/api-keys', change), 422);
  }, 175);
});

test('a permission that is sent many times counts once', async () => {
  // The attack: sending one permission so often that the list is too long for the database.
  const permissions = Array.from({ length: 100 }, () => 'parent_programs:read');
  const response = await browser.submit('/profile/api-keys/new', { name: 'Many', permissions }, '/profile/api-keys');
  expect(response.status).toBe(200);
  const [key] = await dashboard.db.prisma.apiKey.findMany({ where: { name: 'Many' } });
  expect(key?.permissions).toEqual(['parent_programs:read']);
});

test('a NUL in any field gets 400', async () => {
  // The attack: a NUL byte, which PostgreSQL refuses, or at which a parser cuts off the name.
  for (const name of ['name', 'email', 'role', 'form_id'])
    expectPage(await send(encode(invite({ [name]: 'a\0b' }))), 400);
});

test('invalid percent-encoding and invalid UTF-8 count as ordinary text', async () => {
  // The attack: making a decoder throw.
  for (const name of ['%', '%zz', '%E0%A4%A', '%ff%fe', '%00%', '+%2']) {
    const page = await send(`${encode(invite({ name: undefined }))}&name=${name}`);
    expect([name, [400, 403, 422].includes(page.status)]).toEqual([name, true]);
    expectPage(page, page.status);
  }
  expectPage(await send(Buffer.from([0xff, 0xfe, 0x26, 0x3d])), 403);
  expectPage(await send(''), 403);
});

test.each([
  '/people/users/%E0%A4%A',
  '/welcome/%',
  '/profile/%zz',
  '/people/users/%ff/role',
  '/profile/api-keys/%/rotate',
])('the URL %s gets a page with 400 or 404', async (path) => {
  // The attack: a path that Express cannot decode, because Express's own error page shows a stack trace.
  for (const page of [await browser.get(path), await browser.post(path, { form_token: 'wrong' })]) {
    expect([400, 404]).toContain(page.status);
    expectPage(page, page.status);
  }
});

const position = (...parts: string[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

test('no malformed query causes a server error', async () => {
  // The attack: positions, dates and searches that the database cannot process.
  const texts = ['%00', '%', '%ff', "'", '%25', '_', '\\'];
  const days = ['%00', '%ff', '0000-01-01', '9999-12-31', '0001-01-01', '2026-02-30'];
  const positions = [
    '%00',
    '%ff',
    'WyJhIiwiYiJd',
    position('ended', '-271821-04-20T00:00:00.000Z', NOBODY),
    position('ended', '0000-01-01T00:00:00.000Z', NOBODY),
    position('\0', NOBODY),
  ];
  const log = '/organization/audit-log';
  const queries = [
    ...texts.flatMap((text) => [
      `/people/users?search=${text}&done=${text}`,
      `${log}?action=${text}&person=${text}`,
      `/sign-in?next=${text}&done=${text}`,
    ]),
    ...days.flatMap((day) => [`${log}?from=${day}`, `${log}?to=${day}`, `${log}.csv?from=${day}&to=${day}`]),
    ...positions.flatMap((after) =>
      [
        '/people/users',
        log,
        '/profile/api-keys',
        '/organization/api-keys',
        `/people/users/${administrator.userId}`,
      ].map((path) => `${path}?after=${after}`),
    ),
  ];
  for (const path of [
    ...queries,
    '/people/users?search=a&search=b&after[x]=1',
    `/people/users?search=${'x'.repeat(7000)}`,
  ]) {
    const { status } = await browser.get(path);
    expect([path, status < 500]).toEqual([path, true]);
  }
});

test('an unknown URL keeps the navigation for signed-in people, and for nobody else', async () => {
  for (const path of ['/profile/nowhere', '/people/', '/nowhere']) {
    const [member, guest] = [await browser.get(path), await new Browser(dashboard.url).get(path)];
    expect([path, member.status, guest.status]).toEqual([path, 404, 404]);
    expect([path, member.text.includes('aria-label="Main"')]).toEqual([path, true]);
    expect([path, guest.text.includes('aria-label="Main"')]).toEqual([path, false]);
  }
});
