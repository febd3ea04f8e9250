// Writes the code of the resource: the file of its table in src/store, and its handlers.
import { type Field, type Kind, OWN_ID } from './field.ts';
import { pascal } from './names.ts';
import { isRequired, type Resource } from './resource.ts';

const COLUMN_TYPES: Readonly<Record<Kind, string>> = {
  string: 'text',
  uri: 'text',
  enum: 'text',
  'date-time': 'timestamptz',
  integer: 'integer',
  boolean: 'boolean',
  reference: 'uuid',
};

export function storeFile({ names, fields, operations, hasOwnId }: Resource): string {
  const { type, constant, plural, noun } = names;
  const unique = fields.filter(({ isUnique }) => isUnique).map(({ name }) => `'${name}'`);
  const references = fields
    .filter(({ kind }) => kind === 'reference')
    .map(({ name, target }) => `${name}: '${target}'`);
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
${unique.length === 0 ? '' : `  unique: [${unique.join(', ')}],\n`}${hasOwnId ? `  ownId: '${OWN_ID}',\n` : ''}${references.length === 0 ? '' : `  references: { ${references.join(', ')} },\n`}});
`;
}

function literal(value: Field['default']): string {
  return typeof value === 'string' ? `'${value}'` : String(value ?? null);
}

export function handlersFile(resource: Resource): string {
  const { names } = resource;
  const { plural, type, types, constant, file } = names;
  const operations = [
    ...resource.operations.filter((operation) => operation !== 'list'),
    ...(resource.hasOwnId ? OF_OWN_ID : []),
  ];
  const handlers = operations.map((operation) => {
    const id = operationIdOf(operation, type);
    return `export const ${id}: Handler<'${id}'> = (input, deps) =>\n  ${RESPONDING[operation]}(input, deps, ${constant});\n\n`;
  });
  const batch = `export const batch${types}: Handler<'batch${types}'> = (input, deps) =>
  respondToBatch(input, deps, {
    table: ${constant},
    operations: { ${CHANGES.map((change) => `${change}: '${operationIdOf(change, type)}'`).join(', ')} },
  });
`;
  return `import { listRows } from '../../service/resources/pages.ts';
import { ${constant} } from '../../store/resources/tables/${file}.ts';
${resource.hasOwnId ? "import { respondToBatch } from '../batch.ts';\n" : ''}import { respondWithPage } from '../list-page.ts';
import type { Handler } from '../operation.ts';
import { ${operations
    .map((operation) => RESPONDING[operation])
    .filter((name, i, names) => names.indexOf(name) === i)
    .toSorted()
    .join(', ')} } from '../rows.ts';

export const list${types}: Handler<'list${types}'> = (input, { db }) =>
  respondWithPage(db, input, {
    path: '/api/${plural}',
    read: (page, equals) => listRows(db, input.caller.scope, ${constant}, { ...page, equals }),
  });

${handlers.join('')}${resource.hasOwnId ? batch : ''}`;
}

/** The name of the function with which an operation responds. The list and the batch have no such function. */
const RESPONDING = {
  create: 'respondToCreation',
  get: 'respondWithRow',
  update: 'respondToUpdate',
  delete: 'respondToDeletion',
  getByOwnId: 'respondWithRow',
  upsert: 'respondToUpsert',
  deleteByOwnId: 'respondToDeletion',
};
type Responding = keyof typeof RESPONDING;

/** The operations on a row that the path identifies by the client's own id. */
const OF_OWN_ID: readonly Responding[] = ['getByOwnId', 'upsert', 'deleteByOwnId'];

/** The operations that the changes of a batch stand for. */
const CHANGES: readonly Responding[] = ['create', 'upsert', 'update', 'delete', 'deleteByOwnId'];

function operationIdOf(operation: Responding, type: string): string {
  const [verb = '', byOwnId] = operation.split('ByOwnId');
  return `${verb}${type}${byOwnId === undefined ? '' : `By${pascal(OWN_ID)}`}`;
}
