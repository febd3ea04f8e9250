import { type ChangeOf, type CharterClient, createClient, ResponseError } from '../../src/client/charter-client.ts';
import { changeLimits } from '../../src/service/operator/organizations.ts';
import { createClientOn, createTestClock } from '../support/clients/charter-client.ts';
import {
  hangsUp,
  losesResponseOf,
  passesOn,
  respondsWith,
  useScriptedServer,
} from '../support/servers/scripted-server.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';
import { readFeed } from '../support/traffic/feed.ts';

const PROGRAMS = '/api/parent_programs';
type Change = ChangeOf<typeof PROGRAMS>;

const server = await useServer();
const network = await useScriptedServer();

async function ours(): Promise<TestOrganization & { readonly charter: CharterClient }> {
  network.play(passesOn(server.url));
  const organization = await createTestOrganization(server);
  const charter = createClientOn(createTestClock(), { baseUrl: network.url, apiKey: organization.key });
  return { ...organization, charter };
}

function upserts(count: number, name = 'Program'): Change[] {
  return Array.from({ length: count }, (_, i) => ({
    action: 'upsert',
    external_id: `sis-${i}`,
    body: { name: `${name} ${i}` },
  }));
}

const keysSent = () => network.received.map(({ headers }) => headers['idempotency-key']);

/** Returns how often each program has changed, by external id. */
async function changesOf({ client }: TestOrganization): Promise<Map<unknown, number>> {
  const counts = new Map<unknown, number>();
  for (const { data } of (await readFeed(client)).events) {
    // Events of other resources may lack this field.
    const id = 'external_id' in data ? data.external_id : undefined;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

const once = (count: number) => new Map(Array.from({ length: count }, (_, i) => [`sis-${i}`, 1]));

test('any number of changes are made in order, and each one has its outcome', async () => {
  const { charter } = await ours();
  const changes = upserts(230);
  const batches = [];
  for await (const batch of charter.batch(PROGRAMS, changes)) batches.push(batch);
  expect(batches.map(({ number, outcomes, done }) => [number, outcomes.length, done])).toEqual([
    [1, 100, 100],
    [2, 100, 200],
    [3, 30, 230],
  ]);
  const outcomes = batches.flatMap((batch) => batch.outcomes);
  expect(outcomes.map(({ change }) => change)).toEqual(changes);
  expect(outcomes.map(({ status, body }) => [status, body?.name])).toEqual(
    changes.map((_, i) => [201, `Program ${i}`]),
  );
});

test('every action is possible, and a refused change keeps no other from being made', async () => {
  const { charter } = await ours();
  const created = await charter.upsert(PROGRAMS, 'sis/1 é', { name: 'First' });
  if (!created.ok) throw new Error(created.error.message);
  expect(created).toMatchObject({ status: 201, data: { external_id: 'sis/1 é' } });
  const again = await charter.upsert(PROGRAMS, 'sis/1 é', { name: 'Second' });
  expect(again).toMatchObject({ status: 200, data: { id: created.data.id, name: 'Second' } });
  const { id } = created.data;
  async function* changes(): AsyncGenerator<Change, void, void> {
    yield { action: 'create', body: { name: 'Third' } };
    yield { action: 'upsert', external_id: 'sis/1 é', body: { name: '' } };
    yield { action: 'update', id, body: { description: 'x' }, if_match: '"stale"' };
    yield { action: 'update', id, body: { description: 'x' } };
    yield { action: 'delete', id };
    yield { action: 'delete', id };
  }
  const statuses = [];
  for await (const { outcomes } of charter.batch(PROGRAMS, changes()))
    statuses.push(...outcomes.map(({ status, exception }) => [status, exception === null]));
  expect(statuses).toEqual([
    [201, true],
    [422, false],
    [412, false],
    [200, true],
    [204, true],
    [404, false],
  ]);
});

test('back-offs, lost responses and broken connections neither lose nor repeat a change', async () => {
  const organization = await ours();
  const limited = respondsWith(429, { 'Retry-After': '7' });
  const busy = respondsWith(503, { 'Retry-After': '2' });
  const good = passesOn(server.url);
  network.play(limited, limited, limited, busy, good, losesResponseOf(server.url), hangsUp, busy, good);
  const clock = createTestClock();
  const charter = createClientOn(clock, { baseUrl: network.url, apiKey: organization.key, retries: 0 });
  const done = [];
  for await (const batch of charter.batch(PROGRAMS, upserts(150))) done.push(batch.done);
  expect(done).toEqual([100, 150]);
  expect(clock.waitsMs.slice(0, 4)).toEqual([7000, 7000, 7000, 2000]);
  expect(await changesOf(organization)).toEqual(once(150));
});

// A refusal costs at least one second, in which hundreds of changes could have been made.
test('batches wait until the rate limit has recovered from the one before', async () => {
  const organization = await ours();
  await changeLimits(server.db, organization.id, { perKey: 100, perOrganization: undefined });
  const charter = createClient({ baseUrl: network.url, apiKey: organization.key });
  const statuses = [];
  for await (const { outcomes } of charter.batch(PROGRAMS, upserts(300)))
    statuses.push(...outcomes.map(({ status }) => status));
  expect(statuses).toEqual(Array(300).fill(201));
  // Without the waits, each batch except the first would be refused once. On a busy machine, one batch may still be refused.
  expect(network.received.length).toBeLessThan(5);
});

test.each([
  ['of the key', '"key";q=500;w=1, "organization";q=1000;w=1', '"key";r=400;t=1', [200]],
  ['of the organization', '"key";q=500;w=1, "organization";q=1000;w=1', '"organization";r=0;t=1', [1000]],
  ['that is untouched', '"key";q=500;w=1', '"key";r=500;t=1', []],
  ['of a proxy, for an hour', '"key";q=500;w=3600', '"key";r=400;t=3600', []],
  ['without a policy', '', '"key";r=400;t=1', []],
])('a batch waits for the limit %s', async (_, policy, left, waitsMs) => {
  const outcome = { status: 200, etag: null, body: null, exception: null };
  const headers = { 'RateLimit-Policy': policy, RateLimit: left };
  network.play(respondsWith(200, headers, { results: Array(100).fill(outcome) }));
  const clock = createTestClock();
  const charter = createClientOn(clock, { baseUrl: network.url, apiKey: 'charter_test_key' });
  const batches = charter.batch(PROGRAMS, upserts(200));
  await batches.next();
  expect(clock.waitsMs).toEqual([]);
  await batches.next();
  expect(clock.waitsMs).toEqual(waitsMs);
});

// The risk: the process crashes between two batches or during one, and the program starts again with the same changes.
test('a repeated run gets the first outcomes, and goes on where the first one ended', async () => {
  const organization = await ours();
  const runOf = (changes: Iterable<Change>) => organization.charter.batch(PROGRAMS, changes, { run: 'nightly-7' });
  const first = await runOf(upserts(250)).next();
  network.play(passesOn(server.url), losesResponseOf(server.url), respondsWith(401));
  const interrupted = runOf(upserts(250));
  expect(await interrupted.next()).toEqual(first);
  await expect(interrupted.next()).rejects.toMatchObject({ name: 'ResponseError', status: 401 });
  network.play(passesOn(server.url));
  const statuses = [];
  for await (const { outcomes } of runOf(upserts(250))) statuses.push(...outcomes.map(({ status }) => status));
  expect(statuses).toEqual(Array(250).fill(201));
  expect(keysSent()).toEqual(['nightly-7-1', 'nightly-7-2', 'nightly-7-3']);
  expect(await changesOf(organization)).toEqual(once(250));
});

test('runs without a name have nothing in common', async () => {
  const { charter } = await ours();
  network.play(passesOn(server.url));
  for (let i = 0; i < 2; i += 1) await charter.batch(PROGRAMS, upserts(1)).next();
  const [one, other] = keysSent();
  expect(one).toMatch(/^[0-9a-f]{32}-1$/);
  expect(other).toMatch(/^[0-9a-f]{32}-1$/);
  expect(other).not.toBe(one);
});

test('a request has at most 1 MiB, whatever the size of its changes', async () => {
  const { charter } = await ours();
  const changes = upserts(120).map(
    (change): Change =>
      change.action === 'upsert' ? { ...change, body: { ...change.body, description: '😀'.repeat(5_000) } } : change,
  );
  const statuses = [];
  for await (const { outcomes } of charter.batch(PROGRAMS, changes))
    statuses.push(...outcomes.map(({ status }) => status));
  expect(statuses).toEqual(Array(120).fill(201));
  const sizes = network.received.map(({ body }) => Buffer.byteLength(body));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_048_576);
  // All batches except the last are nearly full.
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(1_000_000);
});

test('a change that no request can hold is refused alone', async () => {
  const { charter } = await ours();
  const [first, , last] = upserts(3);
  const huge: Change = { action: 'create', body: { name: 'Huge', description: 'x'.repeat(1_100_000) } };
  if (first === undefined || last === undefined) throw new Error('There are three.');
  const statuses = [];
  for await (const { outcomes } of charter.batch(PROGRAMS, [first, huge, last]))
    statuses.push(...outcomes.map(({ status, exception }) => [status, typeof exception?.message]));
  expect(statuses).toEqual([
    [201, 'undefined'],
    [413, 'string'],
    [201, 'undefined'],
  ]);
});

test('changes are read only as they are sent, and no more after the loop ends', async () => {
  const { charter } = await ours();
  let read = 0;
  let isClosed = false;
  async function* endless(): AsyncGenerator<Change, void, void> {
    try {
      for (; ; read += 1) yield { action: 'create', body: { name: `Program ${read}` } };
    } finally {
      isClosed = true;
    }
  }
  for await (const { number } of charter.batch(PROGRAMS, endless())) if (number === 2) break;
  expect({ read, isClosed }).toEqual({ read: 200, isClosed: true });
});

test('a refused batch ends the run with its exception', async () => {
  const { key } = await createTestOrganization(server, { permissions: ['parent_programs:read'] });
  const charter = createClient({ baseUrl: server.url, apiKey: key });
  const failing = charter.batch(PROGRAMS, upserts(1)).next();
  await expect(failing).rejects.toBeInstanceOf(ResponseError);
  await expect(failing).rejects.toMatchObject({
    status: 403,
    message: expect.stringMatching(/^POST .*\/batch got 403: /),
  });
});

test('no changes send nothing', async () => {
  const { charter } = await ours();
  network.play(passesOn(server.url));
  expect(await charter.batch(PROGRAMS, []).next()).toEqual({ done: true, value: undefined });
  expect(network.received).toEqual([]);
});

test.each(['', 'with space', 'é', 'x'.repeat(201)])('a run cannot be named %j', async (run) => {
  const { charter } = await ours();
  network.play(passesOn(server.url));
  await expect(charter.batch(PROGRAMS, upserts(1), { run }).next()).rejects.toBeInstanceOf(TypeError);
  expect(network.received).toEqual([]);
});

test.each([null, {}, { results: [] }, { results: {} }])(
  'a response without an outcome for each change: %j',
  async (body) => {
    const { charter } = await ours();
    network.play(respondsWith(200, {}, body));
    const failing = charter.batch(PROGRAMS, upserts(1)).next();
    await expect(failing).rejects.toMatchObject({ name: 'UnexpectedResponseError', status: 200 });
  },
);

test('the signal ends a run at once', async () => {
  const { charter } = await ours();
  const ending = new AbortController();
  const batches = charter.batch(PROGRAMS, upserts(200), { signal: ending.signal });
  await batches.next();
  ending.abort('no more');
  await expect(batches.next()).rejects.toBe('no more');
});
