import { v7 as newId } from 'uuid';
import { listOf, sealCursor } from '../../src/api/list-page.ts';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { bytesOfPosition } from '../../src/domain/resources/event-position.ts';
import { deleteExpired } from '../../src/observability/housekeeping.ts';
import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import { EVENT_TABLES } from '../../src/store/resources/events.ts';
import { placeOfCursorKey } from '../../src/store/sql/secrets.ts';
import { createRow, resourceOf } from '../support/contract/resources.ts';
import { createTestOrganization, SILENT, type TestOrganization, useServer } from '../support/servers/server.ts';
import { type FeedEvent, feedUrl, readFeed } from '../support/traffic/feed.ts';

const server = await useServer();

const LIST = '/api/parent_programs';
const DAY_MS = 86_400_000;
const FULL = {
  name: 'Nordic "Scholars" 😀',
  description: 'Tab\tand line\nand , "timestamp":"2026-01-01","data":',
  external_id: 'sis-1',
  metadata: { z: '1', colour: 'green', '"data":': '"timestamp":' },
};

async function create({ client }: TestOrganization, body: object = { name: 'Nordic' }) {
  const { status, text, body: program } = await client.post(LIST, body);
  if (status !== 201) throw new Error(text);
  return program;
}

async function cursorKeyIn({ id }: TestOrganization): Promise<string> {
  const { cursorKey } = await server.db.prisma.organization.findUniqueOrThrow({ where: { id } });
  return server.db.keyring.decrypt(Buffer.from(cursorKey), placeOfCursorKey(id)).toString('hex');
}

const typesOf = (events: readonly FeedEvent[]) => events.map(({ type }) => type.split('.')[1]);
const idsOf = (events: readonly FeedEvent[]) => events.map(({ id }) => id);

test('each change is an event with the whole program, and a deletion has it as it was last', async () => {
  const ours = await createTestOrganization(server);
  const created = await create(ours, FULL);
  const url = `${LIST}/${created.id}`;
  const updated = (await ours.client.patch(url, { description: null, metadata: { z: null } })).body;
  await ours.client.delete(url);
  const { events } = await readFeed(ours.client);
  expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'parent_program.created', data: created },
    { type: 'parent_program.updated', data: updated },
    { type: 'parent_program.deleted', data: updated },
  ]);
  const times = events.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted());
  expect([created.created_at, times[0]].toSorted()).toEqual([created.created_at, times[0]]);
  expect(new Set(idsOf(events)).size).toBe(3);
});

// The risk: after an upgrade that adds a field, stored events lack the field. With RESPONSE_CHECK=enforce, the feed would send
// 500.
test('an event that is older than a field is shown with the default of the field', async () => {
  const ours = await createTestOrganization(server);
  const metadata = { external_id: 'x', ',"external_id":': ',"external_id":' };
  const created = await create(ours, { ...FULL, metadata });
  await server.db.pool.query(
    `update events set data = replace(data::text, ',"external_id":"sis-1"', '')::json where organization_id = $1`,
    [ours.id],
  );
  const { events } = await readFeed(ours.client);
  expect(events.map(({ data }) => data)).toEqual([{ ...created, external_id: null }]);
  expect((await ours.client.get(`/api/events/${events[0]?.id}`)).body).toEqual(events[0]);
});

// This test needs several resources, because a key that may not read the only resource gets a 403. The trial of `npm run
// new-resource` has several.
test.each(Object.entries(EVENT_TABLES))(
  'a key that may read one resource only gets the events of a %s only',
  async (own, { name }) => {
    const ours = await createTestOrganization(server);
    for (const table of Object.values(EVENT_TABLES))
      await createRow(ours.client, resourceOf({ path: `/api/${table.name}` }));
    const { events: all } = await readFeed(ours.client);
    const permissions = PERMISSIONS.filter((permission) => permission === `${name}:read`);
    const request = { email: ours.email, name: 'Reader', permissions, lifeDays: 1, environment: 'live' } as const;
    const { key } = await issueKeyByEmail(server.db, request);
    const isOwn = ({ type }: { type: string }) => type.startsWith(`${own}.`);
    expect((await ours.client.get('/api/events', { key })).body.data).toEqual(all.filter(isOwn));
    for (const event of all) {
      const statuses = [`/api/events/${event.id}`, `/api/events?type=${event.type}`].map(async (url) => {
        const { status, text } = await ours.client.get(url, { key });
        return isOwn(event) || text.includes('lacks the permission') ? status : text;
      });
      expect(await Promise.all(statuses)).toEqual(isOwn(event) ? [200, 200] : [403, 403]);
    }
  },
);

test('a request that changes nothing is not an event', async () => {
  const ours = await createTestOrganization(server);
  const { id } = await create(ours, FULL);
  const header = { headers: { 'Idempotency-Key': newId() } };
  for (let i = 0; i < 2; i += 1) await ours.client.post(LIST, { name: 'Once' }, header);
  await ours.client.patch(`${LIST}/${id}`, { name: FULL.name });
  await ours.client.patch(`${LIST}/${id}`, {});
  expect((await ours.client.patch(`${LIST}/${id}`, { name: '' })).status).toBe(422);
  expect((await ours.client.post(LIST, FULL)).status).toBe(409);
  expect((await ours.client.delete(`${LIST}/${newId()}`)).status).toBe(404);
  expect(typesOf((await readFeed(ours.client)).events)).toEqual(['created', 'created']);
});

test('one event is what the feed shows', async () => {
  const ours = await createTestOrganization(server);
  await create(ours, FULL);
  const [event] = (await readFeed(ours.client)).events;
  expect((await ours.client.get(`/api/events/${event?.id}`)).body).toEqual(event);
});

test.each([1, 2, 3, 5, 100])('pages of %i show every event once, the oldest first', async (limit) => {
  const ours = await createTestOrganization(server);
  const created: string[] = [];
  for (let i = 0; i < 5; i += 1) created.push((await create(ours)).id);
  const seen: string[] = [];
  let isLast = false;
  for (let url = `/api/events?limit=${limit}`; !isLast; ) {
    const { body, headers } = await ours.client.get(url);
    seen.push(...body.data.map(({ data }: FeedEvent) => data.id));
    isLast = !body.page.has_more;
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(headers['link'] ?? '') ?? [];
    expect(next).toBe(isLast ? '' : feedUrl(body.page.next_cursor, `limit=${limit}`));
    url = next;
  }
  expect(seen).toEqual(created);
});

test('the cursor of the last page goes on working, also from an empty feed and with another limit', async () => {
  const ours = await createTestOrganization(server);
  let { cursor, events } = await readFeed(ours.client);
  expect(events).toEqual([]);
  for (const count of [0, 1, 0, 3]) {
    const created = [];
    for (let i = 0; i < count; i += 1) created.push((await create(ours)).id);
    for (const limit of [1, 2, 100]) {
      const read = await readFeed(ours.client, { cursor, query: `limit=${limit}` });
      expect(read.events.map(({ data }) => data.id)).toEqual(created);
    }
    ({ cursor, events } = await readFeed(ours.client, { cursor }));
  }
});

test('a poll without news is a 304 for its ETag', async () => {
  const ours = await createTestOrganization(server);
  await create(ours);
  const { cursor } = await readFeed(ours.client);
  const first = await ours.client.get(feedUrl(cursor));
  const header = { headers: { 'If-None-Match': first.headers['etag'] ?? '' } };
  expect((await ours.client.get(feedUrl(cursor), header)).status).toBe(304);
  await create(ours);
  expect((await ours.client.get(feedUrl(cursor), header)).body.data).toHaveLength(1);
});

test('type and since filter, and since includes its own instant', async () => {
  const ours = await createTestOrganization(server);
  const { id } = await create(ours);
  await ours.client.patch(`${LIST}/${id}`, { name: 'Renamed' });
  await ours.client.delete(`${LIST}/${id}`);
  await create(ours);
  for (const type of ['created', 'updated', 'deleted']) {
    const { events } = await readFeed(ours.client, { query: `type=parent_program.${type}&limit=1` });
    expect(new Set(typesOf(events))).toEqual(new Set([type]));
  }
  const { events } = await readFeed(ours.client);
  for (const [i, { timestamp }] of events.entries()) {
    const from = idsOf(events.filter((each) => each.timestamp >= timestamp));
    expect(idsOf((await readFeed(ours.client, { query: `since=${timestamp}&limit=2` })).events)).toEqual(from);
    const later = new Date(Date.parse(timestamp) + 1).toISOString();
    const after = idsOf(events.filter((each) => each.timestamp > timestamp));
    expect(idsOf((await readFeed(ours.client, { query: `since=${later}` })).events)).toEqual(after);
    expect(from).toEqual(expect.arrayContaining(idsOf(events.slice(i))));
  }
  for (const query of ['since=1000-01-01T00:00:00Z', 'since=1970-01-01T00:00:00Z'])
    expect((await readFeed(ours.client, { query })).events).toEqual(events);
  expect((await readFeed(ours.client, { query: 'since=9999-12-31T23:59:59.999999999Z' })).events).toEqual([]);
});

test('no page has an event before a since in the future', async () => {
  const ours = await createTestOrganization(server);
  const query = `since=${new Date(Date.now() + 3_600_000).toISOString()}`;
  let { cursor, events } = await readFeed(ours.client, { query });
  for (let i = 0; i < 2; i += 1) {
    await create(ours);
    ({ cursor, events } = await readFeed(ours.client, { query, cursor }));
    expect(events).toEqual([]);
  }
});

// The risk: the cursor of a filtered feed skips an event that the filter matches.
test('the last cursor of a filtered feed misses no later event', async () => {
  const ours = await createTestOrganization(server);
  const query = 'type=parent_program.deleted';
  const { id } = await create(ours);
  const { cursor, events } = await readFeed(ours.client, { query });
  expect(events).toEqual([]);
  await create(ours);
  await ours.client.delete(`${LIST}/${id}`);
  expect(typesOf((await readFeed(ours.client, { query, cursor })).events)).toEqual(['deleted']);
});

// A reader may store only the cursor, as the feed's documentation says, and omit the `since` of its first request.
test('a cursor goes on without since, or with another one', async () => {
  const ours = await createTestOrganization(server);
  for (let i = 0; i < 3; i += 1) await create(ours);
  const { events } = await readFeed(ours.client);
  const since = `since=${events[0]?.timestamp}`;
  const first = (await ours.client.get(`/api/events?limit=1&${since}`)).body;
  for (const query of [
    '',
    since,
    'since=2026-01-01T00:00:00Z',
    `since=${new Date(Date.now() + DAY_MS).toISOString()}`,
  ]) {
    const rest = await readFeed(ours.client, { cursor: first.page.next_cursor, query });
    expect(idsOf([...first.data, ...rest.events])).toEqual(idsOf(events));
  }
});

test('a cursor of version 1.0, which holds since, goes on with the same since', async () => {
  const ours = await createTestOrganization(server);
  const { id } = await create(ours);
  await ours.client.delete(`${LIST}/${id}`);
  const { events } = await readFeed(ours.client);
  const since = '2026-01-01T00:00:00Z';
  for (const filters of [{ since }, { since, type: 'parent_program.deleted' }]) {
    const position = bytesOfPosition(events[0]?.id ?? '');
    const cursor = sealCursor({ key: await cursorKeyIn(ours), list: listOf('/api/events', filters) }, position);
    const query = new URLSearchParams(filters).toString();
    expect(typesOf((await readFeed(ours.client, { cursor, query })).events)).toEqual(['deleted']);
    expect((await ours.client.get(feedUrl(cursor))).status).toBe(422);
  }
});

test('a cursor is refused with another type or in another list, and the 422 says what to send', async () => {
  const ours = await createTestOrganization(server);
  for (let i = 0; i < 3; i += 1) await create(ours);
  const { cursor } = await readFeed(ours.client);
  const created = await readFeed(ours.client, { query: 'type=parent_program.created' });
  const programs = (await ours.client.get(`${LIST}?limit=1`)).body.page.next_cursor;
  const refusals: [url: string, words: string][] = [
    [feedUrl(cursor, 'type=parent_program.created'), 'belongs to another list. Send it without type, or start again'],
    [feedUrl(created.cursor), 'belongs to another list. Send it with type=parent_program.created, or start again'],
    [
      feedUrl(created.cursor, 'type=parent_program.deleted'),
      'Send it with type=parent_program.created, or start again',
    ],
    [feedUrl(programs), 'is not a cursor of this list. Send next_cursor unchanged with the same type, or start again'],
    [`${LIST}?cursor=${cursor}`, 'Send next_cursor unchanged with the same sort and filters, or start again'],
  ];
  for (const [url, words] of refusals) {
    const { status, body } = await ours.client.get(url);
    expect({ url, status, errors: body.errors }).toEqual({
      url,
      status: 422,
      errors: { cursor: [expect.stringContaining(words)] },
    });
  }
});

const DAYS = 30;

/** Deletes expired events as housekeeping will do in `days` days. */
function runHousekeeping(days: number): Promise<void> {
  const now = new Date(Date.now() + days * DAY_MS);
  return deleteExpired(server.db, SILENT, { now, retention: { eventDays: DAYS } });
}

async function refusalOf({ client }: TestOrganization, url: string) {
  const { status, body } = await client.get(url);
  return { status, errors: body.errors };
}

const tooOld = (field: string) => ({
  status: 422,
  errors: {
    [field]: [expect.stringMatching(/older than the oldest event that is kept.*Read all parent programs again/)],
  },
});

test(`events are deleted after ${DAYS} days, many at a time, and the feed begins with the oldest that is kept`, async () => {
  const ours = await createTestOrganization(server);
  await server.db.pool.query(
    `insert into parent_programs (organization_id, id, name) select $1, gen_random_uuid(), 'Many' from generate_series(1, 2500)`,
    [ours.id],
  );
  const kept = () => server.db.prisma.event.count({ where: { organizationId: ours.id } });
  await runHousekeeping(DAYS - 1);
  expect(await kept()).toBe(2500);
  await runHousekeeping(DAYS + 1);
  expect(await kept()).toBe(0);
  const { id } = await create(ours);
  expect((await readFeed(ours.client)).events.map(({ data }) => data.id)).toEqual([id]);
});

// The risk: an integration was down for longer than events are kept. If its cursor still worked, it would never learn of the
// deleted events.
test('a cursor or a since before a deleted event is refused with the remedy; every other one goes on working', async () => {
  const ours = await createTestOrganization(server);
  for (let i = 0; i < 3; i += 1) await create(ours);
  const first = (await ours.client.get('/api/events?limit=1')).body;
  const last = await readFeed(ours.client);
  const since = (timestamp: string | undefined, ms: number) => new Date(Date.parse(timestamp ?? '') + ms).toISOString();
  const sinceLast = since(last.events.at(-1)?.timestamp, 0);
  await runHousekeeping(DAYS + 1);
  expect(await refusalOf(ours, feedUrl(first.page.next_cursor))).toEqual(tooOld('cursor'));
  expect(await refusalOf(ours, `/api/events?since=${sinceLast}`)).toEqual(tooOld('since'));
  expect((await ours.client.get(`/api/events/${first.data[0].id}`)).status).toBe(404);
  // The reader had read every deleted event, so its cursor stays valid.
  expect((await readFeed(ours.client, { cursor: last.cursor })).events).toEqual([]);
  const { id } = await create(ours);
  const sinceThen = `since=${since(last.events.at(-1)?.timestamp, 1)}`;
  for (const read of [{}, { cursor: last.cursor }, { query: sinceThen }])
    expect((await readFeed(ours.client, read)).events.map(({ data }) => data.id)).toEqual([id]);
});

test('a cursor goes on working after its since has expired', async () => {
  const ours = await createTestOrganization(server);
  await create(ours);
  const query = `since=${new Date(Date.now() - DAY_MS).toISOString()}`;
  const { cursor } = await readFeed(ours.client, { query });
  await runHousekeeping(DAYS + 1);
  expect((await readFeed(ours.client, { query, cursor })).events).toEqual([]);
});

// Changes before the migration that introduced the feed have no events.
test('an organization that is older than the feed is told so, and its cursors work', async () => {
  const ours = await createTestOrganization(server);
  const before = new Date(Date.now() - DAY_MS).toISOString();
  await server.db.pool.query(
    `update organizations set events_deleted_to = 'ff000000-0000-7000-8000-000000000000' where id = $1`,
    [ours.id],
  );
  expect(await refusalOf(ours, `/api/events?since=${before}`)).toEqual(tooOld('since'));
  const { cursor } = await readFeed(ours.client);
  expect(await readFeed(ours.client, { cursor })).toEqual({ events: [], cursor });
});
