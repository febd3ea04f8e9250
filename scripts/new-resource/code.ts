// The table's file in the store, and the handlers.
import type { Field, Kind } from './field.ts';
import { isChangeable, isRequired, type Operation, type Resource } from './resource.ts';

const COLUMN_TYPES: Readonly<Record<Kind, string>> = {
  string: 'text',
  uri: 'text',
  enum: 'text',
  integer: 'integer',
  boolean: 'boolean',
  reference: 'uuid',
};

export function storeFile({ names, fields }: Resource): string {
  const { type, constant, plural, noun } = names;
  const unique = fields.filter(({ isUnique }) => isUnique).map(({ property }) => `'${property}'`);
  const references = fields
    .filter(({ kind }) => kind === 'reference')
    .map(({ name, property }) => `${property}: '${name.replace(/_id$/, '').replaceAll('_', ' ')}'`);
  return `import { defineTable, type Stored } from '../table.ts';

export type ${type} = Stored & {
${fields.map((field) => `  readonly ${field.property}: ${typeOf(field)};\n`).join('')}};

export const ${constant} = defineTable<${type}>({
  name: '${plural}',
  noun: '${noun}',
  writePermission: '${plural}:write',
  columns: { ${fields.map(({ property, kind }) => `${property}: '${COLUMN_TYPES[kind]}'`).join(', ')} },
${unique.length === 0 ? '' : `  unique: [${unique.join(', ')}],\n`}${references.length === 0 ? '' : `  references: { ${references.join(', ')} },\n`}});
`;
}

function typeOf({ kind, values, isNullable }: Field): string {
  const types = { integer: 'number', boolean: 'boolean', enum: values.map((value) => `'${value}'`).join(' | ') };
  const type = kind === 'integer' || kind === 'boolean' || kind === 'enum' ? types[kind] : 'string';
  return isNullable ? `${type} | null` : type;
}

/** The names that the handlers use for other things. */
const LOCALS = 'body caller content deps headers idempotencyKey patch path precondition present'.split(' ');

export function handlersFile(given: Resource): string {
  const { operations } = given;
  const { variable } = given.names;
  const names = { ...given.names, variable: LOCALS.includes(variable) ? `${variable}Row` : variable };
  const resource = { ...given, names };
  const writes: Readonly<Record<Operation, string>> = {
    list: '',
    create: 'createRow',
    get: 'getRow',
    update: 'updateRow',
    delete: 'removeRow',
  };
  const used = ['createRow', 'getRow', 'removeRow', 'updateRow'].filter((name) =>
    operations.some((operation) => writes[operation] === name),
  );
  const isConditional = isChangeable(resource);
  return `import type { components } from '../../../generated/openapi.d.ts';
import { listRows } from '../../service/resources/pages.ts';
import { ${used.join(', ')} } from '../../service/resources/rows.ts';
import { ${names.constant}, type ${names.type} } from '../../store/resources/tables/${names.file}.ts';
${isConditional ? "import { preconditionOfUpdate } from '../response.ts';\n" : ''}import { respondWithPage } from '../list-page.ts';
import type { Handler } from '../operation.ts';

const PATH = '/api/${names.plural}';
${isConditional ? `const SHOWN = { noun: ${names.constant}.noun, present };\n` : ''}
${operations.map((operation) => HANDLERS[operation](resource)).join('\n')}
function present(${names.variable}: ${names.type}): components['schemas']['${names.type}'] {
  return {
    id: ${names.variable}.id,
${resource.fields.map(({ name, property }) => `    ${name}: ${names.variable}.${property},\n`).join('')}    created_at: ${names.variable}.createdAt,
    updated_at: ${names.variable}.updatedAt,
  };
}
`;
}

const HANDLERS: Readonly<Record<Operation, (resource: Resource) => string>> = {
  list: ({ names: { types, constant }, fields }) => {
    const filters = fields.filter(({ isFilter }) => isFilter);
    const equals = filters.map(({ name, property }) => `${property}: query.${name}`);
    const [before, filtered] =
      filters.length === 0 ? ['', 'page'] : [`  const equals = { ${equals.join(', ')} };\n`, '{ ...page, equals }'];
    return `export const list${types}: Handler<'list${types}'> = ({ query, caller }, { db }) => {
${before}  return respondWithPage(
    db,
    { query, caller },
    { path: PATH, read: (page) => listRows(db, caller.scope, ${constant}, ${filtered}) },
  );
};
`;
  },
  create: ({
    names: { type, variable, constant },
    fields,
  }) => `export const create${type}: Handler<'create${type}'> = async ({ body, headers, caller }, deps) => {
  const { ${fields.map((field) => bindingWithDefaultOf(field, variable)).join(', ')} } = body;
  const content = { ${properties(fields, variable)} };
  const idempotencyKey = headers['idempotency-key'];
  const ${variable} = await createRow({ ...deps, caller }, ${constant}, { content, idempotencyKey });
  return { status: 201, headers: { Location: \`\${PATH}/\${${variable}.id}\` }, body: present(${variable}) };
};
`,
  get: ({
    names: { type, constant },
  }) => `export const get${type}: Handler<'get${type}'> = async ({ path, caller }, { db }) => {
  const { row, version } = await getRow(db, caller.scope, ${constant}, path.id);
  return { status: 200, headers: {}, body: present(row), version };
};
`,
  update: ({
    names: { type, variable, constant },
    fields,
  }) => `export const update${type}: Handler<'update${type}'> = async ({ path, body, headers, caller }, deps) => {
  const { ${fields.map((field) => bindingOf(field, variable)).join(', ')} } = body;
  const patch = { ${properties(fields, variable)} };
  const precondition = preconditionOfUpdate(headers['if-match'], SHOWN);
  const ${variable} = await updateRow({ ...deps, caller }, ${constant}, { id: path.id, patch, precondition });
  return { status: 200, headers: {}, body: present(${variable}) };
};
`,
  delete: ({
    names: { type, constant },
  }) => `export const delete${type}: Handler<'delete${type}'> = async ({ path, headers, caller }, deps) => {
  const precondition = preconditionOfUpdate(headers['if-match'], SHOWN);
  await removeRow({ ...deps, caller }, ${constant}, { id: path.id, precondition });
  return { status: 204, headers: {}, body: null };
};
`,
};

/** The names of the operations, which are also those of their handlers. */
export function operationIds({ names: { type, types }, operations }: Resource): string[] {
  return operations.map((operation) => `${operation}${operation === 'list' ? types : type}`);
}

/** The name of a field in the handlers, where `variable` is the row. */
function localOf({ property }: Field, variable: string): string {
  return property === variable || LOCALS.includes(property) ? `${property}Value` : property;
}

function bindingOf(field: Field, variable: string): string {
  return pair(field.name, localOf(field, variable));
}

/** The binding of a field, with the value that the field has if it is omitted. */
function bindingWithDefaultOf(field: Field, variable: string): string {
  const value = field.default ?? null;
  return isRequired(field)
    ? bindingOf(field, variable)
    : `${bindingOf(field, variable)} = ${typeof value === 'string' ? `'${value}'` : value}`;
}

function properties(fields: readonly Field[], variable: string): string {
  return fields.map((field) => pair(field.property, localOf(field, variable))).join(', ');
}

function pair(name: string, value: string): string {
  return name === value ? name : `${name}: ${value}`;
}
