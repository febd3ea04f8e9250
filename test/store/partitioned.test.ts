// Charter's SQL statements and triggers must also work on a partitioned table.
import { OrganizationScope } from '../../src/domain/organizations/organization-scope.ts';
import { listParentPrograms } from '../../src/store/resources/parent-program-list.ts';
import { openWithAutoExplain } from '../support/postgres/plans.ts';
import { inTransaction } from '../support/postgres/postgres.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';
import { applyEvents, type Program, readFeed } from '../support/traffic/feed.ts';

const PARTITIONS = 4;

const server = await useServer();
const { db } = server;
const ours = await createTestOrganization(server);
const others: TestOrganization[] = [];
for (let i = 0; i < 6; i += 1) others.push(await createTestOrganization(server));
for (const { client } of [ours, ...others])
  for (const name of ['Before the partitions', 'Nordic Scholars'])
    await client.post('/api/parent_programs', { name, external_id: name });
await partition();

/** Replaces parent_programs with a partitioned table that has the same columns, checks, indexes, foreign keys and triggers. */
async function partition(): Promise<void> {
  await inTransaction(db, async (client) => {
    const { rows: foreignKeys } = await client.query<{ text: string; isOwn: boolean }>(
      `select format('alter table %s add %s', conrelid::regclass, pg_get_constraintdef(oid)) as text,
              conrelid = 'parent_programs'::regclass as "isOwn"
       from pg_constraint where 'parent_programs'::regclass in (conrelid, confrelid) and contype = 'f'`,
    );
    const { rows: triggers } = await client.query<{ text: string; name: string; isAlways: boolean }>(
      `select pg_get_triggerdef(oid) as text, tgname as name, tgenabled = 'A' as "isAlways"
       from pg_trigger where tgrelid = 'parent_programs'::regclass and not tgisinternal`,
    );
    expect([foreignKeys.filter(({ isOwn }) => isOwn).length, triggers.length]).toEqual([1, 8]);
    await client.query('alter table parent_programs rename to whole');
    await client.query('create table parent_programs (like whole including all) partition by hash (organization_id)');
    for (let i = 0; i < PARTITIONS; i += 1)
      await client.query(
        `create table parent_programs_${i} partition of parent_programs
         for values with (modulus ${PARTITIONS}, remainder ${i})`,
      );
    await client.query('insert into parent_programs select * from whole');
    // Also drops the foreign keys of the tables that refer to this table.
    await client.query('drop table whole cascade');
    for (const { text } of foreignKeys) await client.query(text);
    for (const { text, name, isAlways } of triggers) {
      await client.query(text);
      if (isAlways) await client.query(`alter table parent_programs enable always trigger "${name}"`);
    }
    await client.query('commit');
  });
}

async function programsOf({ client }: TestOrganization, query = ''): Promise<Program[]> {
  const { status, body } = await client.get(`/api/parent_programs${query}`);
  expect(status).toBe(200);
  return body.data;
}

test('every organization finds its own rows, and each is in one partition', async () => {
  for (const organization of others)
    expect((await programsOf(organization)).map(({ name }) => name)).toEqual([
      'Before the partitions',
      'Nordic Scholars',
    ]);
  const { rows } = await db.pool.query<{ partitions: number }>(
    'select count(distinct tableoid)::int as partitions from parent_programs group by organization_id',
  );
  expect(rows.map(({ partitions }) => partitions)).toEqual([ours, ...others].map(() => 1));
});

test('rows are created, updated, found and deleted, each with its event and a new version', async () => {
  const before = await ours.client.get('/api/parent_programs');
  const created = await ours.client.post('/api/parent_programs', { name: 'Harbour City', external_id: 'HAR' });
  expect(created.status).toBe(201);
  const path = `/api/parent_programs/${created.body.id}`;
  const stale = await ours.client.get('/api/parent_programs', {
    headers: { 'If-None-Match': before.headers['etag'] ?? '' },
  });
  expect(stale.status).toBe(200);
  const taken = await ours.client.post('/api/parent_programs', { name: 'Again', external_id: 'HAR' });
  expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining(created.body.id)]);
  expect((await ours.client.patch(path, { name: 'Harbour Town' })).body.name).toBe('Harbour Town');
  const queries = ['?search=harbour', '?external_id=HAR', `?updated_since=${created.body.created_at}`, '?sort=-name'];
  for (const query of queries) expect((await programsOf(ours, query)).map(({ id }) => id)).toContain(created.body.id);
  const current = applyEvents((await readFeed(ours.client)).events);
  expect(current.get(created.body.id)?.name).toBe('Harbour Town');
  expect((await ours.client.delete(path)).status).toBe(204);
  expect((await ours.client.get(path)).status).toBe(404);
  const { events } = await readFeed(ours.client);
  expect(events.slice(-3).map(({ type }) => type)).toEqual([
    'parent_program.created',
    'parent_program.updated',
    'parent_program.deleted',
  ]);
});

test('a creation that is repeated with its Idempotency-Key creates one row', async () => {
  const create = () =>
    ours.client.post('/api/parent_programs', { name: 'Once' }, { headers: { 'Idempotency-Key': 'partitioned-1' } });
  const [first, second] = [await create(), await create()];
  expect([first.status, second.body.id]).toEqual([201, first.body.id]);
});

test('a list page reads one partition, also with a prepared statement', async () => {
  const planned = await openWithAutoExplain(server.databaseUrl);
  try {
    const scope = OrganizationScope.grant(ours.id);
    const page = { sortField: 'created_at', descending: false, limit: 101, after: null } as const;
    for (const filters of [{}, { search: 'nordic' }, { updatedSince: new Date('2026-01-01') }]) {
      const plans = await planned.explainAll(async () => {
        for (let i = 0; i < 8; i += 1) await listParentPrograms(planned.db, scope, { ...page, ...filters });
      });
      expect(plans.length).toBeGreaterThanOrEqual(8);
      for (const { text } of plans) {
        // A generic plan also names the partitions that were not read. They are marked "never executed".
        const read = [...text.matchAll(/ on (parent_programs_\d).*\((?!never executed)/g)].map(([, name]) => name);
        expect(new Set(read).size).toBe(1);
      }
    }
  } finally {
    await planned.db.close();
  }
});
