import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERMISSIONS } from '../../src/domain/role.ts';
import { useDatabase } from '../support/store.ts';

type Property = { type?: string | string[]; format?: string; maxLength?: number; enum?: string[]; $ref?: string };
type Schema = { properties?: Record<string, Property>; enum?: string[] };

const document: { components: { schemas: Record<string, Schema> } } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'),
);
const schemaOf = (name: string) => document.components.schemas[name] ?? {};
const propertiesOf = (name: string) => Object.entries(schemaOf(name).properties ?? {});

/** The table behind each schema that shows rows. `without` explains each property that has no column. */
const TABLES: Record<string, { table: string; columns?: Record<string, string>; without?: Record<string, string> }> = {
  ParentProgram: { table: 'parent_programs' },
  Key: { table: 'api_keys', without: { organization: 'KeyOrganization, below' } },
  KeyOrganization: { table: 'organizations' },
};

type Column = { type: string; maxLength: number | null; isNullable: boolean };

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
  ARRAY: 'array',
};

test('the request schemas of create and update have the same bounds as the response schema', () => {
  const shown = Object.fromEntries(propertiesOf('ParentProgram'));
  for (const name of ['ParentProgramCreate', 'ParentProgramUpdate']) {
    for (const [property, { maxLength }] of propertiesOf(name)) {
      expect({ name, property, maxLength }).toEqual({ name, property, maxLength: shown[property]?.maxLength });
    }
  }
});

test('the database allows exactly the permissions of the contract', () => {
  expect([...PERMISSIONS].sort()).toEqual([...(schemaOf('Permission').enum ?? [])].sort());
});

/** A field is unique within an organization in the contract exactly when the database enforces it. */
test('the fields that the contract declares unique within an organization are unique in the database', async () => {
  const { rows } = await database.db.pool.query<{ columns: string }>(
    `select string_agg(a.attname, ',' order by k.ordinality) as columns
     from pg_index i cross join unnest(i.indkey) with ordinality k (attnum, ordinality)
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
     where i.indrelid = 'parent_programs'::regclass and i.indisunique and i.indpred is null group by i.indexrelid`,
  );
  const said = propertiesOf('ParentProgram').filter(([, property]) =>
    /\bunique in your organization\b/.test(JSON.stringify(property)),
  );
  expect(rows.map((row) => row.columns).sort()).toEqual(
    ['id', ...said.map(([name]) => name)].map((name) => `organization_id,${name}`).sort(),
  );
});
