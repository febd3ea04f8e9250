// Sends the same requests to a server behind the proxy of charter-mock and to a mock with the same data, and compares the whole
// responses: status, all headers and body. A mock that stores nothing gets the requests, too. The requests are derived from the
// document, so every new operation is included.
import { successesOf } from '../../src/contract/document.ts';
import { Client, exchangeRaw, parseRaw, type Reply, rawRequest } from '../support/clients/client.ts';
import { ADDED_BY_THE_MOCK, type Operation, operations, requireMockConformity } from '../support/contract/contract.ts';
import { requestFor, sendTo } from '../support/contract/every-operation.ts';
import { differenceOf, exactLikeness, likeness } from '../support/contract/parity.ts';
import { badRequests, type Case, goodRequests } from '../support/contract/parity-cases.ts';
import { listOf, lists, tableOf } from '../support/contract/resources.ts';
import { insertItems } from '../support/postgres/postgres.ts';
import { startTestProxy, useMock } from '../support/servers/mock.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

/** Rate limits so high that the concurrent requests do not reach them. */
const requestLimits = { perKey: 1_000_000, perOrganization: 1_000_000, perAddress: 1_000_000 };
const AT_ONCE = 10;

const [server, mock, stateless] = await Promise.all([
  useServer({ requestLimits }),
  useMock({ isStateful: true }),
  useMock(),
]);
const proxy = await startTestProxy(server.url);
afterAll(() => proxy.close());
const ours = await createTestOrganization(server);
const clientOf = ({ url }: { url: string }) => new Client(url, ours.key, requireMockConformity);
const sides = [clientOf(proxy), clientOf(mock), clientOf(stateless)] as const;

/** The rows of each list. The server and the mock have the same rows. */
const items = new Map<string, ({ readonly id: string } & Readonly<Record<string, string | null>>)[]>();
for (const path of lists) {
  const { body } = await sides[1].get(`${path}?limit=100`);
  await insertItems(server.db, { organizationId: ours.id, table: tableOf({ path }) }, body.data);
  items.set(path, body.data);
}
const references = Object.fromEntries(
  [...items].map(([path, [first]]) => [`${tableOf({ path }).replace(/s$/, '')}_id`, first?.id ?? '']),
);

/** Patterns of values that differ between the server and the mock: ids, times and entity tags of new rows, and cursors. */
const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const TAG = /("etag":)"\\"[\w-]{22}\\""/g;
const CURSOR = /(cursor=|"next_cursor":")[\w-]+/g;
const OF_THE_CONNECTION = /^(date|connection|keep-alive|transfer-encoding)$/;
/** A header whose value differs from request to request. */
const REQUEST_ID_HEADER = 'x-request-id';

function comparable(operation: Operation, { status, headers, text, ...reply }: Reply): unknown {
  // Responses outside the resources describe the key or the organization, which differ between the server and the mock.
  const isOwn = !items.has(`/${operation.path.split('/').slice(1, 3).join('/')}`) && status < 400;
  const isWrite = operation.method !== 'get';
  const ofEachSide = (value: string) => {
    const withoutCursor = value.replace(CURSOR, '$1…').replace(/\b([qrt])=\d+/g, '$1=…');
    return isWrite
      ? withoutCursor.replace(ID, 'an id').replace(TIME, 'a time').replace(TAG, '$1"a tag"')
      : withoutCursor;
  };
  // PostgreSQL writes the JSON of a list with some spaces, and the cursors of server and mock differ in length. So the lists
  // differ in Content-Length and in their entity tag.
  const isList = lists.includes(operation.path) && status < 300;
  const differs = (name: string) =>
    name === REQUEST_ID_HEADER ||
    (name === 'etag' && (isWrite || isOwn || isList)) ||
    (name === 'content-length' && (isOwn || isList));
  const compared = Object.entries(headers)
    .filter(([name]) => !OF_THE_CONNECTION.test(name) && !ADDED_BY_THE_MOCK.test(name))
    .map(([name, value = '']) => [name, differs(name) ? '…' : ofEachSide(value)]);
  const body = isOwn ? likeness(operation, { status, headers, text, ...reply }) : ofEachSide(compact(text));
  return { status, headers: Object.fromEntries(compared.sort()), body };
}

function compact(text: string): string {
  return text === '' ? '' : JSON.stringify(JSON.parse(text));
}

type Sent = { readonly request: ReturnType<typeof requestFor>; readonly each: Case };

/**
 * Returns one request for each case. `refused` has the requests that are refused and so change nothing. Each request is for a row
 * of its own.
 */
function requestsOf(operation: Operation): { refused: Sent[]; others: Sent[] } {
  const rows = items.get(listOf(operation)) ?? [];
  const [, ownId = ''] = /\/by_\w+\/\{(\w+)\}$/.exec(operation.path) ?? [];
  // A write by the client's own id uses an id of a row as the own id, because an update may have cleared the own ids of the rows.
  // `compare` creates the row with this own id.
  const ids = rows.flatMap((row) => (ownId === '' || operation.method !== 'get' ? [row.id] : (row[ownId] ?? [])));
  const requestAt = (i: number) => requestFor(operation, { id: ids[i % ids.length] ?? '', references });
  const casesOf = (i: number) => {
    const request = requestAt(i);
    return [...badRequests(operation, request, ours.key), ...goodRequests(operation, request, ours.key)];
  };
  const { length } = casesOf(0);
  const all = Array.from({ length }, (_, i) => ({ request: requestAt(i), each: casesOf(i)[i] ?? { what: '' } }));
  const refused = badRequests(operation, requestAt(0), ours.key).length;
  return { refused: all.slice(0, refused), others: all.slice(refused) };
}

/** The statuses of refusals that never depend on stored data. */
const INDEPENDENT_OF_DATA = [400, 401, 405, 406, 413, 414, 415, 422];

/**
 * Returns whether a mock that stores nothing must give the same response. On such a mock, PUT by external id always replaces a
 * row.
 */
function isIndependent(operation: Operation, { status, body }: Reply): boolean {
  if (status >= 300) return INDEPENDENT_OF_DATA.includes(status);
  const results: readonly { exception: unknown }[] = body?.results ?? [];
  if (results.some(({ exception }) => exception !== null)) return false;
  return status === Math.min(...successesOf(operation));
}

const REORDERED = `
    The members are the same, in another order. A new column stands last in its table, so its field stands last before created_at in
    the contract's schema and examples, and in the columns of src/store/resources/tables/.`;

/**
 * Returns the characters of the text in sorted order, so that two texts that differ only in the order of members become equal.
 * The text is a reply as JSON. Its body is a string in this JSON, so sorting the members of the reply would not sort those of the
 * body.
 */
function sortedMembersOf(text: string): string {
  return [...text].toSorted().join('');
}

/** Returns the first difference between the texts, or `null` if they are equal. */
function firstDifference(ofServer: string, ofMock: string): string | null {
  if (ofServer === ofMock) return null;
  const start = [...ofServer].findIndex((character, i) => character !== ofMock[i]);
  const [one, other] = [ofServer, ofMock].map((text) => text.slice(Math.max(0, start - 60), start + 60));
  const areReordered = sortedMembersOf(ofServer) === sortedMembersOf(ofMock);
  return `\n    server …${one}…\n    mock   …${other}…${areReordered ? REORDERED : ''}`;
}

type Compared = { readonly whole: string[]; readonly kept: string[]; readonly statuses: Set<string>; count: number };

// Reading operations come first, because writes change the data, and deletions last, because actions need the rows.
const placeOf = ({ method }: Operation) => (method === 'get' ? 0 : method === 'delete' ? 2 : 1);
const inOrder = operations.toSorted((a, b) => placeOf(a) - placeOf(b));
let compared: Promise<Compared> | undefined;

/** Sends every request to the server and to the mocks, once for several tests. */
function compareAll(): Promise<Compared> {
  compared ??= compare();
  return compared;
}

async function compare(): Promise<Compared> {
  const found: Compared = { whole: [], kept: [], statuses: new Set(), count: 0 };
  for (const operation of inOrder) {
    const { refused, others } = requestsOf(operation);
    while (refused.length > 0)
      await Promise.all(refused.splice(0, AT_ONCE).map((sent) => compareOne(operation, sent, found)));
    for (const sent of others) {
      // The stateless mock has every row. So the row with the client's own id is created on the server and on the stateful mock.
      const upsert = operations.find(({ method, path }) => method === 'put' && path === operation.path);
      if (upsert !== undefined && operation.method !== 'get') {
        const request = { ...requestFor(upsert, { id: '', references }), url: sent.request.url };
        await Promise.all([ours.client, sides[1]].map((client) => sendTo(client, request)));
      }
      await compareOne(operation, sent, found);
    }
  }
  return found;
}

async function compareOne(operation: Operation, { request, each }: Sent, found: Compared): Promise<void> {
  const { what, ...changes } = each;
  const sending = { key: ours.key, ...changes };
  const [ofServer, ofMock, ofStateless] = await Promise.all([
    sendTo(sides[0], request, sending),
    sendTo(sides[1], request, sending),
    sendTo(sides[2], request, sending),
  ]);
  found.count += 1;
  found.statuses.add(`${operation.operationId} ${ofServer.status}`);
  const [one = '', other = ''] = [ofServer, ofMock].map((reply) => JSON.stringify(comparable(operation, reply)));
  const difference = firstDifference(one, other);
  if (difference !== null) found.whole.push(`${operation.operationId}, ${what}: ${difference}`);
  const both = { server: ofServer, mock: ofStateless };
  if (isIndependent(operation, ofServer)) found.kept.push(differenceOf(operation, what, both, exactLikeness) ?? 'none');
  await removeCreated([ofServer, ofMock]);
}

/** Deletes what a request has created, so that the next request does not get a 409. */
async function removeCreated(replies: readonly Reply[]): Promise<void> {
  for (const [i, { status, headers }] of replies.entries())
    if (status === 201) await [ours.client, sides[1]][i]?.delete(headers['location'] ?? '');
}

test('at least 300 requests get the same whole response from the server and from a mock that keeps data', async () => {
  const { whole, count } = await compareAll();
  expect(whole).toEqual([]);
  expect(count).toBeGreaterThanOrEqual(300);
});

test('a mock that keeps nothing refuses with the same headers and messages, and its successes have the same headers and shape', async () => {
  const { kept, statuses } = await compareAll();
  expect(kept.filter((line) => line !== 'none')).toEqual([]);
  const declared = operations.flatMap(({ operationId, responses }) =>
    INDEPENDENT_OF_DATA.flatMap((status) => (responses[status] === undefined ? [] : [`${operationId} ${status}`])),
  );
  const successes = operations.map((each) => `${each.operationId} ${Math.min(...successesOf(each))}`);
  expect([...statuses]).toEqual(expect.arrayContaining([...declared, ...successes]));
});

test('the proxy reports no violation for any of these requests', async () => {
  const { count } = await compareAll();
  expect(proxy.lines.filter((line) => line.startsWith('! '))).toEqual([]);
  expect(proxy.tally.requests).toBeGreaterThanOrEqual(count);
});

test.each([
  ['an absolute URL in its request line', 'GET http://charter.test/api/key', 200],
  ['no body and no Content-Length', 'POST /api/parent_programs', 422],
])('the proxy and the server read a request with %s in the same way', async (_, line, status) => {
  const request = rawRequest(line, [`Authorization: Bearer ${ours.key}`]);
  const [direct, forwarded] = await Promise.all([server.url, proxy.url].map((url) => exchangeRaw(url, request)));
  expect(parseRaw(direct ?? '').status).toBe(status);
  expect(parseRaw(forwarded ?? '').text).toBe(parseRaw(direct ?? '').text);
});

test('the proxy forwards the response unchanged, and browsers of any origin may read it', async () => {
  const direct = await ours.client.get('/api/parent_programs?limit=1');
  const forwarded = await sides[0].get('/api/parent_programs?limit=1');
  const { 'x-request-id': _id, date: _date, ratelimit: _left, ...headers } = direct.headers;
  expect(forwarded).toMatchObject({ status: 200, text: direct.text, headers });
  expect(forwarded.headers['access-control-allow-origin']).toBe('*');
  const preflight = { Origin: 'https://app.example.org', 'Access-Control-Request-Method': 'GET' };
  expect((await fetch(proxy.url, { method: 'OPTIONS', headers: preflight })).status).toBe(204);
});

test.each(['/openapi.json', '/openapi.yaml'])('%s is the same, with the same headers', async (path) => {
  const replies = [];
  for (const url of [server.url, mock.url])
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      const response = await fetch(`${url}${path}`, { method, headers: { 'Accept-Encoding': 'identity' } });
      const headers = [...response.headers]
        .filter(([name]) => !OF_THE_CONNECTION.test(name))
        .map(([name, value]) => [name, name === REQUEST_ID_HEADER ? '…' : value]);
      replies.push({ method, status: response.status, headers, text: (await response.text()).replaceAll(url, '') });
    }
  expect(replies.slice(4)).toEqual(replies.slice(0, 4));
});
