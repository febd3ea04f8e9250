// Generated data matches the schema: the test client checks every response against the contract.
import { operations } from '../support/contract/contract.ts';
import { requestFor, sendTo, withQuery } from '../support/contract/every-operation.ts';
import { idsOf, walk } from '../support/data/programs.ts';
import { useMock } from '../support/servers/mock.ts';

const LIST = '/api/parent_programs';
/** Generated responses of each status by each mock. */
const RESPONSES = 2;
const IDS = 100;

const again = await useMock({ dynamicSeed: 'a' });
const mocks = [
  await useMock({ dynamicSeed: 'a' }),
  await useMock({ dynamicSeed: 'b' }),
  await useMock({ dynamicSeed: 'c' }),
] as const;

describe.each(operations)('$operationId', (operation) => {
  test('many generated responses of every status match their schema', async () => {
    const texts = new Set<string>();
    const statuses = Object.keys(operation.responses).map(Number);
    for (const { client } of mocks) {
      for (const status of statuses) {
        for (let i = 0; i < RESPONSES; i += 1) {
          const request = requestFor(operation, { id: crypto.randomUUID() });
          // A refusal can be forced for any request; another path gets other data.
          const url = status < 400 ? request.url : withQuery(request.url, `n=${i}`);
          const response = await sendTo(client, request, { url, headers: { Prefer: `code=${status}` } });
          expect(response.status).toBe(status);
          texts.add(response.text);
        }
      }
    }
    const refusals = statuses.filter((status) => status >= 400).length;
    expect(texts.size).toBeGreaterThan(refusals * mocks.length * (RESPONSES - 1));
  });
});

test(`${IDS} ids each have their own data, the same on every request`, async () => {
  const [{ client }] = mocks;
  const names = new Set<string>();
  for (let i = 0; i < IDS; i += 1) {
    const url = `${LIST}/${crypto.randomUUID()}`;
    const first = await client.get(url);
    const again = await client.get(url, { headers: { 'If-None-Match': first.headers['etag'] } });
    expect([first.status, again.status]).toEqual([200, 304]);
    names.add(first.body.name);
  }
  expect(names.size).toBeGreaterThan((IDS * 5) / 6);
});

test('paging through a list ends, and every item is found by its id', async () => {
  for (const { client } of mocks) {
    const pages = await walk(client, `${LIST}?limit=7&sort=-updated_at`);
    const ids = idsOf(pages);
    expect(ids.length).toBeGreaterThan(10);
    expect(new Set(ids).size).toBe(ids.length);
    const item = pages[1]?.body.data[0];
    expect((await client.get(`${LIST}/${item.id}`)).body).toEqual(item);
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
