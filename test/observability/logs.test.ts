import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { memberOf } from '../../src/domain/errors.ts';
import { Exchange, TIME_PARTS } from '../../src/domain/request.ts';
import { createLogger } from '../../src/observability/logs.ts';
import { createRequestLog } from '../../src/observability/observe-requests.ts';
import { revokeKeyById } from '../../src/service/operator/keys.ts';
import { Client, exchangeRaw, type Reply, rawRequest } from '../support/clients/client.ts';
import { createPeople } from '../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../support/data/integrations.ts';
import { useScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import {
  type Charter,
  type LogLine,
  logOf,
  organizationAt,
  startCharter,
  withCharter,
} from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { flood, keptRequest } from '../support/traffic/flood.ts';
import { until } from '../support/wait.ts';

const database = await useScratchDatabase();
const charter = await startCharter({
  DATABASE_URL: database.url,
  LOG_LEVEL: 'trace',
  // The machine that runs the tests may be slow.
  SLOW_REQUEST_MS: '60000',
});
const db = connectTo(database.url, 1);
afterAll(async () => {
  await kill(charter);
  await db.close();
});
const ours = await organizationAt(database.url, charter);

const KEY_ID = memberOf((await ours.client.get('/api/key')).body, 'id');

function lineOf(requestId: string | undefined) {
  return until(`the line of the request ${requestId}`, () =>
    logOf(charter).find((line) => line['requestId'] === requestId && line['path'] !== undefined),
  );
}

/** Returns a line of the log without the members for the parts of the time, and the names of those parts. */
function withoutTimes(line: LogLine) {
  const isTime = (name: string) => TIME_PARTS.some((part) => name === `${part}Ms`);
  const members = Object.entries(line);
  return {
    line: Object.fromEntries(members.filter(([name]) => !isTime(name))),
    parts: members.map(([name]) => name).filter(isTime),
  };
}

test('every request is logged as one line of JSON with the X-Request-Id of its response', async () => {
  const { client } = ours;
  const responses = [
    { path: '/api/key', method: 'GET', operation: 'getKey', response: await client.get('/api/key') },
    { path: '/api/key', method: 'HEAD', operation: 'getKey', response: await client.send('HEAD', '/api/key') },
    {
      path: '/api/parent_programs',
      method: 'GET',
      operation: 'listParentPrograms',
      response: await client.get('/api/parent_programs?search=private'),
    },
    {
      path: '/api/parent_programs',
      method: 'POST',
      operation: 'createParentProgram',
      response: await client.post('/api/parent_programs', { name: 1 }),
    },
    { path: '/api/nothing', method: 'GET', operation: 'none', response: await client.get('/api/nothing') },
    { path: '/nothing', method: 'GET', operation: 'none', response: await client.get('/nothing') },
    { path: '/livez', method: 'GET', operation: 'health', response: await client.get('/livez') },
    { path: '/sign-in', method: 'GET', operation: 'dashboard', response: await client.get('/sign-in') },
    { path: '/openapi.json', method: 'GET', operation: 'documentation', response: await client.get('/openapi.json') },
  ];
  const requestIds = responses.map(({ response }) => response.headers['x-request-id']);
  expect(requestIds).toEqual(responses.map(() => expect.stringMatching(/^[\w-]{36}$/)));
  expect(new Set(requestIds).size).toBe(responses.length);
  for (const { path, method, operation, response } of responses) {
    const requestId = response.headers['x-request-id'];
    const { line } = withoutTimes(await lineOf(requestId));
    expect(line).toEqual({
      // Health checks are frequent and of little interest, so they are logged at the level debug (20).
      level: path === '/livez' ? 20 : 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      requestId,
      method,
      path,
      status: response.status,
      milliseconds: expect.any(Number),
      operation,
      ...(response.headers['ratelimit'] !== undefined && { keyId: KEY_ID, organizationId: ours.id }),
    });
    expect(logOf(charter).filter((line) => line['requestId'] === requestId)).toHaveLength(1);
  }
});

test('the line of a request names its key, accepted or not, and the integration that holds it', async () => {
  const { administrator } = await createPeople(db);
  const { id: integrationId, name } = await giveIntegration(db, administrator);
  const { id: keyId, key } = await giveIntegrationKey(db, administrator, { id: integrationId, name });
  const { get } = new Client(charter.url, key);
  const loggedOf = async ({ headers, status }: Reply) => {
    expect(await lineOf(headers['x-request-id'])).toMatchObject({ status, keyId, integrationId });
    return status;
  };
  expect(await loggedOf(await get('/api/key'))).toBe(200);
  await revokeKeyById(db, keyId);
  expect(await loggedOf(await get('/api/key'))).toBe(401);
});

// The attack: reading keys and private data from the log or a copy of it.
test('the log never contains a key, header, query or body of a request', async () => {
  const { client, key } = ours;
  const secret = key.slice('charter_live_'.length);
  const strange = 'charter_live_0123456789012345678901234567890123456789012345';
  const anonymous = new Client(charter.url);
  const program = {
    name: 'Secret name',
    description: 'Secret text',
    external_id: 'SECRET-1',
    metadata: { a: 'Secret' },
  };
  await Promise.all([
    client.get('/api/key'),
    client.get('/api/key', { key: strange }),
    client.get('/api/key', { headers: { Authorization: [`Bearer ${key}`, `Bearer ${strange}`] } }),
    client.get(`/api/parent_programs/${key}`),
    client.get(`/api/parent_programs/x${'x'.repeat(170)}${key}`),
    anonymous.get(`/${key}`),
    anonymous.get(`/livez/${key}/..%2F${strange}`),
    anonymous.get(`/api/parent_programs?key=${key}`),
    client.get(`/api/parent_programs?search=secret-search&cursor=${key}`),
    client.get(`/api/${encodeURIComponent(key).replaceAll('_', '%5F')}`),
    client.post('/api/parent_programs', program),
    client.post('/api/parent_programs', { ...program, name: key }),
    client.post('/api/parent_programs', `{"name": "${key}"`),
    client.post('/api/parent_programs', { [key]: 'x' }, { headers: { 'Idempotency-Key': key } }),
    client.send(key, '/api/key').catch(() => undefined),
    exchangeRaw(charter.url, rawRequest('GET /api/key', [`Authorization Bearer ${key}`])),
    exchangeRaw(charter.url, rawRequest(`GET http://user:${key}@charter.test/${key}`)),
  ]);
  await lineOf((await client.get('/api/key')).headers['x-request-id']);
  const printed = charter.printed.stdout + charter.printed.stderr;
  for (const word of [secret, strange.slice(-40), 'Bearer', 'uthorization', 'ecret-search', 'Secret', 'SECRET-1']) {
    expect({ word, isPrinted: printed.includes(word) }).toEqual({ word, isPrinted: false });
  }
  // The log does not contain 12 successive characters of the key, either.
  for (let at = 0; at + 12 <= secret.length; at += 1) expect(printed).not.toContain(secret.slice(at, at + 12));
});

const MALFORMED = 30;

/** The log of a server that was stopped after malformed requests and refusals, and the number of refusals. */
type Stopped = { readonly log: readonly LogLine[]; readonly refused: number };

let stopped: Promise<Stopped> | undefined;

/** Stops a server once for several tests. */
function stoppedServer(): Promise<Stopped> {
  stopped ??= stopServer();
  return stopped;
}

function stopServer(): Promise<Stopped> {
  return withCharter({ DATABASE_URL: database.url }, async (stopping) => {
    const refused = await refusedAt(stopping);
    await Promise.all(Array.from({ length: MALFORMED }, () => exchangeRaw(stopping.url, 'no HTTP\r\n\r\n')));
    stopping.child.kill('SIGTERM');
    await stopping.ended;
    return { log: logOf(stopping), refused };
  });
}

/** Sends requests while a table is locked, and returns how many of them the server refused. */
async function refusedAt({ url }: Charter): Promise<number> {
  const text = (i: number) =>
    keptRequest(`GET /api/parent_programs?search=refused${i}`, [`Authorization: Bearer ${ours.key}`]);
  // A new process looks up its first key slowly, and could refuse requests for that reason. So the key is looked up before.
  await new Client(url, ours.key).get('/api/key');
  return withClient(database.url, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    const flooding = await flood(url, { connections: 40, requests: 1, text });
    const count = (status: number) => flooding.statuses.get(status) ?? 0;
    await until('some refusals', () => count(503) > 20);
    await blocker.query('rollback');
    await until('the other responses', () => count(503) + count(200) === 40);
    await flooding.stop();
    return count(503);
  });
}

test('a shutdown loses none of the counted malformed requests', async () => {
  const { log } = await stoppedServer();
  const numbers = log.map(({ msg, statuses }) => {
    if (msg === 'unreadable or incomplete HTTP request') return 1;
    return msg === 'further unreadable or incomplete HTTP requests' ? Number(memberOf(statuses, '400')) : 0;
  });
  expect(numbers.reduce((sum, number) => sum + number, 0)).toBe(MALFORMED);
  expect(numbers.filter((number) => number > 0).length).toBeLessThan(MALFORMED);
});

test('a shutdown loses none of the counted refusals under load', async () => {
  const { log, refused } = await stoppedServer();
  const lines = log.filter(({ msg }) => msg === 'refused requests under load');
  const numbers = lines.map((line) => Number(memberOf(line['refused'], 'api')));
  expect(numbers.reduce((sum, number) => sum + number, 0)).toBe(refused);
});

test('a request aborted by its client is logged as aborted', async () => {
  const start = rawRequest('POST /api/parent_programs', [
    ...[`Authorization: Bearer ${ours.key}`, 'Content-Type: application/json', 'Content-Length: 100'],
  ]);
  await exchangeRaw(charter.url, start, { endAfterSending: true });
  const line = await until('the line', () => logOf(charter).find(({ aborted }) => aborted === true));
  expect(line).toMatchObject({ method: 'POST', path: '/api/parent_programs' });
});

/** Creates a logger that writes to a terminal, and a function that reads the lines. */
function useTerminal() {
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const logger = createLogger('info', { output });
  const read = () => stripVTControlCharacters(String(output.read() ?? ''));
  return { logger, read };
}

test('a request is one row on a terminal', () => {
  const { logger, read } = useTerminal();
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/api/key?search=private' });
  const res = new ServerResponse(req);
  createRequestLog(logger, { slowMs: 60_000 })(req, res, new Exchange('the-id'));
  res.statusCode = 404;
  res.emit('close');
  expect(read()).toMatch(
    /^\[\d\d:\d\d:\d\d\] INFO: GET \/api\/key 404 [\d.]+ ms requestId=the-id operation=none aborted=true\n$/,
  );
});

test('any other line is one row with its members, and an error adds its stack', () => {
  const { logger, read } = useTerminal();
  logger.info({ url: 'http://127.0.0.1:3000', refused: { api: 3 } }, 'Charter is listening');
  expect(read()).toMatch(
    /^\[[\d:]+\] INFO: Charter is listening url=http:\/\/127\.0\.0\.1:3000 refused=\{"api":3\}\n$/,
  );
  logger.error({ err: new Error('Broken.'), requestId: 'x' }, 'a request failed');
  expect(read()).toMatch(/^\[[\d:]+\] ERROR: a request failed requestId=x\nError: Broken\.\n( +at .*\n)+$/);
});

// The attack: a path that moves the cursor or changes the title of the terminal in which somebody reads the log.
test('a terminal never gets a control character from a request', () => {
  const { logger, read } = useTerminal();
  logger.info({ method: 'GET', path: '/\u001b]0;title\u0007\r\n/x\u009b2J', status: 404, milliseconds: 1 });
  expect(read()).toMatch(/^\[[\d:]+\] INFO: GET \/�\]0;title���\/x�2J 404 1 ms\n$/);
});
