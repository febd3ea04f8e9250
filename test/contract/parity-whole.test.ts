// The same requests are sent to a server and to a mock with the same data, and the whole responses are compared: status, every
// header and the body. The requests come from the document, so that a new operation is included.

import { ADDED_BY_THE_MOCK, checkMockResponse, type Operation, operations } from '../support/contract/contract.ts';
import { requestFor, sendTo } from '../support/contract/every-operation.ts';
import { likeness } from '../support/contract/parity.ts';
import { badRequests, type Case, goodRequests } from '../support/contract/parity-cases.ts';
import { lists, tableOf } from '../support/contract/resources.ts';
import { Client, type Reply } from '../support/http/client.ts';
import { useMock } from '../support/http/mock.ts';
import { createTestOrganization, useServer } from '../support/http/server.ts';
import { insertItems } from '../support/postgres/rows.ts';

const [server, mock] = await Promise.all([useServer(), useMock({ isStateful: true })]);
const ours = await createTestOrganization(server);
const sides = [ours.client, new Client(mock.url, ours.key, checkMockResponse)] as const;

/** The items of each list, which both sides have. */
const items = new Map<string, { readonly id: string }[]>();
for (const path of lists) {
  const { body } = await sides[1].get(`${path}?limit=100`);
  await insertItems(server.db, { organizationId: ours.id, table: tableOf({ path }) }, body.data);
  items.set(path, body.data);
}
const references = Object.fromEntries(
  [...items].map(([path, [first]]) => [`${tableOf({ path }).replace(/s$/, '')}_id`, first?.id ?? '']),
);

/** What each side chooses: ids, times and entity tags of new rows, and cursors. Limits are those of the server. */
const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const TAG = /("etag":)"\\"[\w-]{22}\\""/g;
const CURSOR = /(cursor=|"next_cursor":")[\w-]+/g;
const OF_THE_CONNECTION = /^(date|connection|keep-alive|transfer-encoding)$/;
/** Another one for each request. */
const OF_THE_REQUEST = 'x-request-id';

function comparable(operation: Operation, { status, headers, text, ...reply }: Reply): unknown {
  // The key and its organization are each side's own.
  const isOwn = !items.has(`/${operation.path.split('/').slice(1, 3).join('/')}`) && status < 400;
  const isWrite = operation.method !== 'get';
  const ofEachSide = (value: string) => {
    const withoutCursor = value.replace(CURSOR, '$1…').replace(/\b([qrt])=\d+/g, '$1=…');
    return isWrite
      ? withoutCursor.replace(ID, 'an id').replace(TIME, 'a time').replace(TAG, '$1"a tag"')
      : withoutCursor;
  };
  // PostgreSQL writes the JSON of a list, with some spaces, and each side chooses the length of its cursors. So a list has
  // another length, and another entity tag.
  const isList = lists.includes(operation.path) && status < 300;
  const differs = (name: string) =>
    name === OF_THE_REQUEST ||
    (name === 'etag' && (isWrite || isOwn || isList)) ||
    (name === 'content-length' && (isOwn || isList));
  const compared = Object.entries(headers)
    .filter(([name]) => !OF_THE_CONNECTION.test(name) && !ADDED_BY_THE_MOCK.test(name))
    .map(([name, value = '']) => [name, differs(name) ? '…' : ofEachSide(value)]);
  const body = isOwn ? likeness(operation, { status, headers, text, ...reply }) : ofEachSide(compact(text));
  return { status, headers: Object.fromEntries(compared.sort()), body };
}

/** The same JSON without spaces between its tokens. */
function compact(text: string): string {
  return text === '' ? '' : JSON.stringify(JSON.parse(text));
}

/** The cases of the operation, each on an item of its own. */
function requestsOf(operation: Operation): { readonly request: ReturnType<typeof requestFor>; readonly each: Case }[] {
  const list = lists.find((path) => path === operation.path.split('/{')[0]) ?? lists[0] ?? '';
  const ids = items.get(list) ?? [];
  const requestAt = (i: number) => requestFor(operation, { id: ids[i % ids.length]?.id ?? '', references });
  const casesOf = (i: number) => {
    const request = requestAt(i);
    return [...badRequests(operation, request, ours.key), ...goodRequests(operation, request, ours.key)];
  };
  const { length } = casesOf(0);
  return Array.from({ length }, (_, i) => ({ request: requestAt(i), each: casesOf(i)[i] ?? { what: '' } }));
}

/** Where the texts begin to differ; `null` if they are equal. */
function differenceOf(ofServer: string, ofMock: string): string | null {
  if (ofServer === ofMock) return null;
  const start = [...ofServer].findIndex((character, i) => character !== ofMock[i]);
  const [server, mock] = [ofServer, ofMock].map((text) => text.slice(Math.max(0, start - 60), start + 60));
  return `\n    server …${server}…\n    mock   …${mock}…`;
}

let count = 0;

// In this order, because writes change the data.
const inOrder = operations.toSorted((a, b) => Number(a.method !== 'get') - Number(b.method !== 'get'));

test('at least 300 requests get the same whole response', async () => {
  const differences: string[] = [];
  for (const operation of inOrder) {
    for (const { request, each } of requestsOf(operation)) {
      const { what, ...changes } = each;
      const [ofServer, ofMock] = await Promise.all(
        sides.map(async (client) =>
          comparable(operation, await sendTo(client, request, { key: ours.key, ...changes })),
        ),
      );
      count += 1;
      const difference = differenceOf(JSON.stringify(ofServer), JSON.stringify(ofMock));
      if (difference !== null) differences.push(`${operation.operationId}, ${what}: ${difference}`);
    }
  }
  expect(differences).toEqual([]);
  expect(count).toBeGreaterThanOrEqual(300);
});

test.each(['/openapi.json', '/openapi.yaml'])('%s is the same, with the same headers', async (path) => {
  const replies = [];
  for (const url of [server.url, mock.url])
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      const response = await fetch(`${url}${path}`, { method, headers: { 'Accept-Encoding': 'identity' } });
      const headers = [...response.headers]
        .filter(([name]) => !OF_THE_CONNECTION.test(name))
        .map(([name, value]) => [name, name === OF_THE_REQUEST ? '…' : value]);
      replies.push({ method, status: response.status, headers, text: (await response.text()).replaceAll(url, '') });
    }
  expect(replies.slice(4)).toEqual(replies.slice(0, 4));
});
