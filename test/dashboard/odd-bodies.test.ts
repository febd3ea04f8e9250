import { createPeople } from '../support/actors.ts';
import { type Browser, encode, type Fields, type Page } from '../support/dashboard.ts';
import { browserOf, startDashboard, type TestDashboard } from '../support/dashboard-server.ts';
import { exchangeRaw } from '../support/raw.ts';

let dashboard: TestDashboard;
let browser: Browser;
let token: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  browser = await browserOf(dashboard, (await createPeople(dashboard.db)).administrator);
  token = await browser.formToken();
});
afterAll(() => dashboard.close());

const FORM = 'application/x-www-form-urlencoded';
const invite = (change: Fields = {}): Fields => ({
  ...{ form_token: token, form_id: 'x.y', name: 'Odd', email: 'odd@example.test', role: 'viewer' },
  ...change,
});
const send = (body: string | Buffer, type = FORM, headers: Record<string, string> = {}) =>
  browser.send('POST', '/people/users/invite', {
    body,
    headers: { 'Content-Type': type, 'Sec-Fetch-Site': 'same-origin', ...headers },
  });

/** A page of ours with nothing of the inside in it. */
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
  // The attack: types that a foreign page may send without being asked, or that a lax reader takes for JSON.
  expectPage(await send(encode(invite()), type), 415);
});

test('a compressed body gets 415', async () => {
  // The attack: a few bytes that unpack to gigabytes.
  expectPage(await send(encode(invite()), FORM, { 'Content-Encoding': 'gzip' }), 415);
});

test('a megabyte gets 413, with its length told and without', async () => {
  // The attack: the memory of the server.
  expectPage(await send('a'.repeat(1_048_576)), 413);
  const head = [
    `Cookie: charter=${browser.cookies.get('charter')}`,
    'Sec-Fetch-Site: same-origin',
    `Content-Type: ${FORM}`,
  ];
  const start = ['POST /people/users/invite HTTP/1.1', 'Host: x', 'Connection: close', ...head];
  const told = [...start, 'Content-Length: 1048576', '', 'a'].join('\r\n');
  expect(await exchangeRaw(dashboard.url, told, { endAfterSending: false })).toMatch(/^HTTP\/1.1 413 /);
  const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`;
  const untold = [...start, 'Transfer-Encoding: chunked', '', chunk].join('\r\n');
  expect(await exchangeRaw(dashboard.url, untold)).toMatch(/^HTTP\/1.1 413 /);
});

test('a form with no body at all, and no length of one, is a form without its token', async () => {
  // The attack: a reader of a stream that there is not.
  const head = ['Host: x', 'Connection: close', `Cookie: charter=${browser.cookies.get('charter')}`];
  const fields = [...head, 'Sec-Fetch-Site: same-origin', `Content-Type: ${FORM}`];
  const request = ['POST /people/users/invite HTTP/1.1', ...fields, '', ''].join('\r\n');
  expect(await exchangeRaw(dashboard.url, request)).toMatch(/^HTTP\/1.1 403 /);
});

test('a thousand fields are refused at the first that the form does not have', async () => {
  // The attack: as many fields as fit, for a reader that is quadratic, or whose hashes collide.
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, '']));
  const startedAt = performance.now();
  expectPage(await send(encode(invite(fields))), 422);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});

test.each(['role', 'email', 'form_token', 'form_id'])('the field "%s" sent twice is refused', async (name) => {
  // The attack: one reader takes the first, the other the last, and each is right by itself.
  const fields = invite();
  const twice = { ...fields, [name]: [String(fields[name]), 'administrator'] };
  expectPage(await send(encode(twice)), 422);
});

test('a list that is as long as the body allows is read in time and refused', async () => {
  // The attack: the one field that may repeat, nine hundred times.
  const { fields } = await browser.form('/profile/api-keys/new', '/profile/api-keys');
  const change = { ...Object.fromEntries(fields), name: 'Many', permissions: Array.from({ length: 700 }, () => 'x') };
  const startedAt = performance.now();
  expectPage(await browser.post('/profile/api-keys', change), 422);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});

test('the same permission many times is one permission', async () => {
  // The attack: a list whose length is a limit somewhere.
  const permissions = Array.from({ length: 100 }, () => 'parent_programs:read');
  const answer = await browser.submit('/profile/api-keys/new', { name: 'Many', permissions }, '/profile/api-keys');
  expect(answer.status).toBe(200);
  const [key] = await dashboard.db.prisma.apiKey.findMany({ where: { name: 'Many' } });
  expect(key?.permissions).toEqual(['parent_programs:read']);
});

test('NUL in any field gets 400', async () => {
  // The attack: PostgreSQL refuses it with an error of its own, or a name is cut at it.
  for (const name of ['name', 'email', 'role', 'form_id'])
    expectPage(await send(encode(invite({ [name]: 'a\0b' }))), 400);
});

test('broken percent-encoding and bytes that are no UTF-8 are text like any other', async () => {
  // The attack: a decoder that throws.
  for (const name of ['%', '%zz', '%E0%A4%A', '%ff%fe', '%00%', '+%2']) {
    const page = await send(`${encode(invite({ name: undefined }))}&name=${name}`);
    expect([name, page.status]).toEqual([name, expect.any(Number)]);
    expect([400, 403, 422]).toContain(page.status);
    expectPage(page, page.status);
  }
  expectPage(await send(Buffer.from([0xff, 0xfe, 0x26, 0x3d])), 403);
  expectPage(await send(''), 403);
});
