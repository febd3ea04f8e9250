// Arguments that the types forbid, which a program in JavaScript, or with loose types, can pass.
import { type Call, createCall } from '../../src/client/calling.ts';
import { realClock } from '../../src/client/sending.ts';
import { readSettings } from '../../src/client/settings.ts';
import { respondsWith, useScriptedServer } from '../support/servers/scripted-server.ts';

const PROGRAMS = '/api/parent_programs';
const PROGRAM = '/api/parent_programs/{id}';

const server = await useScriptedServer();

/** Calls without type checks, as a program in JavaScript does. */
async function call(...parameters: Parameters<Call>): Promise<void> {
  server.play(respondsWith(200));
  await createCall(readSettings({ baseUrl: server.url, apiKey: 'charter_test_key' }), realClock)(...parameters);
}

// openapi-fetch omits null, so the update would be made without its condition.
test('If-Match: null is refused, not omitted', async () => {
  const params = { path: { id: 'x' }, header: { 'If-Match': null } };
  await expect(call('patch', PROGRAM, { params, body: {} })).rejects.toThrow('params.header.If-Match is null.');
  expect(server.received).toHaveLength(0);
});

// A proxy that compresses responses weakens the server's entity tags. The server would refuse the weak tags in If-Match for ever.
test.each([
  ['If-Match', 'W/"a"', '"a"'],
  ['if-match', 'W/"a,W/", "b" ,W/"c"', '"a,W/", "b" ,"c"'],
  ['If-Match', '"a"', '"a"'],
  ['If-Match', '*', '*'],
])('%s: %s is sent as %s', async (name, given, sent) => {
  const params = { path: { id: 'x' }, header: { [name]: given } };
  await call('patch', PROGRAM, { params, body: {} });
  expect(server.received[0]?.headers['if-match']).toBe(sent);
});

test('a weak tag in If-None-Match is sent as it is, because weak tags match there', async () => {
  await call('get', PROGRAM, { params: { path: { id: 'x' }, header: { 'If-None-Match': 'W/"a"' } } });
  expect(server.received[0]?.headers['if-none-match']).toBe('W/"a"');
});

// Without the filter, the server would return the whole list.
test('a null filter is refused, not omitted', async () => {
  const params = { query: { external_id: null } };
  await expect(call('get', PROGRAMS, { params })).rejects.toThrow('params.query.external_id is null.');
  expect(server.received).toHaveLength(0);
});

test('an undefined parameter is omitted', async () => {
  const params = { query: { limit: 1, search: undefined }, header: { 'If-None-Match': undefined } };
  await call('get', PROGRAMS, { params });
  expect(server.received[0]?.url).toBe('/api/parent_programs?limit=1');
  expect(server.received[0]?.headers).not.toHaveProperty('if-none-match');
});

test.each([[{}], [{ path: {} }], [{ path: { id: undefined } }]])(
  'a path without its parameter is refused: %j',
  async (params) => {
    await expect(call('get', PROGRAM, { params })).rejects.toThrow('params.path.id is missing.');
    expect(server.received).toHaveLength(0);
  },
);

test('a parameter with any content stays a single parameter', async () => {
  await call('get', PROGRAM, { params: { path: { id: 'a/b?c#d%2e$&é' } } });
  expect(server.received[0]?.url).toBe(`/api/parent_programs/${encodeURIComponent('a/b?c#d%2e$&é')}`);
  await call('get', PROGRAMS, {
    params: { query: { search: 'a&limit=1+%20é', updated_since: '2026-01-01T00:00:00+01:00' } },
  });
  const asked = new URL(server.received[0]?.url ?? '', server.url);
  expect(Object.fromEntries(asked.searchParams)).toEqual({
    search: 'a&limit=1+%20é',
    updated_since: '2026-01-01T00:00:00+01:00',
  });
});

test('an Idempotency-Key header is recognized in any letter case', async () => {
  const params = { header: { 'idempotency-key': 'order-1' } };
  await call('post', PROGRAMS, { params, body: { name: 'Nordic' } });
  expect(server.received[0]?.headers['idempotency-key']).toBe('order-1');
});
