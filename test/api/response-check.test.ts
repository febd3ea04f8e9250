import { readFile } from 'node:fs/promises';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type Logger, pino } from 'pino';
import { ApiRequest } from '../../src/api/api-request.ts';
import { handlers } from '../../src/api/handlers/index.ts';
import { encodeJson } from '../../src/api/response.ts';
import { createCheckedSend, type ResponseCheck } from '../../src/api/response-check.ts';
import { readDocument } from '../../src/contract/contract.ts';
import type { Json } from '../../src/contract/document.ts';
import { Exchange } from '../../src/domain/request.ts';
import { Client, exchangeRaw, parseRaw, rawRequest } from '../support/clients/client.ts';
import { operations } from '../support/contract/contract.ts';
import { createProgram, prepare, sendTo } from '../support/contract/every-operation.ts';
import { createTestOrganization, startServer, type TestServer } from '../support/servers/server.ts';

const LIST = '/api/parent_programs';
const SECRET = 'a word that is in the response';
const BUG =
  'Something went wrong on our side. Try again. If it happens again, contact support and quote the X-Request-Id.';

type Line = Readonly<Record<string, unknown>>;
type Watched = TestServer & { readonly lines: Line[] };

const ALWAYS = { sampleRate: 1 };
const [off, report, enforce] = await Promise.all([
  startFaulty(null),
  startFaulty({ mode: 'report', ...ALWAYS }),
  startFaulty({ mode: 'enforce', ...ALWAYS }),
]);
afterAll(() => off.close());
afterAll(() => report.close());
afterAll(() => enforce.close());

/**
 * Starts a server whose `getKey` returns an extra field with a confidential value, and whose list has a value of a wrong type.
 */
async function startFaulty(responseCheck: ResponseCheck | null): Promise<Watched> {
  const lines: Line[] = [];
  const logger: Logger = pino({ level: 'warn', base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  const faulty = {
    ...handlers,
    getKey: async (...given: Parameters<typeof handlers.getKey>) => {
      const response = await handlers.getKey(...given);
      return { ...response, body: Object.assign({}, response.body, { key_hash: SECRET }) };
    },
    listParentPrograms: async (...given: Parameters<typeof handlers.listParentPrograms>) => {
      const response = await handlers.listParentPrograms(...given);
      const { data, page } = JSON.parse(encodeJson(response.body).toString());
      const wrong = data.map((program: object) => ({ ...program, metadata: { [SECRET]: 5 } }));
      return { ...response, body: { data: wrong, page } };
    },
  };
  const contract = { definition: await readDocument(), handlers: faulty };
  return { ...(await startServer({ logger, responseCheck, contract })), lines };
}

const document: Json = JSON.parse(await readFile('generated/openapi.json', 'utf8'));
const declared = operations.flatMap(({ operationId, method, path, responses }) =>
  Object.keys(responses).map((status) => ({ operationId, method, path, status: Number(status) })),
);

test('enforce withholds a broken response of every status of every operation', () => {
  const broken: unknown[] = [];
  const sent: number[] = [];
  const send = createCheckedSend(document, {
    mode: 'enforce',
    ...ALWAYS,
    send: (_, response) => void sent.push(response.status),
    onBroken: ({ operation, status }) => broken.push({ operationId: operation, status }),
  });
  for (const { method, path, status } of declared) {
    const url = path.replace(/\{\w+\}/, crypto.randomUUID());
    const req = Object.assign(new IncomingMessage(new Socket()), { method: method.toUpperCase(), url });
    const request = new ApiRequest(req, new ServerResponse(req), new Exchange(crypto.randomUUID()));
    send(request, { status, fields: [], text: '{"a":1}' });
  }
  expect(broken).toEqual(declared.map(({ operationId, status }) => ({ operationId, status })));
  expect(sent).toEqual(declared.map(() => 500));
});

/** Returns a client that does not check responses against the contract, because the responses are invalid on purpose. */
async function callerOf(server: TestServer): Promise<Client> {
  const { key } = await createTestOrganization(server);
  return new Client(server.url, key, () => {});
}

test('off: an invalid response is sent and not logged', async () => {
  const { status, body } = await (await callerOf(off)).get('/api/key');
  expect(status).toBe(200);
  expect(body.key_hash).toBe(SECRET);
  expect(off.lines).toEqual([]);
});

test('report: an invalid response is sent, logged and counted', async () => {
  const client = await callerOf(report);
  const responses = [await client.get('/api/key'), await client.send('HEAD', LIST), await client.get('/api/key')];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(responses[0]?.body.key_hash).toBe(SECRET);
  const told = {
    level: 40,
    msg: 'a response broke the contract',
    operation: 'getKey',
    status: 200,
    disagreements: ['the body must NOT have additional properties (key_hash).'],
  };
  expect(report.lines).toEqual([
    expect.objectContaining({ ...told, requestId: responses[0]?.headers['x-request-id'], checked: 1, broken: 1 }),
    expect.objectContaining({ ...told, requestId: responses[2]?.headers['x-request-id'], checked: 3, broken: 2 }),
  ]);
});

test("enforce: the contract's 500 replaces an invalid response and reveals nothing of it", async () => {
  const { client } = await createTestOrganization(enforce);
  const response = await client.get('/api/key');
  expect(response).toMatchObject({ status: 500, body: { message: BUG }, headers: { 'cache-control': 'no-store' } });
  const requestId = response.headers['x-request-id'];
  expect(enforce.lines.find((line) => line['requestId'] === requestId)).toMatchObject({
    level: 50,
    msg: 'a response broke the contract and was withheld',
    operation: 'getKey',
    status: 200,
  });
});

test('enforce: 500 without an ETag for an invalid list page, cached or not', async () => {
  const ours = await createTestOrganization(enforce);
  await createProgram(ours);
  for (let i = 0; i < 2; i += 1) {
    const response = await ours.client.get(LIST);
    expect(response).toMatchObject({ status: 500, body: { message: BUG } });
    expect(response.headers['etag']).toBeUndefined();
  }
});

test('a cached response that passed the check is not checked again; a response to HEAD does not count as checked', async () => {
  const watched = await startFaulty({ mode: 'report', ...ALWAYS });
  const client = await callerOf(watched);
  const { body } = await client.post(LIST, { name: 'Kept' });
  const send = (method: string) => client.send(method, `${LIST}/${body.id}`);
  for (const method of ['HEAD', 'HEAD', 'GET', 'GET', 'HEAD']) expect((await send(method)).status).toBe(200);
  await client.get('/api/key');
  // The five checked responses are those to the creation, the first two HEAD requests, the first GET and the request for the key.
  expect(watched.lines).toEqual([expect.objectContaining({ checked: 5, broken: 1 })]);
  await watched.close();
});

// The attack: reading an organization's data in the log.
test('the log contains no value of a response, no data used as a name, and no key', async () => {
  const ours = await createTestOrganization(enforce);
  await createProgram(ours);
  await ours.client.get(LIST);
  await ours.client.get('/api/key');
  const log = JSON.stringify(enforce.lines);
  expect(log).toContain('/data/0/metadata/… must be string');
  expect(log).not.toContain(SECRET);
  expect(log).not.toContain(ours.key);
});

test('the server checks a random sample of responses', async () => {
  const sampled = await startFaulty({ mode: 'report', sampleRate: 0.3 });
  const client = await callerOf(sampled);
  for (let i = 0; i < 200; i += 1) await client.get('/api/key');
  // The expected number is 60. Fewer than 20 or more than 120 occur in one of 10^11 runs.
  expect(sampled.lines.length).toBeGreaterThan(20);
  expect(sampled.lines.length).toBeLessThan(120);
  expect(sampled.lines.at(-1)).toMatchObject({ checked: sampled.lines.length, broken: sampled.lines.length });
  await sampled.close();
});

// Without a planted fault, no response may be withheld, however unusual the request.
test('enforce passes every valid response', async () => {
  const lines: Line[] = [];
  const logger: Logger = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) });
  await using right = await startServer({ logger, responseCheck: { mode: 'enforce', ...ALWAYS } });
  for (const operation of operations) {
    const { client, request } = await prepare(right, operation);
    expect((await sendTo(client, request)).status).toBeLessThan(300);
    expect((await sendTo(client, request, { key: 'nobody' })).status).toBe(401);
    expect((await sendTo(client, request, { method: 'TRACE' })).status).toBe(405);
    expect((await sendTo(client, request, { headers: { Accept: 'text/html' } })).status).toBe(406);
  }
  const ours = await createTestOrganization(right);
  const id = await createProgram(ours);
  const { headers } = await ours.client.get(`${LIST}/${id}`);
  const unchanged = { headers: { 'If-None-Match': headers['etag'] } };
  for (const method of ['GET', 'HEAD'])
    expect((await ours.client.send(method, `${LIST}/${id}`, unchanged)).status).toBe(304);
  for (const url of ['/unknown', `/api/${'x'.repeat(8188)}`])
    expect((await right.anonymous.get(url)).status).toBeGreaterThanOrEqual(404);
  for (const target of ['/api/parent%5Fprograms', '/%61pi/key', 'http://[::1/api/parent_programs?limit=5']) {
    const text = rawRequest(`GET ${target}`, [`Authorization: Bearer ${ours.key}`]);
    expect(parseRaw(await exchangeRaw(right.url, text)).status).toBe(200);
  }
  expect(lines).toEqual([]);
});
