import type { Client, Reply } from '../support/clients/client.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { readFeed } from '../support/traffic/feed.ts';

const server = await useServer();

const LIST = '/api/parent_programs';
const BATCH = `${LIST}/batch`;
const UNKNOWN = '019c2291-34b8-752e-bca9-6513269e0d37';

type Change = {
  action: string;
  id?: string;
  external_id?: string;
  if_match?: string;
  if_none_match?: string;
  body?: object;
};
type Result = { status: number; etag: string | null; body: unknown; exception: { message: string } | null };
type Event = { type: string; data: { name: string } };

function send(client: Client, changes: readonly Change[], others: object = {}, key?: string) {
  return client.post(BATCH, { changes, ...others }, { headers: { 'Idempotency-Key': key } });
}

/** The results of a batch; fails unless it was processed. */
async function resultsOf(client: Client, changes: readonly Change[], others: object = {}): Promise<Result[]> {
  const response = await send(client, changes, others);
  expect(response.status).toBe(200);
  return response.body.results;
}

const statusesOf = (results: readonly Result[]) => results.map(({ status }) => status);

async function listed(client: Client) {
  return (await client.get(`${LIST}?limit=100&sort=name`)).body.data;
}

async function eventsOf(client: Client): Promise<Event[]> {
  return (await client.get('/api/events?limit=100')).body.data;
}

/** Sends the request that makes only this change. */
function single(client: Client, change: Change): Promise<Reply> {
  const { action, id = '', external_id: externalId = '', if_match: ifMatch, if_none_match: ifNoneMatch, body } = change;
  const headers = { 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch };
  switch (action) {
    case 'create':
      return client.post(LIST, body, { headers });
    case 'upsert':
      return client.put(`${LIST}/by_external_id/${encodeURIComponent(externalId)}`, body, { headers });
    case 'update':
      return client.patch(`${LIST}/${id}`, body, { headers });
    default:
      return client.delete(`${LIST}/${id}`, { headers });
  }
}

/** A single response as a result. */
function resultOf({ status, headers, body = null }: Reply): Result {
  const isMade = status < 300;
  return { status, etag: headers['etag'] ?? null, body: isMade ? body : null, exception: isMade ? null : body };
}

/** Without ids, times and entity tags, which two organizations do not share; equal ids stay equal. */
function comparable(value: unknown): unknown {
  const ids: string[] = [];
  const text = JSON.stringify(value, (name, member) =>
    name === 'etag' || name.endsWith('_at') ? typeof member : member,
  );
  const numbered = text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
    if (!ids.includes(id)) ids.push(id);
    return `id ${ids.indexOf(id)}`;
  });
  return JSON.parse(numbered);
}

/** The events in their order, each with what happened to which row. */
const storyOf = (events: readonly Event[]) => events.map(({ type, data }) => `${type} ${data.name}`);

type Seed = { readonly id: string; readonly etag: string };

/** Four rows, whose names are their external_ids. */
async function seeded(client: Client): Promise<readonly [Seed, Seed, Seed, Seed]> {
  const create = async (name: string): Promise<Seed> => {
    const { body, headers } = await client.post(LIST, { name, external_id: name, metadata: { [name]: '1' } });
    return { id: body.id, etag: headers['etag'] ?? '' };
  };
  return [await create('a'), await create('b'), await create('c'), await create('d')];
}

type Seeds = Awaited<ReturnType<typeof seeded>>;

const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`entry ${i}`, 'x']));

const CHANGES: readonly [what: string, changes: (rows: Seeds) => Change[]][] = [
  ['creations', () => ['x', 'y', 'z'].map((name) => ({ action: 'create', body: { name, external_id: name } }))],
  [
    'every action',
    ([a, b]) => [
      { action: 'create', body: { name: 'new' } },
      { action: 'upsert', external_id: 'c', body: { name: 'c 2' } },
      { action: 'upsert', external_id: 'e', body: { name: 'e', metadata: { x: '1' } } },
      { action: 'update', id: a.id, body: { metadata: { y: '2' } } },
      { action: 'delete', id: b.id },
    ],
  ],
  [
    'changes that change nothing',
    ([a]) => [
      { action: 'update', id: a.id, body: {} },
      { action: 'update', id: a.id, body: { name: 'a' } },
      { action: 'upsert', external_id: 'a', body: { name: 'a', metadata: { a: '1' } } },
    ],
  ],
  [
    'values that are not valid',
    ([a]) => [
      { action: 'create', body: { name: ' ' } },
      { action: 'create', body: { name: 'x', colour: 'red', metadata: { a: 1 } } },
      { action: 'create', body: {} },
      { action: 'create', body: { name: 'a\0', metadata: { '\ud800': 'x' } } },
      { action: 'upsert', external_id: '\0', body: { name: 'x' } },
      { action: 'upsert', external_id: 'x'.repeat(256), body: { name: 'x' } },
      { action: 'upsert', external_id: 'x', body: { name: 'x', external_id: 'x' } },
      { action: 'upsert', external_id: 'x', if_none_match: 'x', body: { name: 'x' } },
      { action: 'update', id: 'x', body: { name: 'x' } },
      { action: 'update', id: a.id, body: { name: null } },
      { action: 'update', id: a.id, if_match: 'x', body: { name: 'x' } },
      { action: 'update', id: a.id, body: { metadata: entries(50) } },
      { action: 'delete', id: 'x' },
    ],
  ],
  [
    'rows that do not exist',
    ([a]) => [
      { action: 'update', id: UNKNOWN, body: { name: 'x' } },
      { action: 'delete', id: UNKNOWN },
      { action: 'delete', id: a.id },
      { action: 'delete', id: a.id },
      { action: 'update', id: a.id, body: { name: 'x' } },
    ],
  ],
  [
    'conditions',
    ([a, b, c]) => [
      { action: 'update', id: a.id, if_match: a.etag, body: { name: 'a 2' } },
      { action: 'update', id: a.id, if_match: a.etag, body: { name: 'a 3' } },
      { action: 'delete', id: b.id, if_match: `W/${b.etag}` },
      { action: 'delete', id: b.id, if_match: b.etag },
      { action: 'upsert', external_id: 'c', if_none_match: '*', body: { name: 'x' } },
      { action: 'upsert', external_id: 'c', if_match: c.etag, body: { name: 'c 2' } },
      { action: 'upsert', external_id: 'c', if_match: c.etag, body: { name: 'c 3' } },
      { action: 'upsert', external_id: 'e', if_match: '*', body: { name: 'e' } },
      { action: 'upsert', external_id: 'e', if_none_match: '*', body: { name: 'e' } },
      { action: 'upsert', external_id: 'e', if_none_match: '*', body: { name: 'e 2' } },
    ],
  ],
  [
    'external_ids that are taken and given up',
    ([a, b, c, d]) => [
      { action: 'create', body: { name: 'x', external_id: 'a' } },
      { action: 'update', id: b.id, body: { external_id: 'a' } },
      { action: 'update', id: a.id, body: { external_id: 'a 2' } },
      { action: 'update', id: b.id, body: { external_id: 'a' } },
      { action: 'update', id: c.id, body: { external_id: 'b' } },
      { action: 'create', body: { name: 'x', external_id: 'c' } },
      { action: 'create', body: { name: 'y', external_id: 'c' } },
      { action: 'delete', id: d.id },
      { action: 'upsert', external_id: 'd', body: { name: 'd 2' } },
      { action: 'update', id: a.id, body: { external_id: null } },
      { action: 'update', id: c.id, body: { external_id: 'a 2' } },
    ],
  ],
  [
    'several changes of one row',
    ([a]) => [
      { action: 'update', id: a.id, body: { name: 'a 2' } },
      { action: 'update', id: a.id.toUpperCase(), body: { metadata: { b: '2' } } },
      { action: 'upsert', external_id: 'a', body: { name: 'a 3' } },
      { action: 'upsert', external_id: 'e', body: { name: 'e' } },
      { action: 'upsert', external_id: 'e', body: { name: 'e 2' } },
      { action: 'delete', id: a.id },
      { action: 'upsert', external_id: 'a', body: { name: 'a 4' } },
    ],
  ],
];

test.each(CHANGES)('the outcome of each change is that of its own request: %s', async (_, changesOf) => {
  const [{ client: batched }, { client: one }] = [
    await createTestOrganization(server),
    await createTestOrganization(server),
  ];
  const [changes, same] = [changesOf(await seeded(batched)), changesOf(await seeded(one))];
  const results = await resultsOf(batched, changes);
  const singles: Result[] = [];
  for (const change of same) singles.push(resultOf(await single(one, change)));
  expect(comparable(results)).toEqual(comparable(singles));
  expect(comparable(await listed(batched))).toEqual(comparable(await listed(one)));
  expect(storyOf(await eventsOf(batched))).toEqual(storyOf(await eventsOf(one)));
});

test('a result has the entity tag and the row that a read returns', async () => {
  const { client } = await createTestOrganization(server);
  const results = await resultsOf(client, [{ action: 'create', body: { name: 'x', metadata: { ab: '1', c: '2' } } }]);
  const [{ id }] = await listed(client);
  const { text, headers } = await client.get(`${LIST}/${id}`);
  expect(results.map(({ body, etag }) => [JSON.stringify(body), etag])).toEqual([[text, headers['etag']]]);
});

test('422 for a change with a member that its action does not have, or without one that it needs', async () => {
  const { client } = await createTestOrganization(server);
  const results = await resultsOf(client, [
    { action: 'create', id: UNKNOWN, body: { name: 'x' } },
    { action: 'upsert', id: UNKNOWN, external_id: 'x', body: { name: 'x' } },
    { action: 'delete', id: UNKNOWN, body: {} },
    { action: 'upsert', body: { name: 'x' } },
    { action: 'update', body: { name: 'x' } },
    { action: 'update', id: UNKNOWN },
    { action: 'create' },
  ]);
  expect(results.map(({ exception }) => exception?.message)).toEqual([
    'id is not a member of a change with the action "create". Allowed: body.',
    'id is not a member of a change with the action "upsert". Allowed: external_id, if_match, if_none_match, body.',
    'body is not a member of a change with the action "delete". Allowed: id, if_match.',
    'external_id is required.',
    'id is required.',
    'body is required.',
    'body is required.',
  ]);
  expect(await listed(client)).toEqual([]);
});

test.each([
  ['no changes', [], 'changes'],
  ['101 changes', Array.from({ length: 101 }, () => ({ action: 'create', body: { name: 'x' } })), 'changes'],
  ['an unknown action', [{ action: 'replace', body: {} }], 'changes.0.action'],
  ['an unknown member', [{ action: 'create', name: 'x' }], 'changes.0.name'],
  [
    'a member of another type',
    [
      { action: 'create', body: { name: 'x' } },
      { action: 'delete', id: 5 },
    ],
    'changes.1.id',
  ],
  ['changes that are no array', {}, 'changes'],
  ['a change that is no object', [{ action: 'create', body: { name: 'x' } }, 'x'], 'changes.1'],
  ['a body that is no object', [{ action: 'create', body: [] }], 'changes.0.body'],
])('422 for the whole batch with %s; nothing is changed', async (_, changes, field) => {
  const { client } = await createTestOrganization(server);
  const response = await client.post(BATCH, { changes });
  expect(response.status).toBe(422);
  expect(Object.keys(response.body.errors)).toEqual([field]);
  expect(await listed(client)).toEqual([]);
});

test('a body of 1 MiB is read, and one byte more gets 413', async () => {
  const { client } = await createTestOrganization(server);
  const changes = Array.from({ length: 100 }, (_, i) => ({
    action: 'upsert',
    external_id: `e-${i}`,
    body: { name: 'x', description: 'x'.repeat(10_000) },
  }));
  const full = JSON.stringify({ changes }).padEnd(1024 * 1024, ' ');
  const response = await client.post(BATCH, full);
  expect(response.status).toBe(200);
  expect(new Set(statusesOf(response.body.results))).toEqual(new Set([201]));
  const refused = await client.post(BATCH, `${full} `);
  expect(refused).toMatchObject({
    status: 413,
    body: { message: 'The body is larger than 1048576 bytes (1 MiB). Send a smaller body.' },
  });
});

test('ids of another organization are not found, and its rows stay as they are', async () => {
  const [ours, theirs] = [await createTestOrganization(server), await createTestOrganization(server)];
  const rows = await seeded(theirs.client);
  const before = await listed(theirs.client);
  const results = await resultsOf(ours.client, [
    ...rows.map(({ id }) => ({ action: 'update', id, body: { name: 'ours' } })),
    ...rows.map(({ id }) => ({ action: 'delete', id })),
    { action: 'upsert', external_id: 'a', body: { name: 'ours' } },
  ]);
  expect(statusesOf(results)).toEqual([...Array(8).fill(404), 201]);
  expect(await listed(theirs.client)).toEqual(before);
});

describe('an atomic batch', () => {
  test('makes all changes', async () => {
    const { client } = await createTestOrganization(server);
    const [a] = await seeded(client);
    const changes = [
      { action: 'create', body: { name: 'x' } },
      { action: 'delete', id: a.id },
      { action: 'upsert', external_id: 'b', body: { name: 'b 2' } },
    ];
    expect(statusesOf(await resultsOf(client, changes, { atomic: true }))).toEqual([201, 204, 200]);
    expect((await listed(client)).map(({ name }: { name: string }) => name)).toEqual(['b 2', 'c', 'd', 'x']);
  });

  const refused: [what: string, change: (rows: Seeds) => Change, status: number, field: string][] = [
    ['an invalid value', () => ({ action: 'create', body: { name: ' ' } }), 422, 'changes.2.name'],
    ['a row that does not exist', () => ({ action: 'delete', id: UNKNOWN }), 422, 'changes.2'],
    ['a value that is taken', () => ({ action: 'create', body: { name: 'x', external_id: 'b' } }), 409, 'changes.2'],
    ['a condition that is not met', ([, { id }]) => ({ action: 'delete', id, if_match: '"x"' }), 412, 'changes.2'],
  ];

  test.each(refused)('with %s changes nothing', async (_, changeOf, status, field) => {
    const { client } = await createTestOrganization(server);
    const rows = await seeded(client);
    const [before, events] = [await listed(client), await eventsOf(client)];
    const response = await send(
      client,
      [
        { action: 'create', body: { name: 'x' } },
        { action: 'update', id: rows[0].id, body: { name: 'a 2' } },
        changeOf(rows),
        // The second change of a row, before which the first one has been written.
        { action: 'update', id: rows[0].id, body: { name: 'a 3' } },
      ],
      { atomic: true },
    );
    expect(response.status).toBe(status);
    expect(Object.keys(response.body.errors)).toEqual([field]);
    expect(response.body.message).toContain(field);
    expect(await listed(client)).toEqual(before);
    expect(await eventsOf(client)).toEqual(events);
  });

  test('names every change that is refused, and has the status of the first one', async () => {
    const { client } = await createTestOrganization(server);
    const changes = [
      { action: 'create', body: { name: 'x', external_id: 'new' } },
      { action: 'create', body: { name: 'x', external_id: 'new' } },
      { action: 'create', body: { name: '', colour: 'red' } },
      { action: 'update', id: UNKNOWN, body: {} },
    ];
    const response = await send(client, changes, { atomic: true });
    expect(response.status).toBe(409);
    // The row of the first change is not named, because it is not created either.
    const taken =
      'The external_id "new" is also that of changes.0 of this batch. Use a different external_id in one of them.';
    expect(response.body).toEqual({
      message: `changes.1: ${taken} See errors for 3 more fields.`,
      errors: {
        'changes.1': [taken],
        'changes.2.name': ['must not be blank.'],
        'changes.2.colour': [
          'is not a field of this request. Allowed fields: name, description, external_id, metadata.',
        ],
        'changes.3': ['There is no parent program with this id.'],
      },
    });
  });
});

test('an atomic batch names no row that it has created and will not keep', async () => {
  const { client } = await createTestOrganization(server);
  const upsert = (name: string) => ({ action: 'upsert', external_id: 'new', body: { name } });
  // The second change of the row, before which the first one has been written.
  const changes = [upsert('x'), upsert('y'), { action: 'create', body: { name: 'z', external_id: 'new' } }];
  const { status, body } = await send(client, changes, { atomic: true });
  expect([status, body.message]).toEqual([
    409,
    'changes.2: The external_id "new" is also that of changes.0 of this batch. Use a different external_id in one of them.',
  ]);
});

describe('with an Idempotency-Key', () => {
  const CREATIONS = [
    { action: 'create', body: { name: 'x', external_id: 'x' } },
    { action: 'create', body: { name: 'y', external_id: 'x' } },
    { action: 'create', body: { name: 'z' } },
  ];

  test('the same batch is made once, and gets its response again, byte for byte', async () => {
    const { client } = await createTestOrganization(server);
    const first = await send(client, CREATIONS, {}, 'k');
    expect(statusesOf(first.body.results)).toEqual([201, 409, 201]);
    await client.delete(`${LIST}/${first.body.results[0].body.id}`);
    const again = await send(client, CREATIONS, {}, 'k');
    expect({ status: again.status, text: again.text }).toEqual({ status: 200, text: first.text });
    expect(await listed(client)).toHaveLength(1);
  });

  test('of twenty concurrent batches with one key, one is made and all get its response', async () => {
    const { client } = await createTestOrganization(server);
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(client, CREATIONS, {}, 'k')));
    for (const { status, text } of responses)
      expect({ status, text }).toEqual({ status: 200, text: responses[0]?.text });
    expect(await listed(client)).toHaveLength(2);
  });

  test.each([
    ['other changes', CREATIONS.slice(1), {}],
    ['another order', CREATIONS.toReversed(), {}],
    ['all or nothing', CREATIONS, { atomic: true }],
  ])('422 for the same key with %s', async (_, changes, others) => {
    const { client } = await createTestOrganization(server);
    await send(client, CREATIONS, {}, 'k');
    const response = await send(client, changes, others, 'k');
    expect(response.status).toBe(422);
    expect(Object.keys(response.body.errors)).toEqual(['Idempotency-Key']);
    expect(await listed(client)).toHaveLength(2);
  });

  test('422 for a batch with the key of a creation, and for a creation with the key of a batch', async () => {
    const { client } = await createTestOrganization(server);
    const create = (key: string) => client.post(LIST, { name: 'x' }, { headers: { 'Idempotency-Key': key } });
    await create('k');
    expect((await send(client, CREATIONS, {}, 'k')).status).toBe(422);
    await send(client, CREATIONS, {}, 'l');
    expect((await create('l')).status).toBe(422);
  });

  test('a batch that was refused can be corrected under the same key', async () => {
    const { client } = await createTestOrganization(server);
    expect((await send(client, CREATIONS, { atomic: true }, 'k')).status).toBe(409);
    expect((await send(client, CREATIONS.slice(1), { atomic: true }, 'k')).status).toBe(200);
  });
});

test('the events of a batch are in the order of its changes, whatever they do, and have one time', async () => {
  const { client } = await createTestOrganization(server);
  const upsert = (i: number, name: string) => ({ action: 'upsert', external_id: `own ${i}`, body: { name } });
  const rows = Array.from({ length: 40 }, (_, i) => upsert(2 * i, `Old ${i}`));
  const ids = (await resultsOf(client, rows)).map(({ body }) => String(Object(body).id));
  const batch = Array.from({ length: 25 }, (_, i): [Change, string][] => [
    [upsert(i, `New ${i}`), `${i % 2 === 0 ? 'updated' : 'created'} New ${i}`],
    [{ action: 'delete', id: ids[15 + i] ?? '' }, `deleted Old ${15 + i}`],
    [{ action: 'create', body: { name: `Another ${i}` } }, `created Another ${i}`],
    [{ action: 'update', id: ids[i % 10] ?? '', body: { name: `Once more ${i}` } }, `updated Once more ${i}`],
  ]).flat();
  const { cursor } = await readFeed(client);
  expect(
    statusesOf(
      await resultsOf(
        client,
        batch.map(([change]) => change),
      ),
    ).every((status) => status < 300),
  ).toBe(true);
  const { events } = await readFeed(client, { cursor });
  expect(storyOf(events)).toEqual(batch.map(([, story]) => `parent_program.${story}`));
  const times = new Set(events.map(({ timestamp }) => timestamp));
  expect(times.size).toBe(1);
  for (const { type, data, timestamp } of events)
    if (type.endsWith('created')) expect([data.updated_at, timestamp].toSorted()).toEqual([data.updated_at, timestamp]);
});

test('a hundred creations are a hundred events, in the order of the changes, and one step of the version', async () => {
  const { client, id } = await createTestOrganization(server);
  await server.db.pool.query(
    `create table version_steps (id uuid);
     create function note_step() returns trigger language plpgsql as $$
       begin insert into version_steps values (new.id); return null; end $$;
     create trigger organizations_note_step after update on organizations for each row execute function note_step();`,
  );
  const changes = Array.from({ length: 100 }, (_, i) => ({ action: 'create', body: { name: `Name ${i}` } }));
  await resultsOf(client, changes);
  const { rows } = await server.db.pool.query('select count(*)::int as steps from version_steps where id = $1', [id]);
  expect(rows).toEqual([{ steps: 1 }]);
  expect((await eventsOf(client)).map(({ type, data }) => `${type} ${data.name}`)).toEqual(
    changes.map(({ body }) => `parent_program.created ${body.name}`),
  );
});

// The attack: each batch locks its rows in the order of its changes, so the first waits for the second and the second for the first.
test('batches that change the same rows in different orders do not wait for each other in a circle', async () => {
  const { client } = await createTestOrganization(server);
  const rows = Array.from({ length: 20 }, (_, i) => `e-${i}`);
  const upserts = (ids: readonly string[], name: string) =>
    ids.map((externalId) => ({ action: 'upsert', external_id: externalId, body: { name } }));
  await resultsOf(client, upserts(rows, 'first'));
  for (let round = 0; round < 10; round += 1) {
    const responses = await Promise.all(
      [rows, rows.toReversed(), rows, rows.toReversed()].map((ids, i) => send(client, upserts(ids, `${round} ${i}`))),
    );
    for (const { status, body } of responses) {
      expect(status).toBe(200);
      expect(new Set(statusesOf(body.results))).toEqual(new Set([200]));
    }
  }
  const names = (await listed(client)).map(({ name }: { name: string }) => name);
  // Each batch is made as a whole.
  expect(new Set(names).size).toBe(1);
});
