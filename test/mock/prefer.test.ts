import { useMock } from '../support/mock.ts';

const LIST = '/api/parent_programs';

const mock = await useMock();

const get = (url: string, Prefer: string | string[], key: string | undefined = mock.key) =>
  mock.client.get(url, { key, headers: { Prefer } });

test.each([
  ['an example without a code forces the status that has the example', 'example=external_id_taken', 409],
  ['an example of a success takes precedence', 'example=full', 201],
  ['a semicolon separates two preferences', 'code=503; example=unavailable', 503],
  ['quotation marks and upper case are accepted', 'CODE="503"', 503],
  ['the first of two codes applies', 'code=503, code=500', 503],
  ['unknown preferences are ignored', 'respond-async, wait=10, code=503', 503],
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

test('Prefer has no effect on an unknown path or method', async () => {
  expect((await get('/api/nothing', 'code=503')).status).toBe(404);
  expect((await mock.client.send('PUT', LIST, { headers: { Prefer: 'code=503' } })).status).toBe(405);
});
