// The test client checks that every generated response matches the contract.
import { operations } from '../support/contract/contract.ts';
import { requestFor, sendTo } from '../support/contract/every-operation.ts';
import { idsOf, walk } from '../support/data/programs.ts';
import { useMock } from '../support/servers/mock.ts';

const LIST = '/api/parent_programs';
const IDS = 30;

const again = await useMock({ dynamicSeed: 'a' });
const mocks = [await useMock({ dynamicSeed: 'a' }), await useMock({ dynamicSeed: 'b' })] as const;

// All operations have refusals with the same schemas, so only the first operation's refusals are generated.
test.each(operations.map((operation, i) => ({ operation, leastRefusal: i === 0 ? 400 : 600 })))(
  '$operation.operationId: generated responses of every status match their schema',
  async ({ operation, leastRefusal }) => {
    const texts = new Set<string>();
    const statuses = Object.keys(operation.responses).map(Number);
    const generated = statuses.filter((status) => status < 400 || status >= leastRefusal);
    for (const { client } of mocks)
      for (const status of generated) {
        const request = requestFor(operation, { id: crypto.randomUUID() });
        const response = await sendTo(client, request, { headers: { Prefer: `code=${status}` } });
        expect(response.status).toBe(status);
        texts.add(`${status} ${response.text}`);
      }
    expect(texts.size).toBeGreaterThanOrEqual(generated.length);
  },
);

test(`${IDS} ids each have their own data, the same on every request`, async () => {
  const [{ client }] = mocks;
  const names = new Set<string>();
  for (let i = 0; i < IDS; i += 1) {
    const url = `${LIST}/${crypto.randomUUID()}`;
    const first = await client.get(url);
    const same = await client.get(url, { headers: { 'If-None-Match': first.headers['etag'] } });
    expect([first.status, same.status]).toEqual([200, 304]);
    names.add(first.body.name);
  }
  expect(names.size).toBeGreaterThan((IDS * 5) / 6);
});

test('paging through a list ends, and every item is found by its id and by its external_id', async () => {
  for (const { client } of mocks) {
    const pages = await walk(client, `${LIST}?limit=7&sort=-updated_at`);
    const ids = idsOf(pages);
    expect(ids.length).toBeGreaterThan(10);
    expect(new Set(ids).size).toBe(ids.length);
    const item = pages[1]?.body.data[0];
    expect((await client.get(`${LIST}/${item.id}`)).body).toEqual(item);
    const owned = pages.flatMap(({ body }) => body.data).find(({ external_id: ownId }) => ownId !== null);
    const byOwnId = await client.get(`${LIST}/by_external_id/${encodeURIComponent(owned.external_id)}`);
    expect(byOwnId.body).toEqual(owned);
    const other = await client.get(`${LIST}/by_external_id/another`, { headers: { Prefer: 'dynamic=false' } });
    expect(other.body).toMatchObject({ external_id: 'another' });
  }
});

test('the response contains the fields sent', async () => {
  const [{ client }] = mocks;
  const sent = { name: 'Aegean Fellowship', description: null, external_id: 'x', metadata: { a: 'b' } };
  expect((await client.post(LIST, sent)).body).toMatchObject(sent);
  expect((await client.patch(`${LIST}/${crypto.randomUUID()}`, { name: 'y' })).body.name).toBe('y');
});

test('the same seed generates the same data, and another seed other data', async () => {
  const [ofA, ofB] = await Promise.all(mocks.map(async ({ client }) => (await client.get(LIST)).text));
  expect((await again.client.get(LIST)).text).toBe(ofA);
  expect(ofB).not.toBe(ofA);
});

test('a requested example is returned unchanged', async () => {
  const [{ client }] = mocks;
  const response = await client.get('/api/key', { headers: { Prefer: 'example=read_only' } });
  expect(response.body).toMatchObject({ name: 'Reporting', permissions: ['parent_programs:read'] });
});
