// The Prisma model of the table, and its migration. `npm run migration -- --check` compares the model with the migration.
import type { Field } from './field.ts';
import { pascal } from './names.ts';
import { isSortedByName, type Resource } from './resource.ts';

type Column = { readonly field: string; readonly prisma: string; readonly attributes: string; readonly sql: string };

const NOW = 'statement_timestamp()';
const TIMES: readonly Column[] = ['createdAt', 'updatedAt'].map((field) => ({
  field,
  prisma: 'DateTime',
  attributes: `@default(dbgenerated("${NOW}")) @map("${snake(field)}") @db.Timestamptz(3)`,
  sql: `TIMESTAMPTZ(3) NOT NULL DEFAULT ${NOW}`,
}));

function columnsOf({ fields }: Resource): Column[] {
  return [
    { field: 'organizationId', prisma: 'String', attributes: '@map("organization_id") @db.Uuid', sql: 'UUID NOT NULL' },
    { field: 'id', prisma: 'String', attributes: '@db.Uuid', sql: 'UUID NOT NULL' },
    ...fields.map(columnOf),
    ...TIMES,
  ];
}

function columnOf({ name, property, kind, max, isNullable }: Field): Column {
  const types = {
    integer: { prisma: 'Int', attribute: '', sql: 'INTEGER' },
    boolean: { prisma: 'Boolean', attribute: '', sql: 'BOOLEAN' },
    reference: { prisma: 'String', attribute: '@db.Uuid', sql: 'UUID' },
    'date-time': { prisma: 'DateTime', attribute: '@db.Timestamptz(3)', sql: 'TIMESTAMPTZ(3)' },
    text: { prisma: 'String', attribute: `@db.VarChar(${max})`, sql: `VARCHAR(${max})` },
  };
  const { prisma, attribute, sql } = kind === 'string' || kind === 'uri' || kind === 'enum' ? types.text : types[kind];
  const map = property === name ? '' : `@map("${name}")`;
  return {
    field: property,
    prisma: isNullable ? `${prisma}?` : prisma,
    attributes: [map, attribute].filter((text) => text !== '').join(' '),
    // Lists are sorted by name with the collation "C", which Prisma cannot express.
    sql: `${sql}${name === 'name' ? ' COLLATE "C"' : ''}${isNullable ? '' : ' NOT NULL'}`,
  };
}

/**
 * Returns the columns of each index, as fields of the model. The index of a filter also has the columns of the default sort
 * order.
 */
function indexesOf(resource: Resource): string[][] {
  const filters = resource.fields.filter(({ isFilter, isUnique }) => isFilter && !isUnique);
  const references = resource.fields.filter(({ kind, isFilter }) => kind === 'reference' && !isFilter);
  return [
    ['createdAt', 'id'],
    ['updatedAt', 'id'],
    ...(isSortedByName(resource) ? [['name', 'id']] : []),
    ...filters.map(({ property }) => [property, 'createdAt', 'id']),
    // When a row is deleted, PostgreSQL looks for rows that refer to it.
    ...references.map(({ property }) => [property]),
  ].map((columns) => ['organizationId', ...columns]);
}

const references = ({ fields }: Resource) =>
  fields
    .filter(({ kind }) => kind === 'reference')
    .map((field) => ({ ...field, model: pascal(field.name.replace(/_id$/, '')) }));

export function model(resource: Resource): string {
  const { names, fields } = resource;
  const relations = [
    ['organization', 'Organization', 'organizationId], references: [id], onDelete: Restrict'],
    ...references(resource).map(({ property, model, isNullable }) => [
      property.replace(/Id$/, ''),
      isNullable ? `${model}?` : model,
      `organizationId, ${property}], references: [organizationId, id], onDelete: Cascade`,
    ]),
  ].map(([field = '', type = '', rest]) => [field, type, `@relation(fields: [${rest})`]);
  const unique = fields
    .filter(({ isUnique }) => isUnique)
    .map(({ property }) => `  @@unique([organizationId, ${property}])\n`);
  const indexes = indexesOf(resource).map((columns) => `  @@index([${columns.join(', ')}])\n`);
  return `model ${names.type} {
${alignColumns(columnsOf(resource).map(({ field, prisma, attributes }) => [field, prisma, attributes]))}
${alignColumns(relations)}
  @@id([organizationId, id])
${[...unique, ...indexes].join('')}  @@map("${names.plural}")
}

`;
}

/** Returns lines of a model. Each row consists of a field's name, type and attributes. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widthOf = (i: number) => Math.max(...rows.map((row) => row[i]?.length ?? 0));
  const [first, second] = [widthOf(0), widthOf(1)];
  return rows
    .map(([a = '', b = '', c = '']) => `${`  ${a.padEnd(first)} ${b.padEnd(second)} ${c}`.trimEnd()}\n`)
    .join('');
}

export function migration(resource: Resource, permissions: readonly string[]): string {
  const { names, fields } = resource;
  const { plural: table } = names;
  const columns = columnsOf(resource).map(({ field, sql }) => `    "${snake(field)}" ${sql},\n`);
  const unique = fields.filter(({ isUnique }) => isUnique).map(({ property }) => ['organizationId', property]);
  const indexes = [
    ...unique.map((each) => createIndex(table, each, 'UNIQUE INDEX')),
    ...indexesOf(resource).map((each) => createIndex(table, each, 'INDEX')),
  ];
  const foreignKeys = [
    { columns: ['organization_id'], target: 'organizations', referred: '"id"', action: 'RESTRICT' },
    ...references(resource).map(({ name, target }) => ({
      columns: ['organization_id', name],
      target,
      referred: '"organization_id", "id"',
      action: 'CASCADE',
    })),
  ].map(
    ({ columns: own, target, referred, action }) =>
      `-- AddForeignKey\nALTER TABLE "${table}" ADD CONSTRAINT "${nameOf(table, own, 'fkey')}" FOREIGN KEY (${quote(own)}) REFERENCES "${target}"(${referred}) ON DELETE ${action} ON UPDATE CASCADE;\n\n`,
  );
  return `-- CreateTable
CREATE TABLE "${table}" (
${columns.join('')}
    CONSTRAINT "${table}_pkey" PRIMARY KEY ("organization_id","id")
);

${indexes.join('')}${foreignKeys.join('')}-- By hand
${fields.map((field) => checkConstraintOf(table, field)).join('')}${triggers(resource)}-- NOT VALID: the keys that exist fulfil the old check, which was stricter, so they need not be read.
ALTER TABLE "api_keys" DROP CONSTRAINT "api_keys_permissions_check";
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_permissions_check" CHECK ("permissions" <@ ARRAY[
${permissions.map((permission) => `  '${permission}'`).join(',\n')}
]::VARCHAR[]) NOT VALID;
`;
}

function createIndex(table: string, fields: readonly string[], kind: string): string {
  const columns = fields.map(snake);
  const name = nameOf(table, columns, kind === 'INDEX' ? 'idx' : 'key');
  return `-- CreateIndex\nCREATE ${kind} "${name}" ON "${table}"(${quote(columns)});\n\n`;
}

/** Returns a name of at most 63 bytes, PostgreSQL's maximum. Shortens the part before the suffix, like Prisma. */
function nameOf(table: string, columns: readonly string[], suffix: string): string {
  return `${[table, ...columns].join('_').slice(0, 63 - suffix.length - 1)}_${suffix}`;
}

function checkConstraintOf(table: string, { name, kind, min, max, values }: Field): string {
  const conditions = {
    integer: `BETWEEN ${min} AND ${max}`,
    enum: `IN (${values.map((value) => `'${value}'`).join(', ')})`,
  };
  const isText = kind === 'string' || kind === 'uri';
  const condition =
    kind === 'integer' || kind === 'enum'
      ? `"${name}" ${conditions[kind]}`
      : isText && min === 1
        ? `"${name}" <> ''`
        : isText && min > 1
          ? `char_length("${name}") >= ${min}`
          : null;
  if (condition === null) return '';
  return `ALTER TABLE "${table}" ADD CONSTRAINT "${nameOf(table, [name], 'check')}" CHECK (${condition});\n`;
}

function triggers({ names: { plural, singular }, hasEvents }: Resource): string {
  const events = hasEvents ? `SELECT "record_events_of"('${plural}', '${singular}');\n` : '';
  return `SELECT "bump_versions_with"('${plural}');\n${events}`;
}

/** Returns the models to which the references refer. */
export function targetsOf(resource: Resource): string[] {
  return references(resource).map(({ model }) => model);
}

function quote(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ');
}

function snake(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
