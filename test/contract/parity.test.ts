// The mock responds as the server does to every request. The requests come from the document, so that a new operation is
// included.

import { checkMockResponse, operations } from '../support/contract/contract.ts';
import { prepare, sendTo } from '../support/contract/every-operation.ts';
import { differenceOf, exactLikeness } from '../support/contract/parity.ts';
import { badRequests, goodRequests } from '../support/contract/parity-cases.ts';
import { lists, tableOf } from '../support/contract/resources.ts';
import { insertPrograms, type Row, walk } from '../support/data/programs.ts';
import { Client } from '../support/http/client.ts';
import { useMock } from '../support/http/mock.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/http/server.ts';
import { insertItems } from '../support/postgres/rows.ts';

type Item = { name: string; external_id: string | null; created_at: string; updated_at: string };

/** Refusals that never depend on stored data. */
const INDEPENDENT_OF_DATA = [400, 401, 405, 406, 413, 414, 415, 422];

const [server, mock] = await Promise.all([useServer(), useMock()]);

describe.each(operations)('$operationId', (operation) => {
  test('refuses every invalid request with the same status, headers and messages', async () => {
    const { ours, client, request } = await prepare(server, operation);
    const mocked = new Client(mock.url, undefined, checkMockResponse);
    const differences: (string | null)[] = [];
    const statuses = new Set<number>();
    for (const { what, ...changes } of badRequests(operation, request, ours.key)) {
      const sending = { key: ours.key, ...changes };
      const sides = { server: await sendTo(client, request, sending), mock: await sendTo(mocked, request, sending) };
      statuses.add(sides.server.status);
      differences.push(differenceOf(operation, what, sides, exactLikeness));
    }
    expect(differences.filter((line) => line !== null)).toEqual([]);
    const declared = Object.keys(operation.responses).map(Number);
    expect([...statuses]).toEqual(
      expect.arrayContaining(declared.filter((each) => INDEPENDENT_OF_DATA.includes(each))),
    );
  });

  test('returns the same status, headers and shape for every valid request', async () => {
    const mocked = new Client(mock.url, undefined, checkMockResponse);
    const differences: (string | null)[] = [];
    const { length } = goodRequests(operation, { method: '', url: '', body: undefined, headers: {} }, '');
    for (let i = 0; i < length; i += 1) {
      // Each request may change stored data.
      const { ours, client, request } = await prepare(server, operation);
      if (operation.method === 'get') await insertLike(mocked, ours);
      const { what = '', ...changes } = goodRequests(operation, request, ours.key)[i] ?? {};
      const sending = { key: ours.key, ...changes };
      const sides = { server: await sendTo(client, request, sending), mock: await sendTo(mocked, request, sending) };
      expect(sides.server.status).toBeLessThan(300);
      differences.push(differenceOf(operation, what, sides, exactLikeness));
    }
    expect(differences.filter((line) => line !== null)).toEqual([]);
  });
});

test.each([
  'sort=name',
  'sort=-updated_at&limit=7',
  'search=HARBOUR&limit=3',
  'search=exchange&sort=-name',
  'external_id=sis-20533',
  'external_id=nobody',
  'updated_since=2026-04-05T00:00:00Z',
  'updated_since=2026-04-05T00:00:00%2B02:00&search=city&sort=-created_at&limit=1',
])('returns the same items on the same list pages for ?%s', async (query) => {
  const ours = await createTestOrganization(server);
  const mocked = new Client(mock.url, ours.key, checkMockResponse);
  await insertPrograms(server, ours, await rowsOf(mocked, ours.key));
  const [ofServer, ofMock] = await Promise.all(
    [ours.client, mocked].map(async (client) => {
      const pages = await walk(client, `/api/parent_programs?${query}`);
      return pages.map(({ body }) => body.data.map(({ name }: Item) => name));
    }),
  );
  expect(ofMock).toEqual(ofServer);
});

/** Inserts the items of every list of the mock, so that both sides list and find the same. */
async function insertLike(mocked: Client, { id: organizationId, key }: TestOrganization): Promise<void> {
  for (const path of lists) {
    const { body } = await mocked.get(`${path}?limit=100`, { key });
    await insertItems(server.db, { organizationId, table: tableOf({ path }) }, body.data);
  }
}

/** The items of the mock as rows for the server, so that both have the same number of list pages. */
async function rowsOf(mocked: Client, key: string): Promise<Row[]> {
  const items: readonly Item[] = (await mocked.get('/api/parent_programs?limit=100', { key })).body.data;
  return items.map(({ name, external_id: externalId, created_at: createdAt, updated_at: updatedAt }) => ({
    name,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    ...(externalId !== null && { externalId }),
  }));
}
