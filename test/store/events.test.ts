// Every change of a parent program, including those by plain SQL, is an event in the same transaction. The ids of events are in
// the order of the commits.
import type pg from 'pg';
import { v7 as newId } from 'uuid';
import { FEED_START, positionAt } from '../../src/domain/resources/event-position.ts';
import { createRow, removeRow, updateRow } from '../../src/service/resources/rows.ts';
import type { WriteContext } from '../../src/service/resources/writing.ts';
import { listEvents } from '../../src/store/resources/events.ts';
import { listRows } from '../../src/store/resources/list.ts';
import { PARENT_PROGRAMS } from '../../src/store/resources/tables/parent-programs.ts';
import { NO_KEY_USES } from '../../src/traffic/last-used.ts';
import { inTransaction, untilWaiting, withClient } from '../support/postgres/postgres.ts';
import { createTenant, getWriter, openTestDatabase, type Tenant, useDatabase } from '../support/postgres/store.ts';
import { applyEvents, type FeedEvent, type Program } from '../support/traffic/feed.ts';

const database = await useDatabase();
const { db } = database;

const INSERT = 'insert into parent_programs (organization_id, id, name)';
const CONTENT = { name: 'Program', description: null, externalId: null, metadata: {} };

async function programsOf({ scope }: Tenant): Promise<ReadonlyMap<string, Program>> {
  const page = { sortField: 'created_at', descending: false, limit: 101, after: null } as const;
  const { rows } = await listRows(db, scope, PARENT_PROGRAMS, page);
  const programs: Program[] = rows.map(({ json }) => JSON.parse(json));
  return new Map(programs.map((program) => [program.id, program]));
}

async function eventsOf({ scope }: Tenant, after = FEED_START): Promise<FeedEvent[]> {
  const { events } = await listEvents(db, scope, { after, types: undefined, limit: 101 });
  return events.map(({ json }) => JSON.parse(json));
}

async function end({ scope }: Tenant): Promise<string> {
  return positionAt((await listEvents(db, scope, { after: FEED_START, types: undefined, limit: 1 })).version);
}

async function writeContext(tenant: Tenant): Promise<WriteContext> {
  const { keyId } = await getWriter(db, tenant);
  return {
    db,
    caller: { scope: tenant.scope, keyId, integration: null, clientAddress: () => '192.0.2.1' },
    keyUses: NO_KEY_USES,
  };
}

/** Returns a function that executes the SQL. `$1` is the organization. */
const sql = (text: string) => (tenant: Tenant) => db.pool.query(text, [tenant.scope.organizationId]);

/** Creates three parent programs, and returns the id of the first program. */
async function fill(tenant: Tenant): Promise<string> {
  await sql(`${INSERT} select $1, gen_random_uuid(), 'Program ' || i from generate_series(1, 3) i`)(tenant);
  const [id = ''] = (await programsOf(tenant)).keys();
  return id;
}

type Write = (tenant: Tenant, id: string) => Promise<unknown>;

const WRITES: Record<string, readonly [write: Write, ...types: string[]]> = {
  'the service creates': [
    async (tenant) =>
      createRow(await writeContext(tenant), PARENT_PROGRAMS, {
        content: CONTENT,
        idempotencyKey: undefined,
        sentBody: () => '{}',
      }),
    'created',
  ],
  'the service creates, once': [
    async (tenant) => {
      const [context, creation] = [
        await writeContext(tenant),
        { content: CONTENT, idempotencyKey: newId(), sentBody: () => '{}' },
      ];
      await createRow(context, PARENT_PROGRAMS, creation);
      await createRow(context, PARENT_PROGRAMS, creation);
    },
    'created',
  ],
  'the service updates': [
    async (tenant, id) =>
      updateRow(await writeContext(tenant), PARENT_PROGRAMS, {
        id,
        patch: { name: 'Other' },
        precondition: () => true,
      }),
    'updated',
  ],
  'the service changes nothing': [
    async (tenant, id) =>
      updateRow(await writeContext(tenant), PARENT_PROGRAMS, { id, patch: {}, precondition: () => true }),
  ],
  'the service deletes': [
    async (tenant, id) => removeRow(await writeContext(tenant), PARENT_PROGRAMS, { id, precondition: () => true }),
    'deleted',
  ],
  'raw SQL inserts': [sql(`${INSERT} values ($1, gen_random_uuid(), 'x')`), 'created'],
  'raw SQL inserts many': [
    sql(`${INSERT} select $1, gen_random_uuid(), 'x' from generate_series(1, 3)`),
    ...['created', 'created', 'created'],
  ],
  'raw SQL inserts nothing': [sql(`${INSERT} select $1, gen_random_uuid(), 'x' where false`)],
  'raw SQL updates': [
    sql(`update parent_programs set name = 'y' where organization_id = $1`),
    ...['updated', 'updated', 'updated'],
  ],
  'raw SQL updates some to what they are': [
    sql(`update parent_programs set name = 'Program 2' where organization_id = $1`),
    ...['updated', 'updated'],
  ],
  'raw SQL deletes': [
    sql('delete from parent_programs where organization_id = $1'),
    ...['deleted', 'deleted', 'deleted'],
  ],
  'raw SQL inserts or updates': [
    sql(`${INSERT} select organization_id, case name when 'Program 1' then gen_random_uuid() else id end, 'z'
         from parent_programs where organization_id = $1
         on conflict (organization_id, id) do update set name = excluded.name`),
    ...['created', 'updated', 'updated'],
  ],
  'raw SQL merges': [
    sql(`merge into parent_programs p using (select $1::uuid as o, 'Program 1' as n) s on p.organization_id = s.o and name = n
         when matched then delete`),
    'deleted',
  ],
  'raw SQL within a statement': [
    sql(`with gone as (delete from parent_programs where organization_id = $1 and name <> 'Program 1' returning 1)
         select count(*) from gone`),
    ...['deleted', 'deleted'],
  ],
  'raw SQL changes an id': [
    sql(`update parent_programs set id = gen_random_uuid() where organization_id = $1 and name = 'Program 1'`),
    ...['created', 'deleted'],
  ],
  'raw SQL changes the same row again and again': [
    ({ scope: { organizationId } }, id) =>
      inTransaction(db, async (client) => {
        const change = (text: string) => client.query(text, [organizationId, id]);
        await change(`update parent_programs set name = 'a' where organization_id = $1 and id = $2`);
        await change(`update parent_programs set name = 'b' where organization_id = $1 and id = $2`);
        await change('delete from parent_programs where organization_id = $1 and id = $2');
        await change(`${INSERT} values ($1, $2, 'c')`);
        await client.query('commit');
      }),
    ...['updated', 'updated', 'deleted', 'created'],
  ],
  'raw SQL rolls back': [
    ({ scope: { organizationId } }) =>
      inTransaction(db, (client) =>
        client.query('delete from parent_programs where organization_id = $1', [organizationId]),
      ),
  ],
  'raw SQL rolls back to a savepoint': [
    ({ scope: { organizationId } }) =>
      inTransaction(db, async (client) => {
        await client.query('savepoint before');
        await client.query('delete from parent_programs where organization_id = $1', [organizationId]);
        await client.query('rollback to before');
        await client.query(`${INSERT} values ($1, gen_random_uuid(), 'x')`, [organizationId]);
        await client.query('commit');
      }),
    'created',
  ],
  'raw SQL changes the organization': [sql(`update organizations set name = 'Other' where id = $1`)],
  // Tools that copy data also copy the events, so their writes cause no events.
  'a tool copies data': [
    ({ scope: { organizationId } }) =>
      inTransaction(db, async (client) => {
        await client.query('set local session_replication_role = replica');
        await client.query('delete from parent_programs where organization_id = $1 and name = $2', [
          organizationId,
          'x',
        ]);
        await client.query('commit');
      }),
  ],
};

// The data of an event is the program as the list shows it. So applying all events to a copy must result in the table.
test.each(Object.entries(WRITES))(
  '%s: the events turn a copy into the table, and come after the version before',
  async (_, [write, ...types]) => {
    const [ours, theirs] = [await createTenant(db), await createTenant(db)];
    const id = await fill(ours);
    const [before, start] = [await programsOf(ours), await end(ours)];
    await write(ours, id);
    const events = await eventsOf(ours, start);
    if (types.length > 0) expect((await end(ours)) > start).toBe(true);
    expect(events.map(({ type }) => type.replace('parent_program.', '')).toSorted()).toEqual(types.toSorted());
    expect(applyEvents(events, before)).toEqual(await programsOf(ours));
    expect(await eventsOf(theirs)).toEqual([]);
  },
);

test('a row that moves is deleted in one organization and created in the other', async () => {
  const [ours, theirs] = [await createTenant(db), await createTenant(db)];
  await fill(ours);
  const [before, start] = [await programsOf(ours), await end(ours)];
  await db.pool.query('update parent_programs set organization_id = $2 where organization_id = $1', [
    ours.scope.organizationId,
    theirs.scope.organizationId,
  ]);
  expect(applyEvents(await eventsOf(ours, start), before)).toEqual(new Map());
  expect(applyEvents(await eventsOf(theirs))).toEqual(before);
});

test('truncating the table deletes every parent program', async () => {
  await using own = await openTestDatabase();
  const tenants = [await createTenant(own.db), await createTenant(own.db)];
  for (const { scope } of tenants)
    await own.db.pool.query(`${INSERT} values ($1, gen_random_uuid(), 'x')`, [scope.organizationId]);
  await own.db.pool.query('truncate parent_programs cascade');
  for (const { scope } of tenants) {
    const { events } = await listEvents(own.db, scope, { after: FEED_START, types: undefined, limit: 101 });
    const all: FeedEvent[] = events.map(({ json }) => JSON.parse(json));
    expect(all.map(({ type }) => type)).toEqual(['parent_program.created', 'parent_program.deleted']);
    expect(applyEvents(all)).toEqual(new Map());
  }
});

/** Runs the work with two connections, each for a transaction of its own. */
function withTwo<T>(work: (first: pg.Client, second: pg.Client) => Promise<T>): Promise<T> {
  return withClient(database.url, (first) => withClient(database.url, (second) => work(first, second)));
}

const insert = (client: pg.Client, { scope }: Tenant, name: string) =>
  client.query(`${INSERT} values ($1, gen_random_uuid(), $2)`, [scope.organizationId, name]);
const namesOf = (events: readonly FeedEvent[]) => events.map(({ data }) => data.name);

// The race: if positions came from a sequence or a clock, the second transaction could get the higher position and commit first.
// A reader that continued after that position would miss the event of the first transaction.
test('a transaction that wrote first and commits last does not appear before a position that was given out', async () => {
  const ours = await createTenant(db);
  await withTwo(async (first, second) => {
    await first.query('begin');
    await insert(first, ours, 'first');
    const written = insert(second, ours, 'second');
    await untilWaiting(db.pool, 1);
    const position = await end(ours);
    expect(await eventsOf(ours)).toEqual([]);
    await insert(first, ours, 'first again');
    await first.query('commit');
    await written;
    expect(namesOf(await eventsOf(ours, position))).toEqual(['first', 'first again', 'second']);
  });
});

test('a transaction that began first and writes last gets a later position', async () => {
  const ours = await createTenant(db);
  await withTwo(async (first, second) => {
    await first.query('begin');
    // The time and the snapshot of this transaction are older than those of the second transaction.
    await first.query('select now(), count(*) from parent_programs');
    await insert(second, ours, 'second');
    const position = await end(ours);
    await insert(first, ours, 'first');
    expect(await eventsOf(ours, position)).toEqual([]);
    await first.query('commit');
    expect(namesOf(await eventsOf(ours, position))).toEqual(['first']);
    expect(namesOf(await eventsOf(ours))).toEqual(['second', 'first']);
  });
});

test('a savepoint that is rolled back gives up its place, and its transaction goes behind those that committed since', async () => {
  const ours = await createTenant(db);
  await withTwo(async (first, second) => {
    await first.query('begin');
    await first.query('savepoint before');
    await insert(first, ours, 'gone');
    await first.query('rollback to before');
    await insert(second, ours, 'second');
    const position = await end(ours);
    await insert(first, ours, 'first');
    await first.query('commit');
    expect(namesOf(await eventsOf(ours, position))).toEqual(['first']);
  });
});

test('organizations do not wait for each other', async () => {
  const [ours, theirs] = [await createTenant(db), await createTenant(db)];
  await withTwo(async (first, second) => {
    await first.query('begin');
    await insert(first, ours, 'ours');
    await insert(second, theirs, 'theirs');
    expect(namesOf(await eventsOf(theirs))).toEqual(['theirs']);
    await first.query('rollback');
  });
});

// The risk: a failover to a standby loses the last commits. A reader with a position beyond them must not miss later events.
test('a position of a lost commit is before every later event', async () => {
  const ours = await createTenant(db);
  const lost = await inTransaction(db, async (client) => {
    await client.query(`${INSERT} values ($1, gen_random_uuid(), 'lost')`, [ours.scope.organizationId]);
    const text = 'select version::text from organizations where id = $1';
    return positionAt((await client.query(text, [ours.scope.organizationId])).rows[0].version);
  });
  await sql(`${INSERT} values ($1, gen_random_uuid(), 'later')`)(ours);
  expect(namesOf(await eventsOf(ours, lost))).toEqual(['later']);
});
