import { FEED_START } from '../../../src/domain/resources/event-position.ts';
import { upsertRow } from '../../../src/service/resources/batch.ts';
import { listRows } from '../../../src/service/resources/pages.ts';
import { createRow, getRow, removeRow, updateRow } from '../../../src/service/resources/rows.ts';
import type { WriteContext } from '../../../src/service/resources/writing.ts';
import { listEvents } from '../../../src/store/resources/events.ts';
import { type ContentOf, defineTable, type Stored } from '../../../src/store/resources/table.ts';
import { PARENT_PROGRAMS, type ParentProgram } from '../../../src/store/resources/tables/parent-programs.ts';
import { NO_KEY_USES } from '../../../src/traffic/last-used.ts';
import { createTenant, getWriter, type Tenant, useDatabase } from '../../support/postgres/store.ts';

const { db } = await useDatabase();

// A second resource, which the product does not have.
type Branch = Stored & {
  readonly name: string;
  readonly parent_program_id: string | null;
  readonly open_since: number | null;
  readonly is_open: boolean;
  /** Unique in the organization. */
  readonly code: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** A time in the format of RFC 3339. */
  readonly opens_at: string | null;
  /** Set only by an operation of its own, and never by a create, an update or an upsert. */
  readonly archived_at: string | null;
};
await db.pool.query(`
  create table branches (
    organization_id uuid not null references organizations, id uuid, name text not null, parent_program_id uuid,
    open_since integer, is_open boolean not null, code text, labels jsonb not null,
    opens_at timestamptz(3), archived_at timestamptz(3),
    created_at timestamptz(3) not null default statement_timestamp(),
    updated_at timestamptz(3) not null default statement_timestamp(),
    primary key (organization_id, id),
    constraint branches_organization_id_code_key unique (organization_id, code),
    foreign key (organization_id, parent_program_id) references parent_programs (organization_id, id));
  select bump_versions_with('branches');
  select record_events_of('branches', 'branch',
    $$case when b.archived_at is null and a.archived_at is not null then 'archived' end$$)`);
const BRANCHES = defineTable<Branch, Omit<ContentOf<Branch>, 'archived_at'>>({
  name: 'branches',
  noun: 'branch',
  writePermission: 'parent_programs:write',
  columns: {
    name: 'text',
    parent_program_id: 'uuid',
    open_since: 'integer',
    is_open: 'boolean',
    code: 'text',
    labels: 'jsonb',
    opens_at: 'timestamptz',
    archived_at: 'timestamptz',
  },
  defaults: {},
  setByOperations: { archived_at: null },
  unique: ['code'],
  ownId: 'code',
  references: { parent_program_id: 'parent_programs' },
  maxEntries: { labels: 3 },
});

const PROGRAM = { name: 'Nordic' };
const BRANCH = {
  name: 'Nordic',
  parent_program_id: null,
  open_since: 1999,
  is_open: true,
  code: 'NOR',
  labels: { long: '1', b: '2' },
  opens_at: null,
};
const ANY = () => {};
const ONCE = { idempotencyKey: undefined, sentBody: () => '{}' };

async function contextOf(tenant: Tenant): Promise<WriteContext> {
  const { keyId } = await getWriter(db, tenant);
  return {
    db,
    caller: { scope: tenant.scope, keyId, integration: null, clientAddress: () => '192.0.2.1' },
    keyUses: NO_KEY_USES,
  };
}

test('a row of any table is created, and found as it was returned', async () => {
  const [ours, theirs] = [await createTenant(db), await createTenant(db)];
  const created = await createRow(await contextOf(ours), BRANCHES, { content: BRANCH, ...ONCE });
  expect(created).toMatchObject(BRANCH);
  const { row } = await getRow(db, ours.scope, BRANCHES, { id: created.id });
  expect(JSON.stringify(row)).toBe(JSON.stringify(created));
  await expect(getRow(db, theirs.scope, BRANCHES, { id: created.id })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no branch with this id.',
  });
});

test('an update of a row of any table changes the fields of the patch and keeps the others', async () => {
  const ours = await createTenant(db);
  const context = await contextOf(ours);
  const created = await createRow(context, BRANCHES, { content: BRANCH, ...ONCE });
  const patch = { open_since: null, is_open: false, labels: { long: null, c: '3' } };
  const updated = await updateRow(context, BRANCHES, { id: created.id, patch, precondition: ANY });
  const { id, created_at } = created;
  expect(updated).toMatchObject({ id, created_at, ...BRANCH, ...patch, labels: { b: '2', c: '3' } });
  expect(updated.updated_at > created.updated_at).toBe(true);
  const { row } = await getRow(db, ours.scope, BRANCHES, { id: id });
  expect(JSON.stringify(row)).toBe(JSON.stringify(updated));
  const unchanged = { is_open: false, labels: { c: '3' } };
  expect(await updateRow(context, BRANCHES, { id, patch: unchanged, precondition: ANY })).toEqual(updated);
  const full = { labels: { d: '4', e: '5' } };
  await expect(updateRow(context, BRANCHES, { id, patch: full, precondition: ANY })).rejects.toMatchObject({
    code: 'invalid',
    fields: { labels: ['must have at most 3 entries after the change. Remove some by setting them to null.'] },
  });
});

// The risk: an upsert replaces the whole content, and so undoes what an operation did.
test('a field that only an operation sets is kept by updates and upserts, and its change has an event type of its own', async () => {
  const { scope, ...tenant } = await createTenant(db);
  const context = await contextOf({ scope, ...tenant });
  const content = { ...BRANCH, opens_at: '2027-01-31T09:00:00+01:00' };
  const { id, ...created } = await createRow(context, BRANCHES, { content, ...ONCE });
  expect(created).toMatchObject({ opens_at: '2027-01-31T08:00:00.000Z', archived_at: null });
  const archived_at = '2027-02-01T10:20:30.456Z';
  const archive = (first: string) =>
    updateRow(context, BRANCHES, {
      id,
      patch: (current) => ({ archived_at: current.archived_at ?? first }),
      precondition: ANY,
    });
  const archived = await archive(archived_at);
  expect(archived).toMatchObject({ ...content, opens_at: created.opens_at, archived_at });
  expect(await archive('2027-02-02T00:00:00.000Z')).toEqual(archived);
  await updateRow(context, BRANCHES, { id, patch: { is_open: false }, precondition: ANY });
  const { row } = await upsertRow(context, BRANCHES, { content: BRANCH, precondition: ANY });
  expect(row).toMatchObject({ ...BRANCH, id, archived_at });
  const page = await listRows(db, scope, BRANCHES, { sortField: 'name', descending: false, limit: 1, after: null });
  expect(page.rows.map((json) => JSON.parse(json))).toEqual([(await getRow(db, scope, BRANCHES, { id: id })).row]);
  const { events } = await listEvents(db, scope, { after: FEED_START, types: undefined, limit: 101 });
  expect(events.map(({ json }) => JSON.parse(json))).toMatchObject([
    { type: 'branch.created' },
    { type: 'branch.archived', data: archived },
    { type: 'branch.updated' },
    { type: 'branch.updated', data: row },
  ]);
});

test('a value of a unique field that another row of the organization has is a conflict, which names the row', async () => {
  const [ours, theirs] = [await contextOf(await createTenant(db)), await contextOf(await createTenant(db))];
  const creation = { content: BRANCH, ...ONCE };
  await createRow(theirs, BRANCHES, creation);
  const first = await createRow(ours, BRANCHES, creation);
  const other = await createRow(ours, BRANCHES, { ...creation, content: { ...BRANCH, code: 'ALP' } });
  const conflict = {
    code: 'conflict',
    message: `The branch ${first.id} in your organization already has the code "NOR". Use a different code, or update that branch.`,
  };
  await expect(createRow(ours, BRANCHES, creation)).rejects.toMatchObject(conflict);
  await expect(createRow(ours, BRANCHES, { ...creation, idempotencyKey: 'key' })).rejects.toMatchObject(conflict);
  const update = { id: other.id, patch: { code: 'NOR' }, precondition: ANY };
  await expect(updateRow(ours, BRANCHES, update)).rejects.toMatchObject(conflict);
  await updateRow(ours, BRANCHES, { ...update, patch: { code: null } });
  await updateRow(ours, BRANCHES, { id: first.id, patch: { code: null }, precondition: ANY });
});

test('a row of any table is removed by its organization only, and only if the precondition holds', async () => {
  const [ours, theirs] = [await contextOf(await createTenant(db)), await contextOf(await createTenant(db))];
  const { id } = await createRow(ours, BRANCHES, { content: BRANCH, ...ONCE });
  await expect(removeRow(theirs, BRANCHES, { id, precondition: ANY })).rejects.toMatchObject({ code: 'not_found' });
  const stale = new Error('stale');
  const refuse = () => {
    throw stale;
  };
  await expect(removeRow(ours, BRANCHES, { id, precondition: refuse })).rejects.toBe(stale);
  await removeRow(ours, BRANCHES, { id, precondition: ANY });
  await expect(removeRow(ours, BRANCHES, { id, precondition: ANY })).rejects.toMatchObject({ code: 'not_found' });
});

// The risk: the hash of a request with an idempotency key does not include the table, so the second request gets the response of
// the first.
test('an idempotency key that was used for one resource is refused for another, even with the same content', async () => {
  const context = await contextOf(await createTenant(db));
  const twins = defineTable<ParentProgram, ContentOf<ParentProgram>>({ ...PARENT_PROGRAMS, name: 'twins' });
  await db.pool.query('create table twins (like parent_programs including all)');
  await createRow(context, PARENT_PROGRAMS, { content: PROGRAM, ...ONCE, idempotencyKey: 'same' });
  await expect(createRow(context, twins, { content: PROGRAM, ...ONCE, idempotencyKey: 'same' })).rejects.toMatchObject({
    code: 'invalid',
    fields: { 'Idempotency-Key': [expect.stringMatching(/^was used /)] },
  });
});

// The next version of the table, which has one more optional field.
type NextProgram = ParentProgram & { readonly country: string | null };
const { defaults } = PARENT_PROGRAMS;
const NEXT = defineTable<
  NextProgram,
  { name: string; country?: string | null } & Omit<ContentOf<NextProgram>, 'name' | 'country'>
>({
  ...PARENT_PROGRAMS,
  columns: { ...PARENT_PROGRAMS.columns, country: 'text' },
  defaults: { ...defaults, country: null },
});

// The risk: a client loses the response to a creation, and sends the creation again after the upgrade.
test.each([
  { version: '1.0', isNext: false, change: 'update idempotency_keys set sent_hash = null where organization_id = $1' },
  { version: 'the present one', isNext: true, change: 'select $1::uuid' },
])(
  'a creation that a server of version $version has made is not repeated by one of the following version',
  async ({ isNext, change }) => {
    const context = await contextOf(await createTenant(db));
    const creation = { content: { name: 'Once' }, idempotencyKey: 'key', sentBody: () => '{"name":"Once"}' };
    const first = await createRow(context, PARENT_PROGRAMS, creation);
    await db.pool.query(change, [context.caller.scope.organizationId]);
    const again = isNext ? createRow(context, NEXT, creation) : createRow(context, PARENT_PROGRAMS, creation);
    expect(await again).toEqual({ ...first, ...(isNext && { country: null }) });
  },
);

test('an id in upper case and an instant with an offset are shown from the first response on as they are stored', async () => {
  const context = await contextOf(await createTenant(db));
  const { id } = await createRow(context, PARENT_PROGRAMS, { content: PROGRAM, ...ONCE });
  const given = { ...BRANCH, parent_program_id: id.toUpperCase(), opens_at: '2026-01-31T23:30:00+05:30' };
  const shown = { parent_program_id: id, opens_at: '2026-01-31T18:00:00.000Z' };
  const { row } = await upsertRow(context, BRANCHES, { content: given, precondition: ANY });
  expect(row).toMatchObject(shown);
  const { opens_at } = given;
  expect(await updateRow(context, BRANCHES, { id: row.id, patch: { opens_at }, precondition: ANY })).toEqual(row);
  expect((await getRow(db, context.caller.scope, BRANCHES, { id: row.id })).row).toEqual(row);
});

test.each([undefined, 'key'])(
  'a reference to a row of another organization is refused like one to no row, with the idempotency key %s',
  async (idempotencyKey) => {
    const [ours, theirs] = [await contextOf(await createTenant(db)), await contextOf(await createTenant(db))];
    const content = { content: PROGRAM, ...ONCE };
    const [own, foreign] = [
      await createRow(ours, PARENT_PROGRAMS, content),
      await createRow(theirs, PARENT_PROGRAMS, content),
    ];
    for (const parent_program_id of [foreign.id, crypto.randomUUID()]) {
      const refused = createRow(ours, BRANCHES, { content: { ...BRANCH, parent_program_id }, ...ONCE, idempotencyKey });
      await expect(refused).rejects.toMatchObject({
        code: 'invalid',
        fields: { parent_program_id: ['is not the id of any parent program of your organization.'] },
      });
    }
    const branch = { ...BRANCH, parent_program_id: own.id };
    const created = await createRow(ours, BRANCHES, { content: branch, ...ONCE, idempotencyKey });
    expect(created).toMatchObject(branch);
    const patch = { parent_program_id: foreign.id };
    const replacing = { content: { ...branch, ...patch }, precondition: ANY };
    await expect(upsertRow(ours, BRANCHES, replacing)).rejects.toMatchObject({ code: 'invalid' });
    await expect(updateRow(ours, BRANCHES, { id: created.id, patch, precondition: ANY })).rejects.toMatchObject({
      code: 'invalid',
      fields: { parent_program_id: ['is not the id of any parent program of your organization.'] },
    });
  },
);

test('the triggers of a new table change the version with every way of writing', async () => {
  const { scope } = await createTenant(db);
  const versionOf = async () =>
    (await db.pool.query('select version from organizations where id = $1', [scope.organizationId])).rows[0].version;
  const versions = [await versionOf()];
  for (const text of [
    `insert into branches (organization_id, id, name, is_open, labels)
       values ('${scope.organizationId}', gen_random_uuid(), 'x', true, '{}')`,
    `update branches set name = 'y' where organization_id = '${scope.organizationId}'`,
    `delete from branches where organization_id = '${scope.organizationId}'`,
    'truncate branches',
  ]) {
    await db.pool.query(text);
    versions.push(await versionOf());
  }
  expect(new Set(versions).size).toBe(5);
});

test('the changes of a table that names its type are events, whose data are the row as it is read', async () => {
  const tenant = await createTenant(db);
  const context = await contextOf(tenant);
  const created = await createRow(context, BRANCHES, { content: BRANCH, ...ONCE });
  const { id } = created;
  const updated = await updateRow(context, BRANCHES, { id, patch: { is_open: false }, precondition: ANY });
  await removeRow(context, BRANCHES, { id, precondition: ANY });
  const { events } = await listEvents(db, tenant.scope, { after: FEED_START, types: undefined, limit: 101 });
  const shown = ({ open_since, parent_program_id, is_open, created_at, updated_at, ...others }: Branch) => ({
    ...others,
    open_since: open_since,
    parent_program_id: parent_program_id,
    is_open: is_open,
    created_at: created_at,
    updated_at: updated_at,
  });
  expect(events.map(({ json }) => JSON.parse(json))).toMatchObject([
    { type: 'branch.created', data: shown(created) },
    { type: 'branch.updated', data: shown(updated) },
    { type: 'branch.deleted', data: shown(updated) },
  ]);
  expect(Object.keys(JSON.parse(events[0]?.json ?? '').data).slice(-2)).toEqual(['created_at', 'updated_at']);
});

test('a list is filtered by a boolean and an integer', async () => {
  const tenant = await createTenant(db);
  const context = await contextOf(tenant);
  const create = (changes: Partial<Branch>) =>
    createRow(context, BRANCHES, { content: { ...BRANCH, code: null, ...changes }, ...ONCE });
  const [open, closed] = [await create({}), await create({ is_open: false, open_since: 2000 })];
  const page = { sortField: 'created_at', descending: false, limit: 25, after: null } as const;
  const idsOf = async (equals: { is_open?: boolean; open_since?: number }) =>
    (await listRows(db, tenant.scope, BRANCHES, { ...page, equals })).rows.map((json) => JSON.parse(json).id);
  expect(await idsOf({ is_open: true })).toEqual([open.id]);
  expect(await idsOf({ is_open: false })).toEqual([closed.id]);
  expect(await idsOf({ open_since: 2000 })).toEqual([closed.id]);
});
