import { startTestMock, useMock } from '../support/servers/mock.ts';

const LIST = '/api/parent_programs';

const lines: string[] = [];
const mock = await useMock({ print: (line) => lines.push(line) });

const get = (url: string, Prefer: string | string[], key: string | undefined = mock.key) =>
  mock.client.get(url, { key, headers: { Prefer } });

test.each([
  ['an example without a code forces the status that has the example', 'example=external_id_taken', 409],
  ['an example of a success takes precedence', 'example=full', 201],
  ['a semicolon separates two preferences', 'code=503; example=unavailable', 503],
  ['quotation marks and upper case are accepted', 'CODE="503"', 503],
  ['the first of two codes applies', 'code=503, code=500', 503],
  ['unknown preferences do not keep the others from being applied', 'respond-async, wait=10, code=503', 503],
])('%s', async (_, Prefer, status) => {
  expect((await mock.client.post(LIST, { name: 'x' }, { headers: { Prefer } })).status).toBe(status);
});

test('two Prefer headers are combined', async () => {
  expect((await get(LIST, ['respond-async', 'code=503'])).status).toBe(503);
});

test('a refusal can be forced for any request', async () => {
  expect((await get(`${LIST}?verbose=1`, 'code=503', 'no-key')).status).toBe(503);
});

test('a forced success does not apply to a request that the server would refuse', async () => {
  expect((await get(`${LIST}?verbose=1`, 'code=200')).status).toBe(422);
  expect((await get(LIST, 'code=200', 'no-key')).status).toBe(401);
});

test('an example is returned unchanged, with a Link for its cursor', async () => {
  const last = await get(`${LIST}?limit=2`, 'example=last_page');
  expect(last.body.data).toMatchObject([{ name: 'Harbour City Apprenticeships' }]);
  expect(last.headers['link']).toBeUndefined();
  const first = await get(`${LIST}?limit=2`, 'example=first_page');
  expect(first.headers['link']).toContain(`cursor=${first.body.page.next_cursor}`);
});

test.each([
  ['code=418', /^Prefer asks for the status 418, which listParentPrograms does not have\. It has: 200, 304, 400, /],
  ['code=', /^Prefer asks for the status , which/],
  ['code=constructor', /^Prefer asks for the status constructor, which/],
  [
    'example=nope',
    /^Prefer asks for the example nope, which .+ does not have\. It has with 200: first_page, last_page/,
  ],
  ['code=422, example=nope', /does not have with the status 422\. It has with 422: limit, unknown_parameter, /],
  ['code=304, example=nope', /does not have with the status 304\. It has none\.$/],
  [`example=${'x'.repeat(5000)}`, /^Prefer asks for the example x+…/],
])('422 that names the available choices, for %s', async (Prefer, message) => {
  const response = await get(LIST, Prefer);
  expect(response.status).toBe(422);
  expect(response.body.message).toMatch(message);
  expect(Object.keys(response.body.errors)).toEqual(['Prefer']);
});

test.each([
  ['code=401, example=missing_key', 'www-authenticate', 'Bearer realm="charter"'],
  ['code=401, example=rotated_key', 'www-authenticate', 'Bearer realm="charter", error="invalid_token"'],
  ['code=403', 'www-authenticate', /scope="parent_programs:read"$/],
  ['code=403, example=organization_suspended', 'www-authenticate', /error="insufficient_scope"$/],
  ['code=405', 'allow', 'GET, HEAD, POST'],
  ['code=429', 'retry-after', '1'],
  ['code=429', 'ratelimit', '"key";r=0;t=1'],
  ['code=429, example=organization_limit', 'ratelimit', '"organization";r=0;t=1'],
  ['code=429, example=address_limit', 'ratelimit', undefined],
  ['code=503', 'retry-after', '5'],
])('%s has the matching %s', async (Prefer, header, value) => {
  expect((await get(LIST, Prefer)).headers[header]).toEqual(
    value instanceof RegExp ? expect.stringMatching(value) : value,
  );
});

test('405 names the methods of the requested path, also in the message', async () => {
  const response = await get('/api/key', 'code=405');
  expect(response.headers['allow']).toBe('GET, HEAD');
  expect(response.body.message).toContain('Allowed methods: GET, HEAD.');
});

test('HEAD gets the forced response without its body', async () => {
  const response = await mock.client.send('HEAD', LIST, { headers: { Prefer: 'code=503' } });
  expect(response).toMatchObject({ status: 503, text: '' });
});

test.each([
  ['code=503', 'code=503', undefined],
  ['example=missing_key', 'example=missing_key', undefined],
  ['code=401, example=missing_key', 'code=401, example=missing_key', undefined],
  ['code=503, wait=5', 'code=503, wait=5', undefined],
  ['delay=20', 'delay=20', undefined],
  ['delay=0.02s, wait=1', 'delay=20, wait=1', undefined],
  ['delay=1500, wait=1', 'delay=1500', /^Prefer: wait is shorter than delay/],
  ['delay=an hour', undefined, /^Prefer: delay is a number of milliseconds up to 30000/],
  ['delay=30001', undefined, /^Prefer: delay is a number of milliseconds up to 30000/],
  ['wait=soon', undefined, /^Prefer: wait is a number of seconds\.$/],
  ['dynamic=true', 'dynamic=true', undefined],
  ['dynamic=maybe', undefined, /^Prefer: dynamic is true or false\.$/],
  ['respond-async', undefined, /does not know respond-async\. It knows code, example, dynamic, delay and wait\.$/],
  ['code=503, handling=strict', 'code=503', /does not know handling/],
  ['code=503, code=500', 'code=503', /^Prefer: only the first code counts\.$/],
  ['=,(', undefined, /^Prefer has a preference that is not readable/],
  ['code=418', undefined, /^Prefer: the operation has no such response\.$/],
])('%s: what is applied is in Preference-Applied, and the rest in X-Mock-Warning', async (Prefer, applied, warning) => {
  lines.length = 0;
  const { headers } = await get(LIST, Prefer);
  expect(headers['preference-applied']).toBe(applied);
  const warned = headers['x-mock-warning'];
  if (warning === undefined) expect(warned).toBeUndefined();
  else expect(warned).toMatch(warning);
  const printed = lines.filter((line) => line.startsWith('Warning: ')).map((line) => line.slice(9));
  expect(printed.join(' ')).toBe(warned ?? '');
});

test('a response without Prefer has none of these headers', async () => {
  const { headers } = await mock.client.get(LIST);
  expect([headers['preference-applied'], headers['x-mock-warning']]).toEqual([undefined, undefined]);
});

test('a success that the server would refuse is not applied, and a warning says so', async () => {
  const { headers } = await get(`${LIST}?verbose=1`, 'code=200');
  expect(headers['preference-applied']).toBeUndefined();
  expect(headers['x-mock-warning']).toMatch(/^Prefer: a success is sent only where the server would accept/);
});

test('delay waits before any response: an example, a refusal or the usual one', async () => {
  for (const Prefer of ['delay=300', 'delay=0.3s, code=503', 'example=full; delay=300ms']) {
    const startedAt = performance.now();
    await mock.client.post(LIST, { name: 'x' }, { headers: { Prefer } });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299);
  }
});

test('dynamic=true generates data for one request, with pages and items that belong together', async () => {
  const headers = { Prefer: 'dynamic=true' };
  const first = await mock.client.get(`${LIST}?limit=2`, { headers });
  expect(first.text).not.toBe((await mock.client.get(`${LIST}?limit=2`)).text);
  const [item] = first.body.data;
  expect((await mock.client.get(`${LIST}/${item.id}`, { headers })).body).toEqual(item);
  const second = await mock.client.get(first.headers['link']?.slice(1).split('>')[0] ?? '', { headers });
  expect(second.body.data[0].id).not.toBe(item.id);
  expect((await mock.client.get(`${LIST}?limit=2`)).body.data[0].name).toBe('Nordic Scholars Exchange');
});

test('dynamic=false shows the examples on a mock with generated data', async () => {
  await using generated = await startTestMock({ dynamicSeed: 'a' });
  const { body } = await generated.client.get(LIST, { headers: { Prefer: 'dynamic=false' } });
  expect(body.data[0].name).toBe('Nordic Scholars Exchange');
});

test('Prefer has no effect on an unknown path or method', async () => {
  const unknown = await get('/api/nothing', 'code=503');
  expect([unknown.status, unknown.headers['x-mock-warning']]).toEqual([
    404,
    'Prefer: the operation has no such response.',
  ]);
  expect((await mock.client.send('PUT', LIST, { headers: { Prefer: 'code=503' } })).status).toBe(405);
});
