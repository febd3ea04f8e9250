import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLastReleased } from '../../scripts/release-contract/released.ts';
import { createAjv } from '../../src/contract/contract.ts';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { EVENT_TABLES } from '../../src/store/resources/events.ts';
import { type InitialValues, valueOfNewField } from '../../src/store/resources/table.ts';
import { resources } from '../support/contract/resources.ts';
import { useDatabase } from '../support/postgres/store.ts';

type Property = {
  type?: string | string[];
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  enum?: string[];
  $ref?: string;
  oneOf?: unknown[];
  anyOf?: unknown[];
};
type Schema = { properties?: Record<string, Property>; enum?: string[] };

type Delivered = { post: { requestBody: { content: { 'application/json': { schema: Property } } } } };
type Shown = { responses: Record<string, { content: { 'application/json': { schema: Property } } }> };
type Document = {
  paths: Record<string, Record<string, Shown>>;
  webhooks: Record<string, Delivered>;
  components: { schemas: Record<string, Schema>; headers: Record<string, { schema: Schema }> };
};
const document: Document = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
const schemaOf = (name: string) => document.components.schemas[name] ?? {};
const propertiesOf = (name: string) => Object.entries(schemaOf(name).properties ?? {});

/** The table behind each schema that shows rows. `without` says why a property has no column. */
const TABLES: Record<string, { table: string; columns?: Record<string, string>; without?: Record<string, string> }> = {
  ...Object.fromEntries(resources.map(({ path, table }) => [schemaCreatedAt(path), { table }])),
  Event: { table: 'events' },
  Key: { table: 'api_keys', without: { organization: 'KeyOrganization, below', integration: 'KeyIntegration, below' } },
  KeyOrganization: { table: 'organizations' },
  KeyIntegration: { table: 'users' },
};

type Column = { type: string; maxLength: number | null; isNullable: boolean };

function schemaCreatedAt(path: string): string {
  const { $ref } = document.paths[path]?.['post']?.responses[201]?.content['application/json'].schema ?? {};
  return nameOf($ref);
}

function nameOf(reference = ''): string {
  return reference.split('/').at(-1) ?? '';
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
      expect(TYPES[column?.type ?? '']).toBe(kindOf(schema));
    },
  );
});

/** The contract's name for each PostgreSQL type. */
const TYPES: Record<string, string> = {
  boolean: 'boolean',
  'character varying': 'string',
  integer: 'integer',
  uuid: 'uuid',
  'timestamp with time zone': 'date-time',
  jsonb: 'object',
  json: 'object',
  ARRAY: 'array',
};

/** Returns the format of a string if PostgreSQL has a type for the format, such as "uuid", and otherwise the type. */
function kindOf({ type, format = '', $ref, oneOf, anyOf }: Property): string | undefined {
  if ([$ref, oneOf, anyOf].some((each) => each !== undefined)) return 'object';
  const [first] = [type].flat();
  return first === 'string' && ['uuid', 'date-time'].includes(format) ? format : first;
}

test.each(resources)('the CHECKs of $table accept exactly the bounds of the contract', async (resource) => {
  const found: string[] = [];
  for (const [property, schema] of propertiesOf(schemaCreatedAt(resource.path)))
    found.push(...(await differencesOf(`${resource.table}.${property}`, schema)));
  expect(found).toEqual([]);
});

test('a CHECK with other bounds than the contract is noticed, and a missing one', async () => {
  const { pool } = database.db;
  await pool.query(
    'create table trial (narrow integer check (narrow between 1 and 9), wide integer check (wide <= 10), name text)',
  );
  try {
    const bounds = { type: ['integer', 'null'], minimum: 0, maximum: 10 };
    expect(await differencesOf('trial.narrow', bounds)).toEqual([
      'trial.narrow: the contract accepts 0, and the CHECK does not. Correct the CHECK in the migration, or the contract.',
      'trial.narrow: the contract accepts 10, and the CHECK does not. Correct the CHECK in the migration, or the contract.',
    ]);
    expect(await differencesOf('trial.wide', bounds)).toEqual([
      'trial.wide: the contract refuses -1, and no CHECK does. Add a CHECK to the migration, or correct the contract.',
    ]);
    expect(await differencesOf('trial.name', { type: 'string', minLength: 1 })).toEqual([
      'trial.name: the contract refuses "", and no CHECK does. Add a CHECK to the migration, or correct the contract.',
    ]);
  } finally {
    await pool.query('drop table trial');
  }
});

/** Returns the differences between the CHECKs of a column and the limits of its field, each with a remedy. */
async function differencesOf(column: string, schema: Property): Promise<string[]> {
  const found: string[] = [];
  for (const { value, isValid } of valuesAtBounds(schema)) {
    if ((await isAccepted(column, value)) === isValid) continue;
    const said = `${column}: the contract ${isValid ? 'accepts' : 'refuses'} ${JSON.stringify(value)}`;
    found.push(
      isValid
        ? `${said}, and the CHECK does not. Correct the CHECK in the migration, or the contract.`
        : `${said}, and no CHECK does. Add a CHECK to the migration, or correct the contract.`,
    );
  }
  return found;
}

type AtBound = { readonly value: string | number; readonly isValid: boolean };

const [LEAST_INTEGER, LARGEST_INTEGER] = [-(2 ** 31), 2 ** 31 - 1];

/**
 * Returns values just inside and just outside the field's limits. The column's type enforces maximum lengths, enumerations and
 * formats.
 */
function valuesAtBounds(schema: Property): AtBound[] {
  const { minLength = 0, minimum = LEAST_INTEGER, maximum = LARGEST_INTEGER } = schema;
  if (kindOf(schema) === 'integer')
    return [
      { value: minimum - 1, isValid: false },
      { value: minimum, isValid: true },
      { value: maximum, isValid: true },
      { value: maximum + 1, isValid: false },
    ];
  if (kindOf(schema) !== 'string' || schema.enum !== undefined) return [];
  return minLength === 0 ? [{ value: '', isValid: true }] : [{ value: 'x'.repeat(minLength - 1), isValid: false }];
}

/**
 * Returns whether a column of this type and with these CHECKs accepts the value. CHECKs that involve several columns are ignored.
 */
async function isAccepted(column: string, value: string | number): Promise<boolean> {
  if (typeof value === 'number' && (value < LEAST_INTEGER || value > LARGEST_INTEGER)) return false;
  const { pool } = database.db;
  const [table = '', name = ''] = column.split('.');
  const { rows: checks } = await pool.query<{ condition: string }>(
    `select pg_get_expr(conbin, conrelid) as condition
     from pg_constraint join pg_attribute on attrelid = conrelid and conkey = array[attnum]
     where contype = 'c' and conrelid = $1::regclass and attname = $2`,
    [table, name],
  );
  const conditions = ['true', ...checks.map(({ condition }) => `(${condition}) is not false`)];
  const type = typeof value === 'number' ? 'integer' : 'text';
  const { rows } = await pool.query<{ isAccepted: boolean }>(
    `select ${conditions.join(' and ')} as "isAccepted" from (select $1::${type} as "${name}") as written`,
    [value],
  );
  return rows[0]?.isAccepted === true;
}

test.each(resources)('the request schemas of $path have the same bounds as the response schema', ({ path }) => {
  const schema = schemaCreatedAt(path);
  const shown = Object.fromEntries(propertiesOf(schema));
  for (const name of [`${schema}Create`, `${schema}Update`]) {
    for (const [property, own] of propertiesOf(name))
      expect({ name, property, ...boundsOf(own) }).toEqual({ name, property, ...boundsOf(shown[property]) });
  }
});

function boundsOf({ format, minLength, maxLength, minimum, maximum }: Property = {}) {
  // A request may write a time in other forms than a response does.
  if (format === 'date-time') return { format };
  return { minLength, maxLength, minimum, maximum };
}

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

// Lists use the order of the resource's definition, events the order of the columns in PostgreSQL, and the mock the order of the
// contract.
test.each(resources)(
  'the fields of $path have the same order in the contract, in its table and in PostgreSQL',
  async (resource) => {
    const { rows: inTable } = await database.db.pool.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
      [resource.table],
    );
    const ofRow = (names: readonly string[]) =>
      names.filter((name) => !['organization_id', 'created_at', 'updated_at'].includes(name)).join(', ');
    const table = Object.values(EVENT_TABLES).find(({ name }) => name === resource.table);
    const contract = ofRow(propertiesOf(schemaCreatedAt(resource.path)).map(([name]) => name));
    const orders = {
      PostgreSQL: ofRow(inTable.map(({ name }) => name)),
      ...(table && { definition: ofRow(['id', ...Object.keys(table.columns)]) }),
    };
    const differing = Object.entries(orders).filter(([, order]) => order !== contract);
    expect(
      differing.map(
        ([where, order]) =>
          `${where}: ${order}. The contract: ${contract}. A new column stands last in PostgreSQL, so its field stands last before created_at.`,
      ),
    ).toEqual([]);
  },
);

// If the triggers did not know a column, every event would show it as null, as if the event were older than the column.
test.each(Object.entries(EVENT_TABLES))(
  'an event of a %s has every column of its table',
  async (_, { name, columns }) => {
    const { rows } = await database.db.pool.query<{ text: string }>(
      'select prosrc as text from pg_proc where oid = $1::regproc',
      [`write_events_of_${name}`],
    );
    const missing = Object.keys(columns).filter(
      (column) => !new RegExp(`\\bp\\."?${column}\\b`).test(rows[0]?.text ?? ''),
    );
    expect(
      missing.map((column) => `${column}: call "record_events_of"('${name}', …) in the migration that adds the column`),
    ).toEqual([]);
  },
);

/** Returns the fields that are new since the last release and for which stored events have no value. */
function unfilledFields(released: Schema, present: Schema, table: InitialValues): string[] {
  const before = Object.keys(Object(released.properties));
  const added = Object.entries<object>(Object(present.properties)).filter(([field]) => !before.includes(field));
  const ajv = createAjv();
  return added
    .filter(
      ([field, schema]) => !ajv.validate({ ...schema, components: document.components }, valueOfNewField(table, field)),
    )
    .map(
      ([field]) =>
        `${field}: kept events have no value for it. Allow null, or give it a default in the table's definition.`,
    );
}

test.each(Object.entries(EVENT_TABLES))(
  'each field of %s that the last release did not have can be filled in in the events that are kept',
  async (resource, table) => {
    const dataOf = ({ webhooks, components }: Document): Schema => {
      const { $ref } = webhooks[`${resource}.created`]?.post.requestBody.content['application/json'].schema ?? {};
      const { properties } = components.schemas[nameOf($ref)] ?? {};
      return components.schemas[nameOf(properties?.['data']?.$ref)] ?? {};
    };
    const present = dataOf(document);
    // The type is right, because the released document is an OpenAPI document, too.
    const released = dataOf((await findLastReleased())?.document as Document);
    // A new resource has no stored events.
    if (released.properties !== undefined) expect(unfilledFields(released, present, table)).toEqual([]);
    const planted = { type: 'string', minLength: 1 };
    const next = {
      properties: { ...present.properties, without_value: planted, with_null: { type: ['string', 'null'] } },
    };
    expect(unfilledFields(present, next, table)).toEqual([expect.stringMatching(/^without_value: .*Allow null/)]);
  },
);

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
