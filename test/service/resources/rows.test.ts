import { createRow, getRow, type WriteContext } from '../../../src/service/resources/rows.ts';
import { PARENT_PROGRAMS } from '../../../src/store/parent-programs.ts';
import { defineTable, type Stored } from '../../../src/store/table.ts';
import { NO_KEY_USES } from '../../../src/traffic/last-used.ts';
import { createTenant, type Tenant, useDatabase, writerOf } from '../../support/postgres/store.ts';

const { db } = await useDatabase();

// A second resource, which the product does not have.
type Branch = Stored & {
  readonly name: string;
  readonly parentProgramId: string | null;
  readonly openSince: number | null;
  readonly labels: Readonly<Record<string, string>>;
};
await db.pool.query(`
  create table branches (
    organization_id uuid not null references organizations, id uuid, name text not null, parent_program_id uuid,
    open_since integer, labels jsonb not null,
    created_at timestamptz(3) not null default statement_timestamp(),
    updated_at timestamptz(3) not null default statement_timestamp(),
    primary key (organization_id, id),
    foreign key (organization_id, parent_program_id) references parent_programs (organization_id, id));
  select bump_versions_with('branches')`);
const BRANCHES = defineTable<Branch>({
  name: 'branches',
  noun: 'branch',
  writePermission: 'parent_programs:write',
  columns: { name: 'text', parentProgramId: 'uuid', openSince: 'integer', labels: 'jsonb' },
  references: { parentProgramId: 'parent program' },
});

const PROGRAM = { name: 'Nordic', description: null, externalId: null, metadata: {} };
const BRANCH = { name: 'Nordic', parentProgramId: null, openSince: 1999, labels: { long: '1', b: '2' } };

async function contextOf(tenant: Tenant): Promise<WriteContext> {
  const { keyId } = await writerOf(db, tenant);
  return { db, caller: { scope: tenant.scope, keyId }, keyUses: NO_KEY_USES };
}

test('a row of any table is created, and found as it was returned', async () => {
  const [ours, theirs] = [await createTenant(db), await createTenant(db)];
  const created = await createRow(await contextOf(ours), BRANCHES, { content: BRANCH, idempotencyKey: undefined });
  expect(created).toMatchObject(BRANCH);
  const { row } = await getRow(db, ours.scope, BRANCHES, created.id);
  expect(JSON.stringify(row)).toBe(JSON.stringify(created));
  await expect(getRow(db, theirs.scope, BRANCHES, created.id)).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no branch with this id.',
  });
});

// The attack: without the table in the hash, the response of the first resource would be repeated for the second.
test('an idempotency key that was used for one resource is refused for another, even with the same content', async () => {
  const context = await contextOf(await createTenant(db));
  const twins = defineTable({ ...PARENT_PROGRAMS, name: 'twins' });
  await db.pool.query('create table twins (like parent_programs including all)');
  await createRow(context, PARENT_PROGRAMS, { content: PROGRAM, idempotencyKey: 'same' });
  await expect(createRow(context, twins, { content: PROGRAM, idempotencyKey: 'same' })).rejects.toMatchObject({
    code: 'invalid',
    fields: { 'Idempotency-Key': [expect.stringMatching(/^was used /)] },
  });
});

test.each([undefined, 'key'])(
  'a reference to a row of another organization is refused like one to no row, with the idempotency key %s',
  async (idempotencyKey) => {
    const [ours, theirs] = [await contextOf(await createTenant(db)), await contextOf(await createTenant(db))];
    const content = { content: PROGRAM, idempotencyKey: undefined };
    const [own, foreign] = [
      await createRow(ours, PARENT_PROGRAMS, content),
      await createRow(theirs, PARENT_PROGRAMS, content),
    ];
    for (const parentProgramId of [foreign.id, crypto.randomUUID()]) {
      const refused = createRow(ours, BRANCHES, { content: { ...BRANCH, parentProgramId }, idempotencyKey });
      await expect(refused).rejects.toMatchObject({
        code: 'invalid',
        fields: { parent_program_id: ['is not the id of a parent program of your organization.'] },
      });
    }
    const branch = { ...BRANCH, parentProgramId: own.id };
    expect(await createRow(ours, BRANCHES, { content: branch, idempotencyKey })).toMatchObject(branch);
  },
);

test('the triggers of a new table change the version with every way of writing', async () => {
  const { scope } = await createTenant(db);
  const versionOf = async () =>
    (await db.pool.query('select version from organizations where id = $1', [scope.organizationId])).rows[0].version;
  const versions = [await versionOf()];
  for (const text of [
    `insert into branches (organization_id, id, name, labels) values ('${scope.organizationId}', gen_random_uuid(), 'x', '{}')`,
    `update branches set name = 'y' where organization_id = '${scope.organizationId}'`,
    `delete from branches where organization_id = '${scope.organizationId}'`,
    'truncate branches',
  ]) {
    await db.pool.query(text);
    versions.push(await versionOf());
  }
  expect(new Set(versions).size).toBe(5);
});
