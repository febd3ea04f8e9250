import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERMISSIONS } from '../../src/domain/role.ts';
import { resources } from '../support/resources.ts';
import { useDatabase } from '../support/store.ts';

type Property = {
  type?: string | string[];
  format?: string;
  maxLength?: number;
  maxItems?: number;
  enum?: string[];
  $ref?: string;
};
type Schema = { properties?: Record<string, Property>; enum?: string[] };

type Shown = { responses: Record<string, { content: { 'application/json': { schema: Property } } }> };
const document: {
  paths: Record<string, Record<string, Shown>>;
  components: { schemas: Record<string, Schema>; headers: Record<string, { schema: Schema }> };
} = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
const schemaOf = (name: string) => document.components.schemas[name] ?? {};
const propertiesOf = (name: string) => Object.entries(schemaOf(name).properties ?? {});

/** The table behind each schema that shows rows. `without` explains each property that has no column. */
const TABLES: Record<string, { table: string; columns?: Record<string, string>; without?: Record<string, string> }> = {
  ...Object.fromEntries(resources.map(({ path, table }) => [schemaCreatedAt(path), { table }])),
  Event: { table: 'events' },
  Key: { table: 'api_keys', without: { organization: 'KeyOrganization, below' } },
  KeyOrganization: { table: 'organizations' },
};

type Column = { type: string; maxLength: number | null; isNullable: boolean };

/** The schema of the rows that are created on the path. */
function schemaCreatedAt(path: string): string {
  const { $ref = '' } = document.paths[path]?.['post']?.responses[201]?.content['application/json'].schema ?? {};
  return $ref.split('/').at(-1) ?? '';
}

const database = await useDatabase();
const { rows } = await database.db.pool.query<Column & { name: string }>(
  `select table_name || '.' || column_name as name, data_type as type, character_maximum_length as "maxLength",
          is_nullable = 'YES' as "isNullable"
   from information_schema.columns where table_schema = 'public'`,
);
const columns = new Map(rows.map(({ name, ...column }) => [name, column]));

describe.each(Object.entries(TABLES))('%s', (name, { table, without = {} }) => {
  test.each(propertiesOf(name).filter(([property]) => without[property] === undefined))(
    '%s: the column has the same bounds as the contract',
    (property, schema) => {
      const column = columns.get(`${table}.${property}`);
      const types = [schema.type].flat();
      expect(column).toBeDefined();
      expect({ isNullable: column?.isNullable }).toEqual({ isNullable: types.includes('null') });
      if (column?.type === 'character varying')
        expect({ maxLength: schema.maxLength }).toEqual({ maxLength: column.maxLength });
      expect(TYPES[column?.type ?? '']).toBe(schema.format ?? schema.$ref ?? types[0]);
    },
  );
});

/** The bounds of a column, in the terms of the contract. */
const TYPES: Record<string, string> = {
  'character varying': 'string',
  uuid: 'uuid',
  'timestamp with time zone': 'date-time',
  jsonb: '#/components/schemas/Metadata',
  json: '#/components/schemas/ParentProgram',
  ARRAY: 'array',
};

test.each(resources)('the request schemas of $path have the same bounds as the response schema', ({ path }) => {
  const schema = schemaCreatedAt(path);
  const shown = Object.fromEntries(propertiesOf(schema));
  for (const name of [`${schema}Create`, `${schema}Update`]) {
    for (const [property, { maxLength }] of propertiesOf(name)) {
      expect({ name, property, maxLength }).toEqual({ name, property, maxLength: shown[property]?.maxLength });
    }
  }
});

test('the code, the database and every place of the contract have exactly the same permissions', async () => {
  const permissions = [...PERMISSIONS].sort();
  expect([...(schemaOf('Permission').enum ?? [])].sort()).toEqual(permissions);
  const { rows: checks } = await database.db.pool.query<{ text: string }>(
    `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'api_keys_permissions_check'`,
  );
  expect(checks.flatMap(({ text }) => namesIn(text)).sort()).toEqual(permissions);
  const scopes = document.components.headers['WwwAuthenticatePermission']?.schema.enum ?? [];
  expect(scopes.flatMap(namesIn).sort()).toEqual(permissions);
  expect(propertiesOf('Key').find(([name]) => name === 'permissions')?.[1].maxItems).toBe(permissions.length);
});

function namesIn(text: string): string[] {
  return text.match(/\b[a-z_]+:(read|write)\b/g) ?? [];
}

/** A field is unique within an organization in the contract exactly when the database enforces it. */
test.each(resources)(
  'the fields of $path that are unique in the contract are unique in the database',
  async (resource) => {
    const { rows } = await database.db.pool.query<{ columns: string }>(
      `select string_agg(a.attname, ',' order by k.ordinality) as columns
     from pg_index i cross join unnest(i.indkey) with ordinality k (attnum, ordinality)
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
     where i.indrelid = $1::regclass and i.indisunique and i.indpred is null group by i.indexrelid`,
      [resource.table],
    );
    const said = propertiesOf(schemaCreatedAt(resource.path)).filter(([, property]) =>
      /\bunique in your organization\b/.test(JSON.stringify(property)),
    );
    expect(rows.map((row) => row.columns).sort()).toEqual(
      ['id', ...said.map(([name]) => name)].map((name) => `organization_id,${name}`).sort(),
    );
  },
);
