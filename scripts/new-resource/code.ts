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

export function storeFile({ names, fields, operations }: Resource): string {
  const { type, constant, plural, noun } = names;
  const unique = fields.filter(({ isUnique }) => isUnique).map(({ name }) => `'${name}'`);
  const references = fields
    .filter(({ kind }) => kind === 'reference')
    .map(({ name }) => `${name}: '${name.replace(/_id$/, '').replaceAll('_', ' ')}'`);
  const defaults = fields
    .filter((field) => !isRequired(field))
    .map((field) => `${field.name}: ${literal(field.default)}`);
  const creation = operations.includes('create') ? `Schemas['${type}Create']` : 'object';
  return `import type { components } from '../../../../generated/openapi.d.ts';
import { defineTable } from '../table.ts';

type Schemas = components['schemas'];

export const ${constant} = defineTable<Schemas['${type}'], ${creation}>({
  name: '${plural}',
  noun: '${noun}',
  writePermission: '${plural}:write',
  columns: { ${fields.map(({ name, kind }) => `${name}: '${COLUMN_TYPES[kind]}'`).join(', ')} },
  defaults: {${operations.includes('create') && defaults.length > 0 ? ` ${defaults.join(', ')} ` : ''}},
${unique.length === 0 ? '' : `  unique: [${unique.join(', ')}],\n`}${references.length === 0 ? '' : `  references: { ${references.join(', ')} },\n`}});
`;
}

function literal(value: Field['default']): string {
  return typeof value === 'string' ? `'${value}'` : String(value ?? null);
}

export function handlersFile(resource: Resource): string {
  const { operations, names } = resource;
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
  return `import { listRows } from '../../service/resources/pages.ts';
import { ${used.join(', ')} } from '../../service/resources/rows.ts';
import { ${names.constant} } from '../../store/resources/tables/${names.file}.ts';
import { respondWithPage } from '../list-page.ts';
import type { Handler } from '../operation.ts';
${isChangeable(resource) ? "import { preconditionOfUpdate } from '../response.ts';\n" : ''}
const PATH = '/api/${names.plural}';

${operations.map((operation) => HANDLERS[operation](names)).join('\n')}`;
}

const HANDLERS: Readonly<Record<Operation, (names: Resource['names']) => string>> = {
  list: ({ types, constant }) => `export const list${types}: Handler<'list${types}'> = (input, { db }) =>
  respondWithPage(db, input, {
    path: PATH,
    read: (page, equals) => listRows(db, input.caller.scope, ${constant}, { ...page, equals }),
  });
`,
  create: ({
    type,
    constant,
  }) => `export const create${type}: Handler<'create${type}'> = async ({ body, headers, caller, sentBody }, deps) => {
  const creation = { content: body, idempotencyKey: headers['idempotency-key'], sentBody };
  const row = await createRow({ ...deps, caller }, ${constant}, creation);
  return { status: 201, headers: { Location: \`\${PATH}/\${row.id}\` }, body: row };
};
`,
  get: ({ type, constant }) => `export const get${type}: Handler<'get${type}'> = async ({ path, caller }, { db }) => {
  const { row, version } = await getRow(db, caller.scope, ${constant}, path.id);
  return { status: 200, headers: {}, body: row, version };
};
`,
  update: ({
    type,
    constant,
  }) => `export const update${type}: Handler<'update${type}'> = async ({ path, body, headers, caller }, deps) => {
  const precondition = preconditionOfUpdate(headers['if-match'], ${constant});
  const change = { id: path.id, patch: body, precondition };
  return { status: 200, headers: {}, body: await updateRow({ ...deps, caller }, ${constant}, change) };
};
`,
  delete: ({
    type,
    constant,
  }) => `export const delete${type}: Handler<'delete${type}'> = async ({ path, headers, caller }, deps) => {
  const precondition = preconditionOfUpdate(headers['if-match'], ${constant});
  await removeRow({ ...deps, caller }, ${constant}, { id: path.id, precondition });
  return { status: 204, headers: {}, body: null };
};
`,
};

/** The names of the operations, which are also those of their handlers. */
export function operationIds({ names: { type, types }, operations }: Resource): string[] {
  return operations.map((operation) => `${operation}${operation === 'list' ? types : type}`);
}
