import { idsOf, walk } from '../support/data/programs.ts';
import { startTestMock, useMock } from '../support/servers/mock.ts';

const LIST = '/api/parent_programs';
/** The id of the contract's first example. */
const NORDIC = '019c2291-34b8-752e-bca9-6513269e0d37';

const mock = await useMock();

test.each([1, 7, 25, 100])('list pages of %p items end, and return every item once', async (limit) => {
  const pages = await walk(mock.client, `${LIST}?limit=${limit}`);
  const ids = idsOf(pages);
  expect({ items: ids.length, different: new Set(ids).size }).toEqual({ items: 60, different: 60 });
  expect(pages.map(({ body }) => body.page.limit)).toEqual(Array(Math.ceil(60 / limit)).fill(limit));
});

test('the first items are the examples of the contract, and every item is found by its id', async () => {
  const { body } = await mock.client.get(`${LIST}?limit=100`);
  const nordic = body.data.find(({ id }: { id: string }) => id === NORDIC);
  expect(nordic).toMatchObject({ name: 'Nordic Scholars Exchange', external_id: 'sis-20417' });
  for (const item of body.data) expect((await mock.client.get(`${LIST}/${item.id}`)).body).toEqual(item);
});

test('external ids are unique, as the contract says', async () => {
  const { body } = await mock.client.get(`${LIST}?limit=100`);
  const ids = body.data.flatMap(({ external_id: id }: { external_id: string | null }) => id ?? []);
  expect(ids.length).toBeGreaterThan(30);
  expect(new Set(ids).size).toBe(ids.length);
});

test('any other id returns an item with that id in lower case', async () => {
  const id = crypto.randomUUID();
  const response = await mock.client.get(`${LIST}/${id.toUpperCase()}`);
  expect(response.body).toMatchObject({ id, name: 'Nordic Scholars Exchange' });
});

test('a create returns the fields sent, and the defaults for the others', async () => {
  const sent = { name: 'Aegean Fellowship', metadata: { region: 'aegean' } };
  const response = await mock.client.post(LIST, sent);
  expect(response.body).toMatchObject({ ...sent, description: null, external_id: null });
  expect(response.headers['location']).toBe(`${LIST}/${response.body.id}`);
});

test('equal creates get the same id, and different creates different ids', async () => {
  const ids = await Promise.all(
    ['First', 'First', 'Second'].map(async (name) => (await mock.client.post(LIST, { name })).body.id),
  );
  expect(ids[0]).toBe(ids[1]);
  expect(ids[0]).not.toBe(ids[2]);
});

test('an update applies a merge patch to the item and changes updated_at', async () => {
  const before = (await mock.client.get(`${LIST}/${NORDIC}`)).body;
  const patch = { description: null, metadata: { region: null, colour: 'amber', new: 'x' } };
  const { body } = await mock.client.patch(`${LIST}/${NORDIC}`, patch);
  expect(body).toEqual({
    ...before,
    description: null,
    metadata: { colour: 'amber', new: 'x' },
    updated_at: expect.not.stringMatching(before.updated_at),
  });
});

test('an update without changes keeps updated_at', async () => {
  const before = await mock.client.get(`${LIST}/${NORDIC}`);
  const after = await mock.client.patch(`${LIST}/${NORDIC}`, {});
  expect(after).toMatchObject({ body: before.body, headers: { etag: before.headers['etag'] } });
});

// The attack: naming an entry after a property of every object, so that an assignment loses the entry or sets the prototype.
test('a metadata entry named __proto__ is an entry like any other', async () => {
  const { body } = await mock.client.patch(`${LIST}/${NORDIC}`, '{"metadata":{"__proto__":"x"}}');
  expect(Object.entries(body.metadata)).toContainEqual(['__proto__', 'x']);
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
});

test('the mock stores nothing: a deleted or changed item stays as it was', async () => {
  const before = await mock.client.get(`${LIST}/${NORDIC}`);
  expect((await mock.client.delete(`${LIST}/${NORDIC}`)).status).toBe(204);
  expect((await mock.client.get(`${LIST}/${NORDIC}`)).text).toBe(before.text);
});

test('a test environment accepts test keys and no live key', async () => {
  await using other = await startTestMock({ environment: 'test' });
  expect(other.key).toMatch(/^charter_test_/);
  expect((await other.client.get('/api/key')).status).toBe(200);
  expect((await other.client.get('/api/key', { key: mock.key })).status).toBe(401);
});
