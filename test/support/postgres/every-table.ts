// Rows in every table of an organization, made from the catalogue, so that a table or column of a later migration is included.
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { SECRET_COLUMNS } from '../../../src/store/sql/secrets.ts';
import { listTenantTables, type Query, type TenantTable } from '../../../src/store/sql/tenant-tables.ts';
import { KEYRING } from './postgres.ts';

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
 * Inserts a row into each table. Removes the checks of values first, which these values do not meet. The organization's secrets
 * are encrypted by KEYRING.
 */
export async function fillEveryTable(client: pg.Client, organizationId: string): Promise<TenantTable[]> {
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

export async function dropChecks(client: pg.Client, tables: readonly TenantTable[]): Promise<void> {
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
  // Unique, because some columns are.
  if (type === 'bytea') return `\\x00ff5c22${randomBytes(16).toString('hex')}`;
  const text = `${crypto.randomUUID().slice(0, 6)}${TEXT}`.slice(0, length ?? undefined);
  if (type === 'text' || type === 'character varying') return text;
  if (type === 'text[]' || type === 'character varying[]') return '{"a,b","c\\"d"}';
  return VALUES[type] ?? fail(name, type);
}

function fail(name: string, type: string): never {
  throw new Error(`There is no value for the column ${name} of the type ${type}: add one to every-table.ts.`);
}
