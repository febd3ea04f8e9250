import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Keyring } from '../../../src/domain/keyring.ts';
import { SECRET_COLUMNS } from '../../../src/store/sql/secrets.ts';
import { listTenantTables, type Query, type TenantTable } from '../../../src/store/sql/tenant-tables.ts';
import { ENCRYPTION_KEY, KEYRING, useScratchDatabase } from '../../support/postgres/postgres.ts';
import { runAdminCommand } from '../../support/processes/admin.ts';

// Fills every table with rows of an organization. The tables and columns are read from the catalogue, so those of later
// migrations are included.

function queryOf(client: pg.Client | pg.Pool): Query {
  return async (text, values) => (await client.query(text, values)).rows;
}

type Column = {
  readonly name: string;
  readonly type: string;
  readonly length: number | null;
  readonly enumValue: string | null;
};

const COLUMNS = `
  select quote_ident(attname) as name, format_type(atttypid, null) as type,
         (select enumlabel from pg_enum where enumtypid = atttypid order by enumsortorder limit 1) as "enumValue",
         case when atttypmod > 4 and atttypid in ('varchar'::regtype, 'varchar[]'::regtype) then atttypmod - 4 end as length
  from pg_attribute
  where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`;

/** Values that a careless copy would damage. */
const TEXT = 'a\\b"c\u2028é\t\'\n,{}';
const VALUES: Readonly<Record<string, string>> = {
  boolean: 'true',
  smallint: '-7',
  integer: '7',
  bigint: '9007199254740993',
  'double precision': '0.30000000000000004',
  numeric: '12345678901234567890.123456789',
  date: '2026-11-23',
  json: '{"b":  1.50, "a" : [null]}',
  jsonb: '{"b": 1.50, "a": "\\u00e9"}',
  'bytea[]': '{"\\\\x00ff","\\\\x"}',
  'uuid[]': '{019c2291-0000-7000-8000-000000000000}',
  cidr: '192.0.2.0/24',
  inet: '192.0.2.1/24',
  'cidr[]': '{192.0.2.0/24}',
  'timestamp with time zone': '2026-11-23 10:20:30.123456+00',
  interval: '1 day 02:03:04',
};

/**
 * Inserts a row into each table. Drops the CHECKs first, which these values would violate. The organization's secrets are
 * encrypted with KEYRING.
 */
async function fillEveryTable(client: pg.Client, organizationId: string): Promise<TenantTable[]> {
  const tables = await listTenantTables(queryOf(client));
  await dropChecks(client, tables);
  await client.query('set session_replication_role = replica');
  for (const { name, owner } of tables) {
    const { rows: columns } = await client.query<Column>(COLUMNS, [name]);
    const values = new Map(columns.map((column) => [column.name, sampleOf(column)]));
    values.set(owner, organizationId);
    for (const { column, ids } of SECRET_COLUMNS.filter(({ table }) => table === name)) {
      const place = { column: `${name}.${column}`, ids: ids.map((id) => values.get(id) ?? '') };
      values.set(column, `\\x${KEYRING.encrypt(randomBytes(32), place).toString('hex')}`);
    }
    const places = columns.map((column, i) => `$${i + 1}::text::${column.type}`);
    await client.query(
      `insert into ${name} (${columns.map((column) => column.name).join(', ')}) values (${places.join(', ')})`,
      columns.map((column) => values.get(column.name)),
    );
  }
  await client.query('set session_replication_role = origin');
  return tables;
}

async function dropChecks(client: pg.Client, tables: readonly TenantTable[]): Promise<void> {
  const { rows } = await client.query<{ table: string; name: string }>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name from pg_constraint
     where contype = 'c' and conrelid = any(select to_regclass(unnest($1::text[])))`,
    [tables.map(({ name }) => name)],
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
}

function sampleOf({ name, type, length, enumValue }: Column): string {
  if (type === 'uuid') return crypto.randomUUID();
  if (enumValue !== null) return enumValue;
  // Every value is different, because some columns are unique.
  if (type === 'bytea') return `\\x00ff5c22${randomBytes(16).toString('hex')}`;
  const text = `${crypto.randomUUID().slice(0, 6)}${TEXT}`.slice(0, length ?? undefined);
  if (type === 'text' || type === 'character varying') return text;
  if (type === 'text[]' || type === 'character varying[]') return '{"a,b","c\\"d"}';
  return VALUES[type] ?? fail(name, type);
}

function fail(name: string, type: string): never {
  throw new Error(`There is no value for the column ${name} of the type ${type}: add one to every-table.ts.`);
}

const OTHER_KEY = Buffer.alloc(32, 'other');
const OTHER = { ENCRYPTION_KEY: OTHER_KEY.toString('base64') };
const [source, target] = [await useScratchDatabase(), await useScratchDatabase()];
const [sourceClient, targetClient] = [new pg.Client(source.url), new pg.Client(target.url)];
await sourceClient.connect();
await targetClient.connect();
const folder = await mkdtemp(join(tmpdir(), 'charter-move-'));
afterAll(async () => {
  await Promise.all([sourceClient.end(), targetClient.end()]);
  await rm(folder, { recursive: true });
});

const organizationId = crypto.randomUUID();
const neighbourId = crypto.randomUUID();
const deletedId = crypto.randomUUID();
const exportedId = crypto.randomUUID();
const tables = await fillEveryTable(sourceClient, organizationId);
for (const id of [neighbourId, deletedId, exportedId]) await fillEveryTable(sourceClient, id);
await sourceClient.query('delete from organization_moves');
await dropChecks(targetClient, tables);
// The installation of the target has its own encryption key.
await targetClient.query('delete from encryption_keys');

/** Returns the rows of the organization by table. Decrypts secrets, and leaves out what a move changes or adds. */
async function rowsIn(client: pg.Client, keyring: Keyring, id = organizationId): Promise<Record<string, unknown[]>> {
  const rows: Record<string, unknown[]> = {};
  for (const table of tables) rows[table.name] = await rowsOf(client, { table, keyring, id });
  return rows;
}

type From = { readonly table: TenantTable; readonly keyring: Keyring; readonly id: string };

async function rowsOf(client: pg.Client, { table: { name, owner }, keyring, id }: From): Promise<unknown[]> {
  // Compares the values as text, because JavaScript would change some.
  const { rows } = await client.query(
    `select to_jsonb(t) - 'version' as row, t::text from ${name} t where ${owner} = $1 order by 2`,
    [id],
  );
  return rows
    .filter(({ row }) => !(name === 'audit_events' && row.act.startsWith('organization.move')))
    .map(({ row, t }) => {
      const secrets = SECRET_COLUMNS.filter(({ table }) => table === name).map(({ column, ids }) => {
        const encrypted = String(row[column]).slice(2);
        const place = { column: `${name}.${column}`, ids: ids.map((each) => String(row[each])) };
        return { encrypted, plain: keyring.decrypt(Buffer.from(encrypted, 'hex'), place).toString('hex') };
      });
      const text = secrets.reduce((each, { encrypted, plain }) => each.replace(encrypted, plain), String(t));
      // The import raises the version of the organization.
      return name === 'organizations' ? { ...row, cursor_key: secrets[0]?.plain } : text;
    });
}

test('the tables of an organization are those with a column organization_id, each after those that it references', async () => {
  const names = tables.map(({ name }) => name);
  const { rows } = await sourceClient.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'organization_id'`,
  );
  expect(names.toSorted()).toEqual(['organizations', ...rows.map(({ name }) => name)].toSorted());
  expect(names[0]).toBe('organizations');
  expect(names.indexOf('webhook_attempts')).toBeGreaterThan(names.indexOf('webhook_deliveries'));
});

test('each secret that the database wants encrypted is encrypted anew by a move', async () => {
  const { rows } = await sourceClient.query<{ column: string }>(
    `select tgrelid::regclass || '.' || replace(encode(tgargs, 'escape'), '\\000', '') as column
     from pg_trigger where tgfoid = 'require_encryption_key'::regproc`,
  );
  expect(rows.map(({ column }) => column).toSorted()).toEqual(
    SECRET_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted(),
  );
});

test('an export for people has every table and no secret', async () => {
  const file = join(folder, 'data.jsonl');
  const { code, stdout } = await runAdminCommand(source.url, [
    'export-organization',
    '--id',
    exportedId,
    '--file',
    file,
    '--json',
  ]);
  expect(code).toBe(0);
  const lines = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(JSON.parse(stdout)).toMatchObject({ organization_id: exportedId, move_id: null, rows: lines.length - 2 });
  expect(lines[0]).toMatchObject({ charter_archive: 1, kind: 'data', organization: { id: exportedId } });
  expect(lines.at(-1)).toMatchObject({ end: true });
  const shown = new Map(lines.slice(1, -1).map(({ table, row }) => [table, Object.keys(row)]));
  expect([...shown.keys()].toSorted()).toEqual(
    tables
      .map(({ name }) => name)
      .filter((name) => name !== 'organization_moves')
      .toSorted(),
  );
  const secret = /hash|secret$|token|cursor_key|recovery|name_key|response_body/;
  expect([...shown.values()].flat().filter((column) => secret.test(column))).toEqual([]);
  expect(shown.get('users')).toContain('email');
  // An archive without secrets cannot be imported.
  const refused = await runAdminCommand(target.url, ['import-organization', '--file', file], OTHER);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--move') });
});

describe('a move between two databases with different encryption keys', () => {
  const file = join(folder, 'move.jsonl');
  const completion = join(folder, 'completion.jsonl');
  const keyFile = join(folder, 'source-key');
  const importing = ['import-organization', '--file', file, '--source-key', keyFile];
  const others = new Keyring([OTHER_KEY]);
  let [before, neighbour]: Record<string, unknown[]>[] = [];

  beforeAll(async () => {
    [before, neighbour] = [await rowsIn(sourceClient, KEYRING), await rowsIn(sourceClient, KEYRING, neighbourId)];
    const exporting = ['export-organization', '--id', organizationId, '--file', file, '--move'];
    expect(await runAdminCommand(source.url, exporting)).toMatchObject({ code: 0, stderr: '' });
    await writeFile(keyFile, ENCRYPTION_KEY);
    expect(await runAdminCommand(target.url, importing, OTHER)).toMatchObject({ code: 0, stderr: '' });
    const completing = ['complete-move', '--id', organizationId, '--file', completion];
    expect(await runAdminCommand(source.url, completing)).toMatchObject({ code: 0, stderr: '' });
    const activating = ['activate-organization', '--file', completion];
    expect(await runAdminCommand(target.url, activating, OTHER)).toMatchObject({ code: 0, stderr: '' });
  });

  test('keeps every value of every table', async () => {
    const after = await rowsIn(targetClient, others);
    expect(after).toEqual(before);
    const empty = Object.entries(after).flatMap(([name, rows]) => (rows.length === 0 ? [name] : []));
    expect(empty).toEqual(['organization_moves']);
  });

  test('changes nothing of other organizations', async () => {
    expect(Object.values(await rowsIn(targetClient, others, neighbourId)).flat()).toEqual([]);
    expect(await rowsIn(sourceClient, KEYRING, neighbourId)).toEqual(neighbour);
  });

  test('gives the organization a higher version than before', async () => {
    const version = async (client: pg.Client) => {
      const text = 'select version from organizations where id = $1';
      return BigInt((await client.query(text, [organizationId])).rows[0].version);
    };
    expect(await version(targetClient)).toBeGreaterThan(await version(sourceClient));
  });

  test('can be repeated, which changes nothing', async () => {
    const imported = await rowsIn(targetClient, others);
    const { code, stdout } = await runAdminCommand(target.url, importing, OTHER);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('It was imported and activated before.'),
    });
    expect(await rowsIn(targetClient, others)).toEqual(imported);
  });
});

test('a deletion leaves no row of the organization, and every row of others', async () => {
  const neighbour = await rowsIn(sourceClient, KEYRING, neighbourId);
  const { rows } = await sourceClient.query('select name from organizations where id = $1', [deletedId]);
  const deletion = ['delete-organization', '--erase', '--id', deletedId, '--name'];
  expect(await runAdminCommand(source.url, [...deletion, 'Another'])).toMatchObject({ code: 1 });
  expect((await rowsIn(sourceClient, KEYRING, deletedId))['users']).toHaveLength(1);
  expect(await runAdminCommand(source.url, [...deletion, rows[0].name])).toMatchObject({ code: 0, stderr: '' });
  const left = await rowsIn(sourceClient, KEYRING, deletedId);
  expect(Object.values(left).flat()).toEqual([]);
  expect(await rowsIn(sourceClient, KEYRING, neighbourId)).toEqual(neighbour);
  const { stdout } = await runAdminCommand(source.url, ['--json', 'list-operator-actions']);
  const actions: { organization_id: string; action: string }[] = JSON.parse(stdout).actions;
  expect(actions.filter((each) => each.organization_id === deletedId).map(({ action }) => action)).toEqual([
    'organization.deleted',
    'organization.deletion_started',
  ]);
});
