import { handlers } from '../../src/api/handlers/index.ts';
import { ResponseCache } from '../../src/api/response-cache.ts';
import { readDocument } from '../../src/contract/contract.ts';
import type { Caller } from '../../src/domain/audit/actor.ts';
import { OrganizationScope } from '../../src/domain/organizations/organization-scope.ts';
import { Metrics } from '../../src/observability/metrics/metrics.ts';
import type { Reply } from '../support/clients/client.ts';
import { createProgram } from '../support/contract/every-operation.ts';
import { fromCache } from '../support/observability/metrics.ts';
import { untilWaiting, withClient } from '../support/postgres/postgres.ts';
import { countStatements } from '../support/postgres/statements.ts';
import { collectGarbage } from '../support/processes/garbage.ts';
import { createTestOrganization, startServer, useServer } from '../support/servers/server.ts';

const metrics = new Metrics();
const server = await useServer({ metrics });

const LIST = '/api/parent_programs';

test('a cached response is identical to the first, and costs one SQL statement: the key look-up', async () => {
  const { client } = await createTestOrganization(server);
  const { body } = await client.post(LIST, { name: 'Kept', external_id: 'own' });
  for (const url of [LIST, `${LIST}?limit=7&sort=-name`, `${LIST}/${body.id}`, `${LIST}/by_external_id/own`]) {
    const first = await client.get(url);
    const again: unknown[] = [];
    const send = () => fromCache(metrics, () => client.get(url));
    const statements = await countStatements(server.db, async () => again.push(await send()));
    const { 'x-request-id': _id, date: _date, ratelimit: _left, ...headers } = first.headers;
    expect(again).toEqual([expect.objectContaining({ status: 200, text: first.text })]);
    expect(again).toEqual([expect.objectContaining({ headers: expect.objectContaining(headers) })]);
    expect(statements).toBe(1);
  }
});

test('a change made by raw SQL is visible to the next request', async () => {
  const { id, client } = await createTestOrganization(server);
  await client.post(LIST, { name: 'Before' });
  await client.get(LIST);
  expect((await fromCache(metrics, () => client.get(LIST))).body.data[0].name).toBe('Before');
  await server.db.pool.query(`update parent_programs set name = 'After' where organization_id = $1`, [id]);
  expect((await client.get(LIST)).body.data[0].name).toBe('After');
});

test('a cached response does not bypass the checks of Accept, If-None-Match and an ended key', async () => {
  const { id, client } = await createTestOrganization(server);
  await client.post(LIST, { name: 'Kept' });
  await client.get(LIST);
  expect((await fromCache(metrics, () => client.get(LIST))).status).toBe(200);
  expect((await client.get(LIST, { headers: { Accept: 'text/html' } })).status).toBe(406);
  expect((await client.get(LIST, { headers: { 'If-None-Match': 'abc' } })).status).toBe(422);
  expect((await fromCache(metrics, () => client.send('HEAD', LIST))).text).toBe('');
  await server.db.pool.query('update api_keys set revoked_at = now() where organization_id = $1', [id]);
  expect((await client.get(LIST)).status).toBe(401);
});

test('a response that depends on another header is not cached', async () => {
  const definition = await readDocument();
  const part = { name: 'X-Part', in: 'header', required: true, schema: { type: 'string' } } as const;
  definition.paths?.[LIST]?.get?.parameters?.push(part);
  await using own = await startServer({ contract: { definition, handlers } });
  const { client } = await createTestOrganization(own);
  // An empty list is never cached, so the list must have a row.
  await client.post(LIST, { name: 'Kept' });
  expect((await client.get(LIST, { headers: { 'X-Part': 'one' } })).status).toBe(200);
  expect((await client.get(LIST)).status).toBe(422);
});

test('a 404 is never cached: a program is found as soon as it exists', async () => {
  const ours = await createTestOrganization(server);
  const id = crypto.randomUUID();
  expect((await ours.client.get(`${LIST}/${id}`)).status).toBe(404);
  await server.db.pool.query(`insert into parent_programs (organization_id, id, name) values ($1, $2, 'x')`, [
    ours.id,
    id,
  ]);
  expect((await ours.client.get(`${LIST}/${id}`)).status).toBe(200);
});

async function setVersion(version: string, ids: readonly string[]): Promise<void> {
  await server.db.pool.query('alter table organizations disable trigger organizations_version');
  await server.db.pool.query('update organizations set version = $1 where id = any($2)', [version, ids]);
  await server.db.pool.query('alter table organizations enable always trigger organizations_version');
}

// The attack: requesting a path that another organization at the same version has just requested.
test('the same path at the same version returns each organization its own response', async () => {
  const [ours, theirs] = [await createTestOrganization(server), await createTestOrganization(server)];
  const [ourId, theirId] = [await createProgram(ours, 'Ours'), await createProgram(theirs, 'Theirs')];
  await setVersion('7', [ours.id, theirs.id]);
  for (const { client, id } of [
    { client: ours.client, id: ourId },
    { client: theirs.client, id: theirId },
  ]) {
    expect((await client.get(LIST)).body.data.map((program: { id: string }) => program.id)).toEqual([id]);
  }
  expect((await ours.client.get(`${LIST}/${ourId}`)).status).toBe(200);
  expect((await theirs.client.get(`${LIST}/${ourId}`)).status).toBe(404);
});

// The race: a write commits between the key look-up and the read of a list page, and is then lost, as in a failover to a standby.
// A later write gets the same version, under which the page with the lost row would be cached.
test('a list page with data newer than its version is not cached', async () => {
  const { id, client } = await createTestOrganization(server);
  const programId = (await client.post(LIST, { name: 'Kept' })).body.id;
  const { rows } = await server.db.pool.query('select version from organizations where id = $1', [id]);
  for (const url of [LIST, `${LIST}/${programId}`]) {
    const change = `update parent_programs set name = 'Lost' where id = '${programId}'`;
    const response = await responseAfter(change, () => client.get(url));
    expect(response.text).toContain('Lost');
    await server.db.pool.query(`update parent_programs set name = 'Kept' where id = $1`, [programId]);
    await setVersion(rows[0].version, [id]);
    expect((await client.get(url)).text).toContain('Kept');
  }
});

/** Returns the response to a request that starts before the change and reads its data after the change. */
async function responseAfter(change: string, ask: () => Promise<Reply>): Promise<Reply> {
  return withClient(server.databaseUrl, async (writer) => {
    await writer.query('begin');
    await writer.query('lock table parent_programs');
    const response = ask();
    await untilWaiting(server.db.pool, 1);
    await writer.query(change);
    await writer.query('commit');
    return response;
  });
}

const caller = (organizationId: string, organizationVersion: string): Caller => ({
  scope: OrganizationScope.grant(organizationId),
  organizationVersion,
  organizationName: 'O',
  integration: null,
  clientAddress: () => null,
  cursorKey: '',
  keyId: 'k',
  keyName: 'K',
  permissions: [],
  expiresAt: null,
});
const asMade = (text: string, fields: string[] = []) => ({
  response: { status: 200, fields, entityTag: undefined, notModified: undefined, text },
  version: '1',
});

// The attack: equal cache keys of two callers, because one's path begins like the end of the other's organization id or version.
test('cache keys of different organizations, versions and paths never collide', async () => {
  const cache = new ResponseCache(1_000_000);
  await cache.render(caller('a', '1'), '/x 2 /y', async () => asMade('first'));
  const others = [caller('a', '1 /x'), caller('a', '12'), caller('a 1', '/x'), caller('b', '1')];
  for (const other of others)
    for (const url of ['/x 2 /y', '/y', ' /y']) expect(cache.find(other, url)).toBeUndefined();
  expect(cache.find(caller('a', '1'), '/x 2 /y')?.text).toBe('first');
});

test('after a million distinct list pages, the cache holds only the most recent ones within its bound', async () => {
  const [ours, maxBytes, bytesEach] = [caller('a', '1'), 1_000_000, 10_000];
  const cache = new ResponseCache(maxBytes);
  const text = 'x'.repeat(bytesEach);
  const last: WeakRef<object>[] = [];
  for (let i = 0; i < 1_000_000; i += 1) {
    const made = await cache.render(ours, `/${i}`, async () => asMade(text));
    if (i >= 999_000) last.push(new WeakRef(made));
  }
  await collectGarbage();
  const alive = last.map((made) => made.deref() !== undefined);
  const count = alive.filter(Boolean).length;
  expect(count * bytesEach).toBeLessThan(maxBytes);
  expect(count * bytesEach).toBeGreaterThan(maxBytes / 3);
  expect(alive.indexOf(true)).toBe(last.length - count);
  expect(cache.find(ours, '/999999')).toBeDefined();
});

test('the path and the headers count towards the size of an entry like the body', async () => {
  const ours = caller('a', '1');
  const long = 'x'.repeat(4000);
  const kept = async (url: string, link: string) => {
    const cache = new ResponseCache(20_000);
    for (let i = 0; i < 10; i += 1) await cache.render(ours, `${url}${i}`, async () => asMade('', ['Link', link]));
    return Array.from({ length: 10 }, (_, i) => cache.find(ours, `${url}${i}`)).filter((found) => found !== undefined)
      .length;
  };
  expect(await kept('/', '')).toBe(10);
  expect(await kept(`/${long}`, '')).toBeLessThan(5);
  expect(await kept('/', long)).toBeLessThan(5);
});

test('a recently used entry stays, and a response larger than half the cache is returned but not cached', async () => {
  const ours = caller('a', '1');
  const cache = new ResponseCache(5000);
  const make = (url: string, text = '') => cache.render(ours, url, async () => asMade(text));
  await make('/often');
  for (let i = 0; i < 10; i += 1) {
    await make(`/${i}`);
    expect(cache.find(ours, '/often')).toBeDefined();
  }
  expect(cache.find(ours, '/0')).toBeUndefined();
  expect((await make('/large', 'x'.repeat(10_000))).text).toHaveLength(10_000);
  expect(cache.find(ours, '/large')).toBeUndefined();
});

test('concurrent requests share one rendering; its failure fails all of them, and the next request tries again', async () => {
  const ours = caller('a', '1');
  const cache = new ResponseCache(1_000_000);
  let makings = 0;
  const work = async () => {
    makings += 1;
    if (makings === 1) throw new Error('outage');
    return asMade('made');
  };
  const all = () => Promise.allSettled(Array.from({ length: 10 }, () => cache.render(ours, '/', work)));
  expect(new Set((await all()).map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(new Set((await all()).map(({ status }) => status))).toEqual(new Set(['fulfilled']));
  expect(makings).toBe(2);
});
