// The MCP server and a client of the official SDK, connected in memory, in front of a real server or a server that fails when a
// test tells it to.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import document from '#generated/openapi.json' with { type: 'json' };
import { readSettings } from '../../src/client/settings.ts';
import { PERMISSIONS, type Permission } from '../../src/domain/people/role.ts';
import { createMcpServer } from '../../src/mcp/server.ts';
import { createTestClock, type TestClock } from '../support/clients/charter-client.ts';
import { operations } from '../support/contract/contract.ts';
import { hangsUp, respondsWith, useScriptedServer } from '../support/servers/scripted-server.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();
const scripted = await useScriptedServer();
const KEY = 'charter_test_THIS_MUST_NOT_BE_SEEN';
const ID = '019c2291-34b8-752e-bca9-6513269e0d37';

/** Connects a client to an MCP server that calls the API at this address with this key. */
async function connect(
  baseUrl: string,
  apiKey: string,
  { clock = createTestClock(), contract = document }: { clock?: TestClock; contract?: object } = {},
): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createMcpServer({ ...contract }, readSettings({ baseUrl, apiKey, totalTimeoutMs: 50_000 }), clock).connect(far);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(near);
  return client;
}

/** Calls a tool, and returns its result: the structured content, or the text of a refusal. */
async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { isError = false, structuredContent, content } = await client.callTool({ name, arguments: given });
  const [{ text }] = content as [{ text: string }];
  if (!isError) expect(JSON.parse(text)).toEqual(structuredContent);
  const answer = text.startsWith('{') ? JSON.parse(text) : null;
  return { isError, text, refusal: isError ? answer : null, result: isError ? null : answer };
}

test('the operations that the key permits are the tools, and no key with the permission to read has one that writes', async () => {
  const namesFor = async (permissions: readonly Permission[]) => {
    const { key } = await createTestOrganization(server, { permissions });
    return (await (await connect(server.url, key)).listTools()).tools.map(({ name }) => name);
  };
  const namesOf = (isOffered: (method: string) => boolean) =>
    operations.filter(({ method }) => isOffered(method)).map(({ operationId }) => operationId);
  expect(await namesFor(PERMISSIONS)).toEqual(namesOf(() => true));
  const reading = PERMISSIONS.filter((permission) => permission.endsWith(':read'));
  expect(await namesFor(reading)).toEqual(namesOf((method) => method === 'get'));
});

test('one of the permissions of an operation is enough, as for the events of several resources', async () => {
  const contract = structuredClone<object>(document);
  Object(contract).paths['/api/events'].get.security = [
    { apiKey: ['courses:read'] },
    { apiKey: ['parent_programs:read'] },
  ];
  const { key } = await createTestOrganization(server, { permissions: ['parent_programs:read'] });
  const { tools } = await (await connect(server.url, key, { contract })).listTools();
  expect(tools.map(({ name }) => name)).toContain('listEvents');
});

test('creating, reading, changing with the etag, replacing and deleting work, and the client accepts each result', async () => {
  const client = await connect(server.url, (await createTestOrganization(server)).key);
  // From then on, the client compares each result with the output schema of the tool.
  await client.listTools();
  const created = await call(client, 'createParentProgram', { body: { name: 'First' } });
  const { status, etag, body } = created.result;
  expect({ status, etag, body }).toMatchObject({ status: 201, etag: expect.any(String), body: { name: 'First' } });
  const changed = await call(client, 'updateParentProgram', {
    id: body.id,
    'If-Match': etag,
    body: { name: 'Second' },
  });
  expect(changed.result).toMatchObject({ status: 200, body: { name: 'Second' } });
  const outdated = await call(client, 'deleteParentProgram', { id: body.id, 'If-Match': etag });
  expect(outdated.refusal).toMatchObject({ status: 412 });
  const own = await call(client, 'upsertParentProgram', { external_id: 'a/b c%', body: { name: 'Own' } });
  expect(own.result.body.external_id).toBe('a/b c%');
  const deleted = await call(client, 'deleteParentProgram', { id: body.id });
  expect(deleted.result).toEqual({ status: 204 });
  const changes = [
    { action: 'create', body: { name: 'Third' } },
    { action: 'delete', id: body.id },
  ];
  const batch = await call(client, 'batchParentPrograms', { body: { changes } });
  expect(batch.result.body.results.map((each: { status: number }) => each.status)).toEqual([201, 404]);
  for (const name of ['listEvents', 'getKey']) expect((await call(client, name)).result.status).toBe(200);
});

test('a list returns one page, and the next one for its cursor', async () => {
  const { key, client: writer } = await createTestOrganization(server);
  for (const name of ['a', 'b', 'c']) await writer.post('/api/parent_programs', { name });
  const client = await connect(server.url, key);
  const first = (await call(client, 'listParentPrograms', { limit: 2, sort: 'name' })).result;
  expect(first).toEqual({
    status: 200,
    body: { data: [expect.anything(), expect.anything()], page: expect.anything() },
  });
  const cursor = first.body.page.next_cursor;
  const second = (await call(client, 'listParentPrograms', { limit: 2, sort: 'name', cursor })).result;
  expect(second.body).toMatchObject({ data: [{ name: 'c' }], page: { next_cursor: null } });
});

test('a refusal has the status, message and field errors of the contract, and the id of the request', async () => {
  const client = await connect(server.url, (await createTestOrganization(server)).key);
  const { refusal } = await call(client, 'createParentProgram', { body: { name: '', extra: 1 } });
  expect(refusal).toEqual({
    status: 422,
    message: expect.any(String),
    errors: { name: [expect.any(String)], extra: [expect.any(String)] },
    request_id: expect.any(String),
  });
});

test.each([
  ['an unknown argument', 'getKey', { verbose: true }, 'This tool has no argument verbose. It has: none.'],
  [
    'a cursor that is null',
    'listEvents',
    { cursor: null },
    'params.query.cursor is null. Give a value, or leave it out.',
  ],
  ['an id that is missing', 'getEvent', {}, 'params.path.id is missing.'],
])('%s is refused, and nothing is sent', async (_title, name, given, message) => {
  const client = await connect(scripted.url, KEY);
  scripted.play(respondsWith(200));
  expect(await call(client, name, given)).toMatchObject({ isError: true, text: message });
  expect(scripted.received).toEqual([]);
});

test('a tool that does not exist is an error of the protocol', async () => {
  const client = await connect(scripted.url, KEY);
  await expect(client.callTool({ name: 'dropTable' })).rejects.toThrow('There is no tool "dropTable".');
});

test('a refused key is an error of the list of tools, with the message of the contract', async () => {
  const client = await connect(server.url, `${KEY}_${KEY}`);
  await expect(client.listTools()).rejects.toThrow(/"status":401,"message":".+","request_id":"/);
});

test('after a 403, the client hears that the list of tools has changed', async () => {
  const { key } = await createTestOrganization(server, { permissions: ['parent_programs:read'] });
  const client = await connect(server.url, key);
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler(ToolListChangedNotificationSchema, async () => changed.resolve());
  const { refusal } = await call(client, 'createParentProgram', { body: { name: 'x' } });
  expect(refusal).toMatchObject({ status: 403 });
  await changed.promise;
});

test('Retry-After is respected, and beyond the time that a client waits, the refusal says how long it is', async () => {
  const clock = createTestClock();
  const client = await connect(scripted.url, KEY, { clock });
  scripted.play(respondsWith(429, { 'Retry-After': '7' }), respondsWith(200, {}, { data: [] }));
  expect((await client.callTool({ name: 'listEvents' })).isError).toBeUndefined();
  expect(clock.waitsMs).toEqual([7_000]);
  scripted.play(respondsWith(429, { 'Retry-After': '60', 'X-Request-Id': 'abc' }));
  const { refusal } = await call(client, 'listEvents');
  expect(refusal).toEqual({ status: 429, message: 'No.', retry_after: '60', request_id: 'abc' });
  expect(scripted.received).toHaveLength(1);
});

test('each creation has an idempotency key, the same for all tries, and an error without a response names it', async () => {
  const client = await connect(scripted.url, KEY);
  scripted.play(hangsUp);
  const { text } = await call(client, 'createParentProgram', { body: { name: 'x' } });
  const keys = new Set(scripted.received.map(({ headers }) => headers['idempotency-key']));
  expect([scripted.received.length, keys.size]).toEqual([3, 1]);
  expect(text).toContain(`To repeat it safely, give the same Idempotency-Key: ${[...keys][0]}`);
  expect(text).toContain('CHARTER_URL');
  scripted.play(respondsWith(422));
  await call(client, 'createParentProgram', { body: { name: 'x' }, 'Idempotency-Key': 'mine' });
  expect(scripted.received[0]?.headers['idempotency-key']).toBe('mine');
});

test.each([
  ['a broken connection', hangsUp],
  ['a page of a proxy that repeats the request', respondsWith(502, {}, `Authorization: Bearer ${KEY}`)],
  ['a redirect', respondsWith(302, { Location: 'http://127.0.0.1:9/' })],
])('the key is not in the error after %s', async (_title, step) => {
  const client = await connect(scripted.url, KEY);
  scripted.play(step);
  const { isError, text } = await call(client, 'getKey');
  expect(isError).toBe(true);
  expect(text).not.toContain(KEY);
  await expect(client.listTools()).rejects.not.toThrow(KEY);
});

test('a call that the client cancels is not repeated', async () => {
  const client = await connect(scripted.url, KEY);
  const stopping = new AbortController();
  scripted.play((res) => {
    stopping.abort();
    hangsUp(res, { method: '', url: '', headers: {}, body: '' });
  });
  await expect(client.callTool({ name: 'getKey' }, undefined, { signal: stopping.signal })).rejects.toThrow();
  expect(scripted.received).toHaveLength(1);
});

test('an id leads to no other operation', async () => {
  const client = await connect(scripted.url, KEY);
  scripted.play(respondsWith(404));
  await call(client, 'getParentProgram', { id: `../key?x=${ID}` });
  expect(scripted.received[0]?.url).toBe(`/api/parent_programs/..%2Fkey%3Fx%3D${ID}`);
});
