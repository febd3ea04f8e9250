// Forces responses of the mock from outside, through /__mock and its page.
import type { SentRequest } from '../../scripts/mock/package/types.ts';
import { startTestMock, useMock } from '../support/servers/mock.ts';

const LIST = '/api/parent_programs';
const mock = await useMock();

type Controlled = {
  status: number;
  body: { id?: number; message?: string; errors?: Record<string, string[]>; overrides?: unknown };
};

async function control(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Controlled> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const sent = body === undefined ? {} : { body: text, headers: { 'Content-Type': type } };
  const response = await fetch(`${mock.url}/__mock${path}`, { method, ...sent });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const add = (body: unknown) => control('POST', '/overrides', body);
const statusOf = async (url = LIST) => (await mock.client.get(url)).status;

beforeEach(() => control('DELETE', '/overrides'));

test('an override forces the next responses of its operation, and no others', async () => {
  const { status, body } = await add({ operation: 'listParentPrograms', status: 503, times: 2 });
  expect([status, body]).toEqual([
    201,
    { id: body.id, operation: 'listParentPrograms', status: 503, example: null, delay_ms: 0, left: 2 },
  ]);
  expect(await statusOf('/api/key')).toBe(200);
  const { headers } = await mock.client.get(LIST);
  expect(headers['preference-applied']).toBe('code=503');
  expect((await control('GET', '/overrides')).body).toEqual({ overrides: [{ ...body, left: 1 }] });
  expect([await statusOf(), await statusOf(), await statusOf()]).toEqual([503, 200, 200]);
  expect((await control('GET', '/overrides')).body).toEqual({ overrides: [] });
});

test('an override can name an example, a success among them', async () => {
  await add({ operation: 'createParentProgram', example: 'external_id_taken' });
  expect((await mock.client.post(LIST, { name: 'x' })).status).toBe(409);
  await add({ operation: 'listParentPrograms', status: 200, example: 'empty' });
  expect((await mock.client.get(LIST)).body.data).toEqual([]);
});

test('an override of every operation does not apply to those that lack the response', async () => {
  await add({ status: 409, times: 1 });
  expect(await statusOf()).toBe(200);
  expect((await mock.client.post(LIST, { name: 'x' })).status).toBe(409);
  await add({ operation: '*', status: 503, times: null });
  expect([await statusOf(), await statusOf('/api/key'), await statusOf()]).toEqual([503, 503, 503]);
});

test('overrides apply in the order in which they were added, and each can be cleared', async () => {
  const first = await add({ operation: 'getKey', status: 500 });
  await add({ operation: 'getKey', status: 503 });
  await add({ operation: 'getKey', status: 429 });
  expect(await control('DELETE', `/overrides/${first.body.id}`)).toEqual({ status: 200, body: { cleared: 1 } });
  expect(await statusOf('/api/key')).toBe(503);
  expect((await control('DELETE', '/overrides')).body).toEqual({ cleared: 1 });
  expect(await statusOf('/api/key')).toBe(200);
});

test('an override can only delay', async () => {
  await add({ operation: 'getKey', delay_ms: 200 });
  const startedAt = performance.now();
  const { status, headers } = await mock.client.get('/api/key');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(199);
  expect([status, headers['preference-applied']]).toEqual([200, 'delay=200']);
});

test('an override replaces a preference of the client that it contradicts, and leaves the others', async () => {
  await add({ operation: 'getKey', status: 503, delay_ms: 30 });
  const { status, headers } = await mock.client.get('/api/key', { headers: { Prefer: 'delay=10, wait=5' } });
  expect([status, headers['preference-applied']]).toEqual([503, 'code=503, delay=30, wait=5']);
});

test('a request that chooses its response itself leaves the override for the next one', async () => {
  await add({ operation: 'getKey', status: 503 });
  expect((await mock.client.get('/api/key', { headers: { Prefer: 'example=read_only' } })).status).toBe(200);
  expect(await statusOf('/api/key')).toBe(503);
});

test.each([
  [{ operation: 'getNothing', status: 503 }, /^operation is not an operation\. Choose one of: \*, listParentPrograms/],
  [{ operation: 'getKey', status: 409 }, /^status is 409, which getKey does not have\. It has: 200, /],
  [{ operation: 'getKey', example: 'nope' }, /^example is nope, which getKey does not have\. It has with 200: /],
  [{ operation: 'getKey', status: 401, example: 'read_only' }, /^example is read_only, .* the status 401\. It has /],
  [{ operation: 'getKey' }, /^status is missing/],
  [{ operation: 'getKey', status: 503, times: 0 }, /^times must be an integer from 1 to 10000/],
  [{ operation: 'getKey', status: 503, times: 'x' }, /^times must be/],
  [{ operation: 'getKey', delay_ms: 30_001 }, /^delay_ms must be an integer from 0 to 30000/],
  [
    { operation: 'getKey', staus: 503 },
    /^staus is not known\. Fields: operation, status, example, body, allowInvalid, headers, times, delay_ms, disconnect, match, sequence\.$/,
  ],
  [
    { operation: 'getKey', body: { id: 3 } },
    /^body\.name is required\. See errors for \d more fields\. With "allowInvalid": true, /,
  ],
  [{ operation: 'deleteParentProgram', body: {} }, /^body is not allowed: the 204 of deleteParentProgram has none/],
  [{ status: 503, body: { message: 'x' } }, /^body is checked against the response of one operation/],
  [{ operation: 'getKey', example: 'read_only', body: {} }, /^example cannot be combined with body/],
  [{ operation: 'getKey', example: 'read_only', allowInvalid: true }, /^example cannot be combined with allowInvalid/],
  [{ operation: 'getKey', status: 600, body: {}, allowInvalid: true }, /^status must be an integer from 200 to 599/],
  [{ operation: 'getKey', status: 503, match: { path: 'api' } }, /^match\.path must begin with "\/", such as /],
  [
    { operation: 'getKey', match: { path: '/api/key?a=b' }, status: 503 },
    /^match\.path must not have a query\. Put it/,
  ],
  [{ operation: 'getKey', status: 503, match: { header: { 'X-A': {} } } }, /^match\.header\.X-A must be a string/],
  [{ operation: 'getKey', status: 503, match: { cookie: {} } }, /^match\.cookie is not known\. Fields: path, /],
  [{ operation: 'getKey', status: 503, sequence: [{ status: 503 }] }, /^status cannot be combined with sequence/],
  [{ operation: 'getKey', sequence: [{ status: 503 }, { status: 409 }] }, /^sequence\.1\.status is 409, which getKey/],
  [{ operation: 'getKey', headers: { 'Content-Length': 1 } }, /^headers\.Content-Length is set by the mock/],
  [{ operation: 'getKey', headers: { 'X-A': '\n' } }, /^headers\.X-A is not a header that HTTP allows/],
  [{ operation: 'getKey', disconnect: true }, /^disconnect must be "before" or "after"/],
  [{ operation: 'getKey', status: 503, disconnect: 'after' }, /^status cannot be combined with disconnect/],
  [{ operation: 'getKey', sequence: [] }, /^sequence must be an array of responses/],
  ['[]', /^body must be a JSON object/],
  ['{', /^body must be a JSON object/],
  [`{"operation":"${'x'.repeat(2 * 1024 * 1024)}"}`, /^body cannot be read/],
])('422 for %j', async (body, message) => {
  const refused = await add(body);
  expect([refused.status, refused.body.message]).toEqual([422, expect.stringMatching(message)]);
  expect((await control('GET', '/overrides')).body).toEqual({ overrides: [] });
});

test.each([
  [{ operation: 'getKey', status: 409 }, 'status'],
  [{ operation: 'getKey', example: 'nope' }, 'example'],
  [{ operation: 'deleteParentProgram', status: 204, body: 'x' }, 'body'],
  [{ operation: 'getKey', status: 503, body: {} }, 'body.message'],
])('the errors of %j name one problem, of %s', async (body, field) => {
  expect((await add(body)).body.errors).toEqual({ [field]: [expect.any(String)] });
});

// `curl -d` sends JSON with the Content-Type of a form, unless a Content-Type is set.
test.each(['/overrides', '/clear'])('415 for JSON that is sent as a form to %s', async (path) => {
  const { status, body } = await control('POST', path, { status: 503 }, 'application/x-www-form-urlencoded');
  expect([status, body.message]).toEqual([
    415,
    'The body is JSON, but its Content-Type is application/x-www-form-urlencoded. Send Content-Type: application/json.',
  ]);
  expect((await control('GET', '/overrides')).body).toEqual({ overrides: [] });
});

test('JSON without a Content-Type of its own is accepted', async () => {
  expect((await control('POST', '/overrides', { operation: 'getKey', status: 503 }, 'text/plain')).status).toBe(201);
});

test('the responses of a sequence are sent one after the other, to requests that match', async () => {
  const match = { path: '/api/parent_programs/*', header: { 'X-Team': 'b' } };
  const { status, body } = await add({ match, sequence: [{ status: 404, times: 2 }, { status: 503 }] });
  expect([status, body.overrides]).toEqual([
    201,
    [
      expect.objectContaining({ status: 404, left: 2, match }),
      expect.objectContaining({ status: 503, left: 1, match }),
    ],
  ]);
  const url = `${LIST}/${crypto.randomUUID()}`;
  const statusFor = async (team: string) => (await mock.client.get(url, { headers: { 'X-Team': team } })).status;
  const statuses: number[] = [];
  for (const team of ['b', 'a', 'b', 'b', 'b']) statuses.push(await statusFor(team));
  expect(statuses).toEqual([404, 200, 404, 503, 200]);
});

test('a body of one’s own keeps the headers of the response, and a list its link to the next page', async () => {
  const page = { limit: 1, next_cursor: 'next' };
  const [item] = (await mock.client.get(`${LIST}?limit=1`)).body.data;
  const sent = { data: [{ ...item, name: 'Mine' }], page };
  expect((await add({ operation: 'listParentPrograms', body: sent })).status).toBe(201);
  const { body, headers } = await mock.client.get(`${LIST}?limit=1`);
  expect(body).toEqual(sent);
  expect(headers['link']).toBe(`<${LIST}?limit=1&sort=created_at&cursor=next>; rel="next"`);
  expect(headers['etag']).toMatch(/^"/);
});

test('a function creates the body for each request, and the contract is checked', async () => {
  const [item] = (await mock.client.get(`${LIST}?limit=1`)).body.data;
  const created: unknown[] = [];
  const body = ({ method, path, query, headers, body: sent }: SentRequest) => {
    created.push({ method, path, query, key: headers['authorization'], sent });
    if (Object(sent).name === 'broken') throw new Error('No such name.');
    return { ...item, ...Object(sent) };
  };
  mock.control.force({ operation: 'createParentProgram', body, times: null });
  const first = await mock.client.post(LIST, { name: 'a' });
  expect([first.status, first.body]).toEqual([201, { ...item, name: 'a' }]);
  const key = `Bearer ${mock.key}`;
  expect(created).toEqual([{ method: 'POST', path: LIST, query: {}, key, sent: { name: 'a' } }]);
  for (const [sent, message] of [
    [{ nam: 'x' }, /^body\.nam is not a field/],
    [{ name: 'broken' }, /^body is a function that threw: Error: No such name\.$/],
  ] as const) {
    const { status, body: refusal } = await mock.client.post(LIST, sent);
    expect([status, refusal.message]).toEqual([422, expect.stringMatching(message)]);
    expect(mock.log.all.at(-1)?.problems).toEqual([expect.stringMatching(message)]);
  }
});

test('headers of one’s own replace those of a refusal and of a success', async () => {
  await add({ operation: 'getKey', status: 429, headers: { 'retry-after': 0 } });
  // The contract forbids a Retry-After of 0, so the client of the tests would refuse it.
  const get = () => fetch(`${mock.url}/api/key`, { headers: { Authorization: `Bearer ${mock.key}` } });
  const refused = await get();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '0']);
  await add({ operation: 'getKey', headers: { 'X-Own': 'a', ETag: '"own"' } });
  const { status, headers } = await get();
  expect([status, headers.get('x-own'), headers.get('etag')]).toEqual([200, 'a', '"own"']);
});

test.each([
  ['before', 0],
  ['after', 1],
])('a connection can break %s the request is handled', async (disconnect, created) => {
  await using stateful = await startTestMock({ isStateful: true, seed: {} });
  const headers = { Authorization: `Bearer ${stateful.key}`, 'Content-Type': 'application/json' };
  const create = {
    method: 'POST',
    headers: { ...headers, 'Idempotency-Key': 'a' },
    body: JSON.stringify({ name: 'x' }),
  };
  const names = async () => (await stateful.client.get(LIST)).body.data.map(({ name }: { name: string }) => name);
  stateful.control.force({ operation: 'createParentProgram', disconnect });
  await expect(fetch(`${stateful.url}${LIST}`, create)).rejects.toThrow('fetch failed');
  expect(await names()).toHaveLength(created);
  expect((await fetch(`${stateful.url}${LIST}`, create)).status).toBe(201);
  expect(await names()).toEqual(['x']);
  expect(stateful.log.all.map(({ method, status }) => [method, status])).toEqual([
    ['POST', 0],
    ['GET', 200],
    ['POST', 201],
    ['GET', 200],
  ]);
});

test('a request with another value of a parameter is handled as ever', async () => {
  await add({ operation: 'listParentPrograms', match: { query: { limit: 3 } }, status: 503 });
  expect([await statusOf(), await statusOf(`${LIST}?limit=3`)]).toEqual([200, 503]);
});

test('the requests are known with what was wrong with them, even if their response was forced', async () => {
  mock.log.clear();
  await mock.client.get(`${LIST}?limit=2&x=1&x=2`);
  await add({ operation: 'createParentProgram', status: 503 });
  await mock.client.post(LIST, { name: 'x', colour: 'green' });
  await mock.client.get('/api/key');
  expect(mock.log.all).toEqual([
    expect.objectContaining({
      method: 'GET',
      path: LIST,
      query: { limit: '2', x: ['1', '2'] },
      headers: expect.objectContaining({ authorization: expect.stringMatching(/^Bearer charter_live_\w{4}…$/) }),
      operation: 'listParentPrograms',
      status: 422,
      problems: expect.arrayContaining([expect.stringMatching(/^x is not a parameter of this operation/)]),
    }),
    expect.objectContaining({
      operation: 'createParentProgram',
      body: { name: 'x', colour: 'green' },
      status: 503,
      problems: [expect.stringMatching(/^colour is not a field of this request/)],
    }),
    expect.objectContaining({ operation: 'getKey', body: null, status: 200, problems: [] }),
  ]);
  expect((await control('DELETE', '/requests')).body).toEqual({ cleared: 3 });
  expect(mock.log.all).toEqual([]);
});

test('a request whose body decides about its response is handled as ever, if none matches', async () => {
  await add({ operation: 'createParentProgram', status: 503, match: { body: { metadata: { a: 'b' } } }, times: null });
  const created = await mock.client.post(LIST, { name: 'x', metadata: { a: 'c' } });
  expect([created.status, created.body.metadata]).toEqual([201, { a: 'c' }]);
  expect((await mock.client.post(LIST, { name: 'x', metadata: { a: 'b', c: 'd' } })).status).toBe(503);
  expect((await mock.client.post(LIST, '{')).status).toBe(400);
  expect((await mock.client.post(LIST, JSON.stringify({ name: 'x'.repeat(3 * 1024 * 1024) }))).status).toBe(413);
});

test.each([
  [{ parent_programs: [] }, /^parent_programs is not known\. Fields: data, empty\. Put it into data/],
  [{ empty: 'perhaps' }, /^empty must be true or false/],
  [{ data: {}, empty: true }, /^empty cannot be combined with data/],
])('a reset with %j is refused', async (body, message) => {
  const refused = await control('POST', '/reset', body);
  expect([refused.status, refused.body.message]).toEqual([422, expect.stringMatching(message)]);
});

test('there are at most 100 overrides', async () => {
  for (let i = 0; i < 100; i += 1) expect((await add({ operation: 'getKey', status: 503 })).status).toBe(201);
  expect((await add({ operation: 'getKey', status: 503 })).status).toBe(409);
});

test('a page of any origin may use the switch', async () => {
  const headers = { Origin: 'https://app.example.org' };
  const response = await fetch(`${mock.url}/__mock/overrides`, { headers });
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
});
