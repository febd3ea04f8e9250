// Runs the same scenarios on the mock with --stateful and on the server, and compares the outcomes.
import { Store } from '../../scripts/mock/store.ts';
import type { Client, Reply, Sending } from '../support/clients/client.ts';
import { operations } from '../support/contract/contract.ts';
import { differenceOf, exactLikeness } from '../support/contract/parity.ts';
import { idsOf, nextOf, walk } from '../support/data/programs.ts';
import { startTestMock, type TestMock, useMock } from '../support/servers/mock.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { readFeed } from '../support/traffic/feed.ts';

const LIST = '/api/parent_programs';
/** The id of the contract's first example. */
const NORDIC = '019c2291-34b8-752e-bca9-6513269e0d37';
const UNKNOWN = '019c2291-34b8-752e-bca9-000000000000';

const server = await useServer();
const mock = await useMock({ isStateful: true });

async function reset({ url }: TestMock, body: object): Promise<Response> {
  return fetch(`${url}/__mock/reset`, { method: 'POST', body: JSON.stringify(body) });
}

type Send = (method: string, url: string, sending?: Sending) => Promise<Reply>;
type Exchanged = { readonly what: string; readonly reply: Reply };
type Scenario = (send: Send) => Promise<void>;

/** Runs the scenario on the mock or the server, from an empty list. */
async function run(client: Client, scenario: Scenario): Promise<Exchanged[]> {
  const exchanged: Exchanged[] = [];
  await scenario(async (method, url, sending) => {
    const reply = await client.send(method, url, sending);
    exchanged.push({ what: `${method} ${withoutChosenParts(url)} -> ${reply.status}`, reply });
    return reply;
  });
  return exchanged;
}

/** Replaces what the mock and the server each choose: ids, times and cursors. */
function withoutChosenParts(url: string): string {
  return url
    .replace(/[0-9a-f-]{36}/i, '{id}')
    .replace(/(by_external_id)\/.*/, '$1/{external_id}')
    .replace(/(cursor|updated_since)=[^&]+/, '$1');
}

const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const METADATA = /"metadata":\{[^}]*\}/g;

/**
 * Returns the body without the ids and times that the mock and the server choose. `isChanged`: whether updated_at is later than
 * created_at.
 */
function dataOf({ body, text }: Reply): unknown {
  if (typeof body?.message === 'string') return JSON.parse(text.replace(ID, 'an id'));
  const withoutChosen = (item: Record<string, unknown>) => {
    const { id: _id, created_at: createdAt, updated_at: updatedAt, metadata: _metadata, ...rest } = item;
    return { ...rest, ...(createdAt !== undefined && { isChanged: createdAt !== updatedAt }) };
  };
  // Metadata is compared as text, because an object would list names such as "10" before all others. The spaces that PostgreSQL
  // adds are removed.
  const metadata = (text.match(METADATA) ?? []).map((each) => each.replaceAll(/" ?([:,]) ?"/g, '"$1"'));
  if (Array.isArray(body?.results)) return [metadata, body.results.map(({ status }: Reply) => status)];
  return [metadata, Array.isArray(body?.data) ? body.data.map(withoutChosen) : body && withoutChosen(body)];
}

function differences(ofServer: readonly Exchanged[], ofMock: readonly Exchanged[]): string[] {
  return ofServer.flatMap(({ what, reply }, i) => {
    const other = ofMock[i];
    if (other === undefined || other.what !== what) return [`${i}: server ${what}, mock ${other?.what}`];
    const [, method = '', path = ''] = /^(\w+) ([^ ?]+)/.exec(what) ?? [];
    const operation = operations.find(
      (each) => each.path === path && each.method === method.toLowerCase().replace('head', 'get'),
    );
    if (operation === undefined) throw new Error(`The contract does not have ${method} ${path}.`);
    const liken = (each: typeof operation, side: Reply) => [
      exactLikeness(each, side.status < 400 ? side : { ...side, text: '' }),
      dataOf(side),
    ];
    return differenceOf(operation, what, { server: reply, mock: other.reply }, liken) ?? [];
  });
}

const create = (send: Send, body: unknown, headers: Sending['headers'] = {}) => send('POST', LIST, { body, headers });

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  async 'the entries of metadata are in one order'(send) {
    const metadata = { zz: '1', é: '2', a: '3', 10: '4', 9: '5', B: '6', aaa: '7' };
    const { body, headers } = await create(send, { name: 'First', external_id: 'sis-1', metadata });
    const url = `${LIST}/${body.id}`;
    await send('PATCH', url, {
      body: { metadata: { 9: null, 8: '1', ab: '2' } },
      headers: { 'If-Match': headers['etag'] },
    });
    await send('PUT', `${LIST}/by_external_id/sis-1`, {
      body: { name: 'Second', metadata: { b: '1', 100: '2', a: '3' } },
    });
    const { headers: read } = await send('GET', url);
    const upsert = { action: 'upsert', external_id: 'sis-1', body: { name: 'Third', metadata } };
    const batch = await send('POST', `${LIST}/batch`, { body: { changes: [{ ...upsert, if_match: read['etag'] }] } });
    expect(batch.body.results[0]).toMatchObject({ status: 200, etag: (await send('GET', url)).headers['etag'] });
    await send('GET', LIST);
  },
  async 'create, list, read, update, delete, and 404 afterwards'(send) {
    await send('GET', LIST);
    const { body, headers } = await create(send, { name: 'First', metadata: { a: 'b' } });
    const url = `${LIST}/${body.id}`;
    expect(headers['location']).toBe(url);
    await send('GET', LIST);
    await send('GET', url);
    await send('HEAD', url);
    await send('GET', url.toUpperCase().replace(LIST.toUpperCase(), LIST));
    await send('PATCH', url, { body: { description: 'Text', metadata: { a: null, c: 'd' } } });
    await send('PATCH', url, { body: {} });
    await send('GET', url);
    await send('DELETE', url);
    for (const method of ['GET', 'DELETE']) await send(method, url);
    await send('PATCH', url, { body: { name: 'Gone' } });
    await send('GET', LIST);
  },
  async '409 for a taken external_id, on create and on update, until it is free again'(send) {
    const first = await create(send, { name: 'First', external_id: 'sis-"1"' });
    const second = await create(send, { name: 'Second', external_id: 'sis-2' });
    await create(send, { name: 'Third', external_id: 'sis-"1"' });
    await send('PATCH', `${LIST}/${second.body.id}`, { body: { external_id: 'sis-"1"' } });
    await send('PATCH', `${LIST}/${second.body.id}`, { body: { external_id: 'sis-2', name: 'Still second' } });
    await send('DELETE', `${LIST}/${first.body.id}`);
    await send('PATCH', `${LIST}/${second.body.id}`, { body: { external_id: 'sis-"1"' } });
    await create(send, { name: 'Fourth', external_id: 'sis-2' });
    await create(send, { name: 'Without' });
    await create(send, { name: 'Without' });
  },
  async 'an Idempotency-Key: the first response again, 422 for another body, and nothing after a refusal'(send) {
    const key = { 'Idempotency-Key': 'import-7' };
    const body = { name: 'First', external_id: 'sis-1', metadata: { a: 'b', c: 'd' } };
    const { body: created, headers } = await create(send, body, key);
    await send('PATCH', `${LIST}/${created.id}`, { body: { name: 'Renamed' } });
    const again = await create(send, { ...body, description: null, metadata: { c: 'd', a: 'b' } }, key);
    expect([again.body, again.headers['etag'], again.headers['location']]).toEqual([
      created,
      headers['etag'],
      headers['location'],
    ]);
    await create(send, { ...body, name: 'Other' }, key);
    await send('DELETE', `${LIST}/${created.id}`);
    await create(send, body, key);
    await send('GET', LIST);
    const other = { 'Idempotency-Key': 'import-8' };
    await create(send, { name: 'Holder', external_id: 'sis-2' });
    await create(send, { name: 'Refused', external_id: 'sis-2' }, other);
    await create(send, { name: 'Accepted', external_id: 'sis-3' }, other);
    await send('GET', LIST);
  },
  async 'ETag, If-Match and If-None-Match follow each change'(send) {
    const { body, headers } = await create(send, { name: 'First' });
    const url = `${LIST}/${body.id}`;
    const first = headers['etag'];
    await send('GET', url, { headers: { 'If-None-Match': first } });
    const { headers: changed } = await send('PATCH', url, { body: { name: 'Second' }, headers: { 'If-Match': first } });
    expect(changed['etag']).not.toBe(first);
    await send('PATCH', url, { body: { name: 'Third' }, headers: { 'If-Match': first } });
    await send('DELETE', url, { headers: { 'If-Match': first } });
    await send('PATCH', url, { body: {}, headers: { 'If-Match': first } });
    await send('GET', url, { headers: { 'If-None-Match': first } });
    await send('GET', url, { headers: { 'If-None-Match': changed['etag'] } });
    await send('PATCH', url, { body: { name: 'Fourth' }, headers: { 'If-Match': '*' } });
    await send('PATCH', `${LIST}/${UNKNOWN}`, { body: { name: 'None' }, headers: { 'If-Match': first } });
    await send('DELETE', url, { headers: { 'If-Match': (await send('GET', url)).headers['etag'] } });
  },
  async 'a list: its ETag changes with its items, and filters and sorting see every change'(send) {
    const names = ['Beta Exchange', 'alpha exchange', 'Gamma', 'Ａ wide', '😀 exchange', 'éclair EXCHANGE'];
    for (const [i, name] of names.entries()) await create(send, { name, external_id: `sis-${i}` });
    const list = await send('GET', LIST);
    await send('GET', LIST, { headers: { 'If-None-Match': list.headers['etag'] } });
    await send('PATCH', `${LIST}/${list.body.data[2].id}`, { body: { name: 'Delta', external_id: 'moved' } });
    await send('GET', LIST, { headers: { 'If-None-Match': list.headers['etag'] } });
    for (const sort of ['name', '-name', 'created_at', '-created_at', 'updated_at', '-updated_at'])
      await send('GET', `${LIST}?sort=${sort}`);
    const searches = ['EXCHANGE', 'gamma', 'e\u0301CLAIR', '\uff41 w', 'e\u0301x', 'Éclair exchange '];
    const filters = [
      'external_id=moved',
      'external_id=sis-2',
      ...searches.map((text) => `search=${encodeURIComponent(text)}`),
    ];
    for (const query of filters) await send('GET', `${LIST}?${query}`);
    const { body } = await send('GET', `${LIST}/${list.body.data[2].id}`);
    await send('GET', `${LIST}?updated_since=${body.updated_at}`);
  },
  async 'paging goes on where it was, although the last item of a page is deleted and others are created'(send) {
    for (let i = 0; i < 9; i += 1) await create(send, { name: `Program ${i}` });
    for (const sort of ['created_at', '-name']) {
      const first = await send('GET', `${LIST}?limit=3&sort=${sort}`);
      await send('DELETE', `${LIST}/${first.body.data[2].id}`);
      await create(send, { name: 'Program 2a' });
      let next = nextOf(first);
      while (next !== undefined) {
        const page = await send('GET', next);
        next = nextOf(page);
      }
    }
    const { body } = await send('GET', `${LIST}?limit=2`);
    await send('GET', `${LIST}?limit=2&sort=name&cursor=${body.page.next_cursor}`);
  },
  async 'conditions of an upsert, and an atomic batch that is refused'(send) {
    const url = `${LIST}/by_external_id/sis-1`;
    const batch = (...changes: object[]) => send('POST', `${LIST}/batch`, { body: { atomic: true, changes } });
    await send('PUT', url, { body: { name: 'First' } });
    await send('PUT', url, { body: { name: 'Second' }, headers: { 'If-None-Match': '*' } });
    await send('PUT', `${LIST}/by_external_id/sis-2`, { body: { name: 'Second' }, headers: { 'If-Match': '*' } });
    const create = (externalId: string) => ({ action: 'create', body: { name: 'Third', external_id: externalId } });
    await batch(create('sis-1'), create('sis-3'), create('sis-3'), { action: 'create', body: {} });
    await batch({ action: 'create', body: [] });
    await send('GET', LIST);
  },
  async 'reading and deleting by external_id, one by one and in a batch'(send) {
    const url = `${LIST}/by_external_id/sis-1`;
    const batch = (...changes: object[]) => send('POST', `${LIST}/batch`, { body: { changes } });
    await send('GET', url);
    await send('DELETE', url);
    const { headers } = await send('PUT', url, { body: { name: 'First' } });
    await send('GET', url);
    await send('HEAD', url);
    await send('GET', url, { headers: { 'If-None-Match': headers['etag'] } });
    await send('DELETE', url, { headers: { 'If-Match': '"stale"' } });
    await send('DELETE', url, { headers: { 'If-Match': headers['etag'] } });
    await send('GET', url);
    await create(send, { name: 'Second', external_id: 'sis-2' });
    await batch(
      { action: 'delete', external_id: 'sis-1' },
      { action: 'delete', external_id: 'sis-2', if_match: '"stale"' },
      { action: 'delete', external_id: 'sis-2' },
      { action: 'delete', external_id: 'sis-2' },
      { action: 'delete' },
    );
    await send('GET', LIST);
  },
  async '422 for an update that is invalid together with the data, which stay as they were'(send) {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`entry_${i}`, 'x']));
    const { body } = await create(send, { name: 'Full', metadata });
    await send('PATCH', `${LIST}/${body.id}`, { body: { metadata: { another: 'x' } } });
    await send('PATCH', `${LIST}/${body.id}`, { body: { metadata: { entry_0: null, another: 'x' } } });
    await send('PATCH', `${LIST}/${body.id}`, { body: { name: null } });
    await send('GET', `${LIST}/${body.id}`);
  },
};

test.each(Object.keys(SCENARIOS))('%s: as on the server', async (name) => {
  const scenario = SCENARIOS[name];
  if (scenario === undefined) throw new Error(`There is no scenario ${name}.`);
  expect((await reset(mock, { empty: true })).status).toBe(200);
  const { client } = await createTestOrganization(server);
  const [ofServer, ofMock] = [await run(client, scenario), await run(mock.client, scenario)];
  expect(differences(ofServer, ofMock)).toEqual([]);
});

test('it begins with the items of the examples, and reset brings them back', async () => {
  await reset(mock, {});
  expect(idsOf(await walk(mock.client, `${LIST}?limit=25`))).toHaveLength(60);
  await mock.client.delete(`${LIST}/${NORDIC}`);
  expect((await mock.client.get(`${LIST}/${NORDIC}`)).status).toBe(404);
  await reset(mock, {});
  expect((await mock.client.get(`${LIST}/${NORDIC}`)).body.name).toBe('Nordic Scholars Exchange');
  expect((await mock.client.get(`${LIST}/${UNKNOWN}`)).status).toBe(404);
});

test('a reset forgets idempotency keys, events, forced responses, requests and the changes of a seed', async () => {
  const headers = { 'Idempotency-Key': 'x' };
  const items = [{ name: 'Seeded', external_id: 'a', metadata: { colour: 'green' } }];
  const begin = async () => {
    await reset(mock, { data: { parent_programs: items } });
    const [seeded] = (await mock.client.get(LIST)).body.data;
    expect(seeded).toMatchObject(items[0] ?? {});
    expect((await mock.client.get('/api/events')).body.data).toEqual([]);
    return seeded;
  };
  const seeded = await begin();
  const { body: first } = await mock.client.post(LIST, { name: 'First' }, { headers });
  await mock.client.patch(`${LIST}/${seeded.id}`, { external_id: null, metadata: { colour: null, size: 'x' } });
  mock.control.force({ operation: 'createParentProgram', status: 503, times: null });
  const again = await begin();
  expect(mock.log.all).toHaveLength(2);
  const second = await mock.client.post(LIST, { name: 'Second', external_id: 'b' }, { headers });
  expect([second.status, second.body.name, second.body.id === first.id]).toEqual([201, 'Second', false]);
  expect(again.id).toBe(seeded.id);
});

test('each mistake in a seed is named, and the data stay as they were', async () => {
  await reset(mock, { data: { parent_programs: [{ name: 'First' }] } });
  const items = [
    { nam: 'x' },
    { name: ' ', external_id: 3 },
    { name: 'x', external_id: 'a' },
    { name: 'y', external_id: 'a' },
    { name: '\ud800' },
  ];
  const refused = await reset(mock, { data: { parent_programs: items, programs: [] } });
  expect([refused.status, Object(await refused.json()).errors]).toEqual([
    422,
    {
      'parent_programs[0].name': ['is required.'],
      'parent_programs[0].nam': [
        expect.stringMatching(/^is not a field of parent_programs\. Allowed fields: id, name, /),
      ],
      'parent_programs[1].external_id': ['must be a string or null.'],
      'parent_programs[1].name': ['must not be blank.'],
      'parent_programs[3].external_id': ['must be unique; parent_programs[2] has the same.'],
      'parent_programs[4].name': ['is not valid. Remove NUL characters and unpaired surrogates.'],
      programs: [expect.stringMatching(/^is not a list of this API\. Lists: parent_programs, /)],
    },
  ]);
  expect((await mock.client.get(LIST)).body.data.map(({ name }: { name: string }) => name)).toEqual(['First']);
});

test('a refused batch leaves no item, event or idempotency key; a repeated one adds no event', async () => {
  await reset(mock, { empty: true });
  const send = (changes: readonly object[], others: object = {}) =>
    mock.client.post(`${LIST}/batch`, { changes, ...others }, { headers: { 'Idempotency-Key': 'x' } });
  const counts = async () => {
    const paths = [LIST, '/api/events'];
    return Promise.all(paths.map(async (path) => (await mock.client.get(path)).body.data.length));
  };
  const creation = { action: 'create', body: { name: 'x', external_id: 'a' } };
  const replacement = { action: 'upsert', external_id: 'a', body: { name: 'y' } };
  const deletion = { action: 'delete', id: UNKNOWN };
  expect((await send([creation, replacement, deletion], { atomic: true })).status).toBe(422);
  expect((await send([creation, { action: 'x' }])).status).toBe(422);
  expect(await counts()).toEqual([0, 0]);
  const made = await send([creation, deletion, replacement]);
  expect(made.body.results.map(({ status }: Reply) => status)).toEqual([201, 404, 200]);
  expect((await send([creation, deletion, replacement])).body).toEqual(made.body);
  expect((await send([creation])).status).toBe(422);
  expect(await counts()).toEqual([1, 2]);
});

test('every new item has its own id, although the bodies are equal', async () => {
  const ids = await Promise.all([1, 2, 3].map(async () => (await mock.client.post(LIST, { name: 'x' })).body.id));
  expect(new Set(ids).size).toBe(3);
});

test('a forced response, an example and generated data change nothing', async () => {
  await reset(mock, { empty: true });
  for (const Prefer of ['code=503', 'code=409', 'example=full', 'dynamic=true'])
    await mock.client.post(LIST, { name: 'x' }, { headers: { Prefer } });
  expect((await mock.client.get(LIST)).body.data).toEqual([]);
  const { body, headers } = await mock.client.post(LIST, { name: 'x' }, { headers: { Prefer: 'code=201' } });
  const example = { Prefer: 'example=renamed', 'If-Match': headers['etag'] };
  expect((await mock.client.patch(`${LIST}/${body.id}`, {}, { headers: example })).body.name).toBe(
    'Nordic Scholars Network',
  );
  expect((await mock.client.get(`${LIST}/${body.id}`)).body.name).toBe('x');
});

test('an idempotency key is forgotten after 24 hours, as on the server', async () => {
  let time = Date.parse('2026-11-20T10:00:00Z');
  await using own = await startTestMock({ isStateful: true, now: () => new Date(time) });
  const post = (name: string) => own.client.post(LIST, { name }, { headers: { 'Idempotency-Key': 'x' } });
  const first = await post('First');
  time += 24 * 3_600_000 - 1;
  expect([(await post('First')).body.id, (await post('Second')).status]).toEqual([first.body.id, 422]);
  time += 1;
  expect((await post('Second')).status).toBe(201);
});

test('each change is an event in the feed, as on the server', async () => {
  await reset(mock, { empty: true });
  const ours = await createTestOrganization(server);
  const outcomes: unknown[] = [];
  for (const client of [ours.client, mock.client]) {
    const start = await readFeed(client);
    const { body: created } = await client.post(LIST, { name: 'First' });
    const url = `${LIST}/${created.id}`;
    await client.patch(url, { name: 'Second' });
    await client.patch(url, { name: 'Second' });
    await client.delete(url);
    await client.post(`${LIST}/batch`, {
      changes: [
        { action: 'upsert', external_id: 'a', body: { name: 'A' } },
        { action: 'upsert', external_id: 'b', body: { name: 'B' } },
        { action: 'upsert', external_id: 'a', body: { name: 'A 2' } },
        { action: 'create', body: { name: 'C' } },
        { action: 'upsert', external_id: 'b', body: { name: 'B 2' } },
      ],
    });
    const { events, cursor } = await readFeed(client, { cursor: start.cursor, query: 'limit=2' });
    const [event] = events;
    expect((await client.get(`/api/events/${event?.id}`)).body).toEqual(event);
    expect((await readFeed(client, { cursor })).events).toEqual([]);
    outcomes.push(events.map(({ type, data }) => ({ type, name: data.name, isOwn: data.id === created.id })));
  }
  expect(outcomes[1]).toEqual(outcomes[0]);
  expect(outcomes[0]).toHaveLength(8);
});

test('the oldest of more than 10,000 items makes room, with a warning', () => {
  const warnings: string[] = [];
  const collections = [{ path: LIST, items: [{ id: 'first' }], examples: new Map() }];
  const store = new Store({ collections, now: () => new Date(), onLimit: (warning) => warnings.push(warning) });
  for (let i = 1; i < 10_000; i += 1) store.put(LIST, { id: String(i) });
  expect([warnings, store.find(LIST, 'first')]).toEqual([[], { id: 'first' }]);
  store.put(LIST, { id: 'one too many' });
  expect(warnings).toEqual([`The mock keeps 10000 items of ${LIST}, and has removed the oldest one, first.`]);
  expect([store.itemsOf(LIST).length, store.find(LIST, 'first')]).toEqual([10_000, undefined]);
});

test('a mock without --stateful takes no data', async () => {
  await using stateless = await startTestMock();
  const response = await reset(stateless, { empty: true });
  expect([response.status, await response.json()]).toEqual([
    409,
    { message: 'The mock keeps nothing. Start it with --stateful.' },
  ]);
});
