import { suspendOrganization } from '../../src/service/operator/organizations.ts';
import { createRow, updateRow } from '../../src/service/resources/rows.ts';
import type { WriteContext } from '../../src/service/resources/writing.ts';
import { PARENT_PROGRAMS } from '../../src/store/resources/tables/parent-programs.ts';
import { NO_KEY_USES } from '../../src/traffic/last-used.ts';
import { inTransaction } from '../support/postgres/postgres.ts';
import {
  createKeyRow,
  createTenant,
  getWriter,
  openTestDatabase,
  type Tenant,
  useDatabase,
} from '../support/postgres/store.ts';

const database = await useDatabase();
await database.db.pool.query(`
  create table bumps (organization_id uuid);
  create function note_bump() returns trigger language plpgsql as
    'begin insert into bumps values (new.id); return null; end';
  create trigger note_bump after update of version on organizations for each row execute function note_bump()`);

async function versionOf({ scope }: Tenant): Promise<bigint> {
  const { version } = await database.db.prisma.organization.findUniqueOrThrow({ where: { id: scope.organizationId } });
  return version;
}

async function countBumps({ scope }: Tenant): Promise<number> {
  const text = 'select from bumps where organization_id = $1';
  return (await database.db.pool.query(text, [scope.organizationId])).rowCount ?? 0;
}

async function writeContext(tenant: Tenant): Promise<WriteContext> {
  const { keyId } = await getWriter(database.db, tenant);
  return {
    db: database.db,
    caller: { scope: tenant.scope, keyId, integration: null, clientAddress: () => '192.0.2.1' },
    keyUses: NO_KEY_USES,
  };
}

const CONTENT = { name: 'Program', description: null, externalId: null, metadata: {} };

/** Returns a function that executes the SQL. `$1` is the organization. */
const sql = (text: string) => (tenant: Tenant) => database.db.pool.query(text, [tenant.scope.organizationId]);
/** Executes SQL as a tool that copies data does. */
const silently = (text: string) => (tenant: Tenant) =>
  inTransaction(database.db, async (client) => {
    await client.query('set local session_replication_role = replica');
    await client.query(text, [tenant.scope.organizationId]);
    await client.query('commit');
  });
const INSERT = `insert into parent_programs (organization_id, id, name)`;

/** Kinds of writes, in addition to those in events.test.ts, which tests the version through the positions of events. */
const WRITES: Record<string, (tenant: Tenant, id: string) => Promise<unknown>> = {
  'the service updates': async (tenant, id) =>
    updateRow(await writeContext(tenant), PARENT_PROGRAMS, { id, patch: { name: 'Other' }, precondition: () => true }),
  'an operator suspends the organization': ({ scope }) => suspendOrganization(database.db, scope.organizationId),
  'raw SQL inserts': sql(`${INSERT} values ($1, gen_random_uuid(), 'x')`),
  'raw SQL inserts many': sql(`${INSERT} select $1, gen_random_uuid(), 'x' from generate_series(1, 1000)`),
  'raw SQL updates': sql(`update parent_programs set name = 'y' where organization_id = $1`),
  'raw SQL deletes': sql('delete from parent_programs where organization_id = $1'),
  'raw SQL inserts while triggers are silent': silently(`${INSERT} values ($1, gen_random_uuid(), 'x')`),
  'raw SQL updates while triggers are silent': silently(
    `update parent_programs set name = 'y' where organization_id = $1`,
  ),
  'raw SQL deletes while triggers are silent': silently('delete from parent_programs where organization_id = $1'),
  'raw SQL changes the organization while triggers are silent': silently(
    `update organizations set name = 'x' where id = $1`,
  ),
  'raw SQL changes the organization': sql(`update organizations set name = 'Other' where id = $1`),
};

test.each(Object.entries(WRITES))('%s: the version grows, of that organization only', async (_, write) => {
  const [ours, theirs] = [await createTenant(database.db), await createTenant(database.db)];
  const { id } = await createRow(await writeContext(ours), PARENT_PROGRAMS, {
    content: CONTENT,
    idempotencyKey: undefined,
    sentBody: () => '{}',
  });
  const [before, others] = [await versionOf(ours), await versionOf(theirs)];
  await write(ours, id);
  expect(await versionOf(ours)).toBeGreaterThan(before);
  expect(await versionOf(theirs)).toBe(others);
});

test.each(['raw SQL inserts many', 'the service updates', 'raw SQL updates', 'raw SQL deletes'])(
  '%s: once',
  async (name) => {
    const ours = await createTenant(database.db);
    const { id } = await createRow(await writeContext(ours), PARENT_PROGRAMS, {
      content: CONTENT,
      idempotencyKey: undefined,
      sentBody: () => '{}',
    });
    const before = await countBumps(ours);
    await WRITES[name]?.(ours, id);
    expect(await countBumps(ours)).toBe(before + 1);
  },
);

// Tools that copy data write as a replica. Then no trigger writes events, so events do not change the versions.
test.each(['origin', 'replica'])("as %s, truncating the table changes every organization's version", async (role) => {
  await using own = await openTestDatabase();
  const tenants = [await createTenant(own.db), await createTenant(own.db)];
  const versions = () => own.db.prisma.organization.findMany({ select: { version: true } });
  const before = await versions();
  await own.db.pool.query(
    `begin; set local session_replication_role = ${role}; truncate parent_programs cascade; commit`,
  );
  const after = await versions();
  expect(after).toHaveLength(tenants.length);
  for (const { version } of after) expect(before).not.toContainEqual({ version });
});

test('a new key, a use of it and an update without a change keep the version', async () => {
  const ours = await createTenant(database.db);
  const { db } = database;
  const program = await createRow(await writeContext(ours), PARENT_PROGRAMS, {
    content: CONTENT,
    idempotencyKey: undefined,
    sentBody: () => '{}',
  });
  const before = await versionOf(ours);
  await createKeyRow(db, ours);
  await sql('update api_keys set last_used_at = now() where organization_id = $1')(ours);
  const patch = { name: CONTENT.name };
  await updateRow(await writeContext(ours), PARENT_PROGRAMS, { id: program.id, patch, precondition: () => true });
  expect(await versionOf(ours)).toBe(before);
});

test('a rolled-back change keeps the version, and 50 concurrent changes each count', async () => {
  const ours = await createTenant(database.db);
  const before = await versionOf(ours);
  await versionOfLostWrite(ours);
  expect(await versionOf(ours)).toBe(before);
  await Promise.all(Array.from({ length: 50 }, () => WRITES['raw SQL inserts']?.(ours, '')));
  expect(await countBumps(ours)).toBe(50);
  expect(await versionOf(ours)).toBeGreaterThan(before);
});

// The race: a write is lost in a failover to a standby after its list page was cached, and the next write reuses its version.
test('a lost version is never reused', async () => {
  const ours = await createTenant(database.db);
  const lost = await versionOfLostWrite(ours);
  await WRITES['raw SQL inserts']?.(ours, '');
  expect(await versionOf(ours)).toBeGreaterThan(lost);
});

async function versionOfLostWrite({ scope }: Tenant): Promise<bigint> {
  return inTransaction(database.db, async (client) => {
    await client.query(`${INSERT} values ($1, gen_random_uuid(), 'x')`, [scope.organizationId]);
    const { rows } = await client.query('select version from organizations where id = $1', [scope.organizationId]);
    return BigInt(rows[0].version);
  });
}
