import {
  BATCH,
  type BatchEvent,
  type Change,
  createSeeds,
  LIST,
  listEvents,
  listPrograms,
  type Result,
  type Seeds,
  sendBatch,
  sendForResults,
  statusesOf,
  UNKNOWN,
} from '../support/clients/batch.ts';
import type { Client, Reply } from '../support/clients/client.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { readFeed } from '../support/traffic/feed.ts';

const server = await useServer();

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
      return client.delete(`${LIST}/${id || `by_external_id/${encodeURIComponent(externalId)}`}`, { headers });
  }
}

/** Returns the response to a single request in the form of a batch result. */
function resultOf({ status, headers, body = null }: Reply): Result {
  const isMade = status < 300;
  return { status, etag: headers['etag'] ?? null, body: isMade ? body : null, exception: isMade ? null : body };
}

/** Replaces what differs between two organizations: ids, times and entity tags. Equal ids stay equal. */
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

const storyOf = (events: readonly BatchEvent[]) => events.map(({ type, data }) => `${type} ${data.name}`);

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
      { action: 'delete', external_id: 'd' },
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
      { action: 'delete', external_id: '\0' },
      { action: 'delete', external_id: 'x'.repeat(256) },
      { action: 'delete', external_id: 'a', if_match: 'x' },
    ],
  ],
  [
    'rows that do not exist',
    ([a]) => [
      { action: 'update', id: UNKNOWN, body: { name: 'x' } },
      { action: 'delete', id: UNKNOWN },
      { action: 'delete', id: a.id },
      { action: 'delete', id: a.id },
      { action: 'delete', external_id: 'a' },
      { action: 'delete', external_id: 'null' },
      { action: 'delete', external_id: 'B' },
      { action: 'update', id: a.id, body: { name: 'x' } },
    ],
  ],
  [
    'conditions',
    ([a, b, c, d]) => [
      { action: 'update', id: a.id, if_match: a.etag, body: { name: 'a 2' } },
      { action: 'update', id: a.id, if_match: a.etag, body: { name: 'a 3' } },
      { action: 'delete', id: b.id, if_match: `W/${b.etag}` },
      { action: 'delete', external_id: 'b', if_match: '"stale"' },
      { action: 'delete', id: b.id, if_match: b.etag },
      { action: 'upsert', external_id: 'c', if_none_match: '*', body: { name: 'x' } },
      { action: 'upsert', external_id: 'c', if_match: c.etag, body: { name: 'c 2' } },
      { action: 'upsert', external_id: 'c', if_match: c.etag, body: { name: 'c 3' } },
      { action: 'delete', external_id: 'c', if_match: c.etag },
      { action: 'delete', external_id: 'd', if_match: d.etag },
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
      { action: 'delete', external_id: 'b' },
      { action: 'delete', external_id: 'a 2' },
      { action: 'create', body: { name: 'z', external_id: 'a 2' } },
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
      { action: 'delete', external_id: 'a' },
      { action: 'create', body: { name: 'f', external_id: 'f' } },
      { action: 'delete', external_id: 'f' },
      { action: 'delete', external_id: 'f' },
    ],
  ],
];

test.each(CHANGES)('the outcome of each change is that of its own request: %s', async (_, changesOf) => {
  const [{ client: batched }, { client: one }] = [
    await createTestOrganization(server),
    await createTestOrganization(server),
  ];
  const [changes, same] = [changesOf(await createSeeds(batched)), changesOf(await createSeeds(one))];
  const results = await sendForResults(batched, changes);
  const singles: Result[] = [];
  for (const change of same) singles.push(resultOf(await single(one, change)));
  expect(comparable(results)).toEqual(comparable(singles));
  expect(comparable(await listPrograms(batched))).toEqual(comparable(await listPrograms(one)));
  expect(storyOf(await listEvents(batched))).toEqual(storyOf(await listEvents(one)));
});

test('a result has the entity tag and the row that a read returns', async () => {
  const { client } = await createTestOrganization(server);
  const results = await sendForResults(client, [
    { action: 'create', body: { name: 'x', metadata: { ab: '1', c: '2' } } },
  ]);
  const [{ id }] = await listPrograms(client);
  const { text, headers } = await client.get(`${LIST}/${id}`);
  expect(results.map(({ body, etag }) => [JSON.stringify(body), etag])).toEqual([[text, headers['etag']]]);
});

test('422 for a change with a member that its action does not have, or without one that it needs', async () => {
  const { client } = await createTestOrganization(server);
  const results = await sendForResults(client, [
    { action: 'create', id: UNKNOWN, body: { name: 'x' } },
    { action: 'upsert', id: UNKNOWN, external_id: 'x', body: { name: 'x' } },
    { action: 'delete', id: UNKNOWN, body: {} },
    { action: 'delete', id: UNKNOWN, external_id: 'x' },
    { action: 'delete', if_match: '*' },
    { action: 'update', id: UNKNOWN, external_id: 'x', body: { name: 'x' } },
    { action: 'upsert', body: { name: 'x' } },
    { action: 'update', body: { name: 'x' } },
    { action: 'update', id: UNKNOWN },
    { action: 'create' },
  ]);
  expect(results.map(({ exception }) => exception?.message)).toEqual([
    'id is not a member of a change with the action "create". Allowed: body.',
    'id is not a member of a change with the action "upsert". Allowed: external_id, if_match, if_none_match, body.',
    'body is not a member of a change with the action "delete". Allowed: id, external_id, if_match.',
    'external_id is not allowed together with id. Send only one of them.',
    'id or external_id is required.',
    'external_id is not a member of a change with the action "update". Allowed: id, if_match, body.',
    'external_id is required.',
    'id is required.',
    'body is required.',
    'body is required.',
  ]);
  expect(await listPrograms(client)).toEqual([]);
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
  expect(await listPrograms(client)).toEqual([]);
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
  const rows = await createSeeds(theirs.client);
  const before = await listPrograms(theirs.client);
  const results = await sendForResults(ours.client, [
    ...rows.map(({ id }) => ({ action: 'update', id, body: { name: 'ours' } })),
    ...rows.map(({ id }) => ({ action: 'delete', id })),
    ...['a', 'b', 'c', 'd'].map((externalId) => ({ action: 'delete', external_id: externalId })),
    { action: 'upsert', external_id: 'a', body: { name: 'ours' } },
  ]);
  expect(statusesOf(results)).toEqual([...Array(12).fill(404), 201]);
  expect(await listPrograms(theirs.client)).toEqual(before);
});

test('the events of a batch are in the order of its changes, whatever they do, and have one time', async () => {
  const { client } = await createTestOrganization(server);
  const upsert = (i: number, name: string) => ({ action: 'upsert', external_id: `own ${i}`, body: { name } });
  const rows = Array.from({ length: 40 }, (_, i) => upsert(2 * i, `Old ${i}`));
  const ids = (await sendForResults(client, rows)).map(({ body }) => String(Object(body).id));
  const batch = Array.from({ length: 25 }, (_, i): [Change, string][] => [
    [upsert(i, `New ${i}`), `${i % 2 === 0 ? 'updated' : 'created'} New ${i}`],
    [{ action: 'delete', id: ids[15 + i] ?? '' }, `deleted Old ${15 + i}`],
    [{ action: 'create', body: { name: `Another ${i}` } }, `created Another ${i}`],
    [{ action: 'update', id: ids[i % 10] ?? '', body: { name: `Once more ${i}` } }, `updated Once more ${i}`],
  ]).flat();
  const { cursor } = await readFeed(client);
  expect(
    statusesOf(
      await sendForResults(
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
  await sendForResults(client, changes);
  const { rows } = await server.db.pool.query('select count(*)::int as steps from version_steps where id = $1', [id]);
  expect(rows).toEqual([{ steps: 1 }]);
  expect((await listEvents(client)).map(({ type, data }) => `${type} ${data.name}`)).toEqual(
    changes.map(({ body }) => `parent_program.created ${body.name}`),
  );
});

// The race: if each batch locked its rows in the order of its changes, two batches could wait for each other (a deadlock).
test('batches that change the same rows in different orders do not wait for each other in a circle', async () => {
  const { client } = await createTestOrganization(server);
  const rows = Array.from({ length: 20 }, (_, i) => `e-${i}`);
  const upserts = (ids: readonly string[], name: string) =>
    ids.map((externalId) => ({ action: 'upsert', external_id: externalId, body: { name } }));
  await sendForResults(client, upserts(rows, 'first'));
  for (let round = 0; round < 10; round += 1) {
    const responses = await Promise.all(
      [rows, rows.toReversed(), rows, rows.toReversed()].map((ids, i) =>
        sendBatch(client, upserts(ids, `${round} ${i}`)),
      ),
    );
    for (const { status, body } of responses) {
      expect(status).toBe(200);
      expect(new Set(statusesOf(body.results))).toEqual(new Set([200]));
    }
  }
  const names = (await listPrograms(client)).map(({ name }: { name: string }) => name);
  // All rows have the name from the batch that was made last.
  expect(new Set(names).size).toBe(1);
});
