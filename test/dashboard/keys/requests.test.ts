import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { Client } from '../../support/clients/client.ts';
import { type Browser, expectToSay, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const people = await createPeople(db);
const { administrator, manager, member, viewer } = people;
const LIST = '/organization/api-keys/requests/list';

const rowsOf = ({ text }: Page) =>
  [...text.matchAll(/<tr role="row">(?:(?!<\/tr>).)*role="rowheader"(?:(?!<\/tr>).)*<\/tr>/gs)].map(([row]) =>
    wordsOf({ text: row }).trim(),
  );

/**
 * Creates a key of the member, and sends three requests with it. The last two requests are refused. Also returns the ids of the
 * requests.
 */
async function usedKey(name: string) {
  const { id, key } = await giveKey(db, member, { name });
  const client = new Client(dashboard.url, key);
  const responses = [
    await client.get('/api/key'),
    await client.post('/api/parent_programs', { name: ' ', description: 'never stored' }),
    await client.get('/api/parent_programs/00000000-0000-7000-8000-000000000000'),
  ];
  const ids = responses.map(({ headers }) => String(headers['x-request-id']));
  return { id, key, client, path: `/profile/api-keys/${id}/requests`, ids };
}

test('the page of the requests with a key answers why a request was refused', async () => {
  const { path, ids, key } = await usedKey('Asked about');
  const page = await (await browserOf(dashboard, member)).get(path);
  const [notFound = '', invalid = '', ...successful] = rowsOf(page);
  expect(invalid).toMatch(
    new RegExp(`20\\d\\d, \\d\\d:\\d\\d:\\d\\d UTC createParentProgram 422 ValidationException .*${ids[1]} \\d+ ms$`),
  );
  expect(invalid).toContain('name must not be blank.');
  expect(notFound).toMatch(
    new RegExp(`getParentProgram 404 NotFoundException There is no parent program .*${ids[2]} `),
  );
  expect(successful).toEqual([expect.stringMatching(new RegExp(`getKey 200 OK ${ids[0]} `))]);
  expect(page.text).not.toMatch(new RegExp(`never stored|${key.slice(17)}`));
});

test('the list is filtered by status, operation, time and X-Request-Id, and a pasted key gets into no URL', async () => {
  const { path, ids, key } = await usedKey('Filtered');
  const browser = await browserOf(dashboard, member);
  const found = async (query: string) =>
    rowsOf(await browser.get(`${path}?${query}`)).map((row) => ids.findIndex((id) => row.includes(id)));
  expect(await found('status=refused')).toEqual([2, 1]);
  expect(await found('status=invalid')).toEqual([1]);
  expect(await found('status=limited')).toEqual([]);
  expect(await found('status=successful')).toEqual([0]);
  expect(await found('operation=getParentProgram')).toEqual([2]);
  expect(await found(`request=${ids[1]}`)).toEqual([1]);
  const minute = dashboard.now().toISOString().slice(0, 16);
  expect(await found(`from=2020-01-01T00:00&to=${minute}`)).toEqual([2, 1, 0]);
  expect(await found('to=2020-01-01T00:00')).toEqual([]);
  expectToSay(await browser.get(`${path}?request=mine`), 422, 'X-Request-Id must be a whole X-Request-Id');
  expectToSay(await browser.get(`${path}?from=yesterday`), 422, 'From, UTC must be a time such as');
  const posted = await browser.submit(path, { request: key, status: 'refused' });
  expect(posted.status).toBe(303);
  expect(posted.headers['location']).toContain(`status=refused&request=${key.slice(0, 17)}`);
  expect(posted.headers['location']).not.toContain(key.slice(0, 18));
});

test('a request with a revoked key belongs to that key, and the count of refusals leads to it', async () => {
  const { id, client } = await usedKey('Revoked');
  orThrow(await revokeKey(db, member, { keyId: id, userId: member.userId }));
  expect((await client.get('/api/key')).status).toBe(401);
  const browser = await browserOf(dashboard, manager);
  const listUrl = `/people/users/${member.userId}/api-keys`;
  const link = `${listUrl}/${id}/requests?status=refused`;
  for (const page of [await browser.get(`${listUrl}/${id}`), await browser.get(`${listUrl}?state=ended`)])
    expect(page.text).toContain(`<a href="${link}">Refused 1 time since</a>`);
  const fromList = (await browser.get(`${listUrl}/${id}?back=%3Fuse%3Dnever`)).text;
  expect(fromList).toContain(`<a href="${link}&amp;back=%3Fuse%3Dnever"><strong>3</strong> refused</a>`);
  const [latest] = rowsOf(await browser.get(link));
  expect(latest).toMatch(/ getKey 401 AuthenticationException This API key was revoked at /);
  expect((await browser.get(`${listUrl}/${id}`)).text).toContain(`<a href="${link}"><strong>3</strong> refused</a>`);
});

test('the requests are for those who may see the key, and for no other organization', async () => {
  const { id, ids } = await usedKey('Private');
  const listUrl = `/people/users/${member.userId}/api-keys`;
  const strangers = await createPeople(db);
  const statusOf = async (browser: Browser, path: string) => (await browser.get(path)).status;
  for (const [actor, status] of [
    [administrator, 200],
    [manager, 200],
    [viewer, 403],
    [strangers.administrator, 404],
  ] as const) {
    const browser = await browserOf(dashboard, actor);
    expect(await statusOf(browser, `${listUrl}/${id}/requests`)).toBe(status);
    expect(await statusOf(browser, `${listUrl}/${id}/requests.csv`)).toBe(status);
    expect(await statusOf(browser, `/profile/api-keys/${id}/requests`)).toBe(404);
  }
  expect(await statusOf(await browserOf(dashboard, member), LIST)).toBe(403);
  const foreign = await browserOf(dashboard, strangers.administrator);
  expect(rowsOf(await foreign.get(`${LIST}?request=${ids[1]}`))).toEqual([]);
  expect(rowsOf(await (await browserOf(dashboard, manager)).get(`${LIST}?request=${ids[1]}`))).toHaveLength(1);
});

test('the requests with all keys are filtered by key, paged, and exported as CSV', async () => {
  const { client, ids } = await usedKey('Exported, nightly');
  for (let i = 0; i < 50; i += 1) await client.get('/api/parent_programs?limit=0');
  const browser = await browserOf(dashboard, manager);
  const first = await browser.get(`${LIST}?key=nightly&status=refused`);
  expect(rowsOf(first)).toHaveLength(50);
  const [, next = ''] = /href="([^"]*)" rel="next"/.exec(first.text) ?? [];
  expect(rowsOf(await browser.get(next.replaceAll('&amp;', '&')))).toHaveLength(2);
  const file = await browser.get(`${LIST}.csv?key=nightly&status=refused`);
  expect(file.headers['content-disposition']).toMatch(/filename="charter-requests-20\d\d-\d\d-\d\d\.csv"/);
  const lines = file.text.split('\r\n');
  expect(lines[0]).toBe(
    '\uFEFFtime,operation,status,exception,message,duration_ms,request_id,key_id,key_name,key_prefix',
  );
  expect(lines).toHaveLength(1 + 52 + 1);
  expect(lines.at(-2)).toContain(`createParentProgram,422,ValidationException,`);
  expect(lines.at(-2)).toContain(`${ids[1]},`);
});

test('the usage of the organization is filtered by key, and exported as CSV', async () => {
  const { id, key } = await usedKey('Counted, hourly');
  const browser = await browserOf(dashboard, manager);
  const usage = '/organization/api-keys/requests';
  const filtered = await browser.submit(usage, { key: 'hourly' });
  expect(filtered.headers['location']).toBe(`${usage}?key=hourly`);
  const page = await browser.get(`${usage}?key=hourly`);
  expect(page.text).toContain('aria-label="Last 48 hours: 1 successful, 2 refused, 0 failed;');
  expect(page.text).toContain(`<a href="${LIST}?status=refused&amp;key=hourly"><strong>2</strong> refused</a>`);
  const { text } = await browser.get(`${usage}.csv?key=hourly`);
  const [head, ...lines] = text.trimEnd().split('\r\n');
  expect(head).toBe('\uFEFFperiod,starts_at,key_id,key_name,key_prefix,successful,refused,failed,refused_by_limit');
  const counts = `${id},"Counted, hourly",${key.slice(0, 17)},1,2,0,0`;
  expect(lines.map((line) => line.replace(/,20[^,]*Z,/, ','))).toEqual([`hour,${counts}`, `day,${counts}`]);
});

test('the page says how many requests it lacks, because too many came at once', async () => {
  const { id, path } = await usedKey('Flooded');
  const browser = await browserOf(dashboard, member);
  await browser.get(path);
  await db.pool.query("update key_uses set unlisted = 3 where key_id = $1 and period = 'day'", [id]);
  expect(wordsOf(await browser.get(path))).toContain(
    '3 requests that were refused or failed are not listed, because too many came at once.',
  );
});
