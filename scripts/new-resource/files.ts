// Prepares all files of the new resource and all changes to existing files.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { nextMigrationTime } from '../next-migration-time.ts';
import { root } from '../tool.ts';
import { handlersFile, storeFile } from './code.ts';
import { examples, parameters } from './components.ts';
import { migration } from './database.ts';
import { editsOf } from './edits.ts';
import { type Field, OWN_ID, type Value } from './field.ts';
import { capital, type Names, pascal } from './names.ts';
import { batchPath, listPath, ownIdPath, print, rowPath } from './paths.ts';
import { isChangeable, type Resource, rights } from './resource.ts';
import { type Samples, samplesOf } from './samples.ts';
import {
  createSchema,
  rowSchema,
  sharedProperties,
  updateSchema,
  upsertSchema,
  withSharedProperties,
} from './schemas.ts';
import { applyEdits, type Change, newFile } from './tree.ts';

export async function prepareFiles(given: Resource): Promise<Change[]> {
  const resource = { ...given, fields: await Promise.all(given.fields.map(withReferredId)) };
  const { names } = resource;
  const contract = await prepareContractFiles(resource);
  const permissions = [...PERMISSIONS, ...rights(resource)];
  const code = {
    [`prisma/migrations/${await nextMigrationTime()}_${names.plural}/migration.sql`]: migration(resource, permissions),
    [`src/store/resources/tables/${names.file}.ts`]: storeFile(resource),
    [`src/api/handlers/${names.file}.ts`]: handlersFile(resource),
  };
  const created = Object.entries({ ...contract, ...code }).map(([path, text]) => newFile(path, text));
  return [...created, ...(await applyEdits(editsOf(resource, await readLastReleased())))];
}

/**
 * Sets the example of a reference to the id of the referenced row in the demonstration data, so that the code samples in the
 * documentation work.
 */
async function withReferredId(field: Field): Promise<Field> {
  const { name, kind, target } = field;
  if (kind !== 'reference') return field;
  const file = `openapi/components/parameters/${pascal(name)}.yaml`;
  const text = await readFile(join(root, file), 'utf8').catch(() => null);
  const id = /^ {4}value: (\S+)$/m.exec(text ?? '')?.[1];
  if (id === undefined)
    throw new Error(
      `--field ${name}: There is no resource "${target}": ${file} is missing, or has no example. Add it first.`,
    );
  return { ...field, examples: [id, id, id] };
}

async function prepareContractFiles(resource: Resource): Promise<Record<string, string>> {
  const { names, operations, fields } = resource;
  const { type, plural } = names;
  const samples = samplesOf(resource);
  const ownIds = fields.find(({ name }) => name === OWN_ID)?.examples ?? [];
  const copy = (path: string) => copyOf(`openapi/${path}.yaml`, { names, samples, ownIds });
  const schemas = {
    [type]: rowSchema(resource, await copy('components/schemas/ParentProgram')),
    [`${type}Create`]: createSchema(resource),
    ...(operations.includes('update') && { [`${type}Update`]: updateSchema(resource) }),
    ...(resource.hasOwnId && { [`${type}Upsert`]: upsertSchema(resource) }),
  };
  const composed = Object.entries(schemas).map(([name, schema]) => [name, withSharedProperties(resource, schema)]);
  const values = {
    [`components/properties/${type}`]: sharedProperties(resource),
    ...inFolder('components/schemas', Object.fromEntries(composed)),
    ...inFolder('components/parameters', parameters(resource)),
    ...inFolder('components/examples', examples(resource)),
  };
  const texts = {
    [`paths/${plural}`]: listPath(
      resource,
      await copy('paths/parent_programs'),
      await copy('components/headers/Location'),
    ),
    [`paths/${plural}_{id}`]: rowPath(resource, await copy('paths/parent_programs_{id}')),
    [`components/parameters/${type}Id`]: await copy('components/parameters/ParentProgramId'),
    [`components/schemas/${type}Page`]: await copy('components/schemas/ParentProgramPage'),
    [`components/examples/${type}PageEmpty`]: await copy('components/examples/ParentProgramPageEmpty'),
    ...(isChangeable(resource) && {
      [`components/examples/PreconditionFailedStale${type}`]: await copy(
        'components/examples/PreconditionFailedStaleEntityTag',
      ),
    }),
    [`components/examples/NotFound${type}`]: await copy('components/examples/NotFoundParentProgram'),
  };
  const events = resource.hasEvents ? await copyEventFiles(resource, copy) : {};
  const upserts = resource.hasOwnId ? await copyOwnIdFiles(resource, copy) : {};
  const printed = Object.entries(values).map(([name, value]): [string, string] => [name, print(value)]);
  return Object.fromEntries(
    [...Object.entries({ ...texts, ...events, ...upserts }), ...printed].map(([name, text]) => [
      `openapi/${name}.yaml`,
      text,
    ]),
  );
}

/** Copies the schemas and the webhooks of the events. `components.ts` makes their examples. */
async function copyEventFiles(
  { names }: Resource,
  copy: (path: string) => Promise<string>,
): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const change of ['created', 'updated', 'deleted']) {
    const schema = `${capital(change)}Event`;
    files[`components/schemas/${names.type}${schema}`] = await copy(`components/schemas/ParentProgram${schema}`);
    const webhook = await copy(`webhooks/parent_program.${change}`);
    files[`webhooks/${names.singular}.${change}`] = webhook.replace('examples/Event', `examples/Event${names.type}`);
  }
  return files;
}

/**
 * Copies the paths by the client's own id, the path of the batch, their schemas, and the examples that differ from those of
 * parent programs only in names.
 */
async function copyOwnIdFiles(resource: Resource, copy: (path: string) => Promise<string>) {
  const { plural, type } = resource.names;
  const byOwnId = `paths/parent_programs_by_${OWN_ID}_{${OWN_ID}}`;
  const files: Record<string, string> = {
    [byOwnId.replace('parent_programs', plural)]: ownIdPath(
      resource,
      await copy(byOwnId),
      await copy('components/headers/Location'),
    ),
    [`paths/${plural}_batch`]: batchPath(resource, await copy('paths/parent_programs_batch')),
  };
  for (const path of OWN_ID_FILES) files[path.replace('ParentProgram', type)] = await copy(path);
  for (const path of OF_ANY_NAME) {
    const [folder, name = ''] = path.split(/\/(?=\w+$)/);
    files[`${folder}/${folder === 'components/parameters' ? `${type}${name}` : `${name}${type}`}`] = await copy(path);
  }
  return files;
}

const OWN_ID_FILES = [
  ...[
    'Batch',
    'BatchResult',
    'Change',
    'ChangeResult',
    'CreateChange',
    'UpsertChange',
    'UpdateChange',
    'DeleteChange',
  ].map((name) => `components/schemas/ParentProgram${name}`),
  ...['UpsertFull', 'BatchResultUpserts', 'BatchResultEveryAction'].map(
    (name) => `components/examples/ParentProgram${name}`,
  ),
  'components/examples/NotFoundParentProgramByExternalId',
];

/** Files that contain the names of parent programs in their text, but not in their own names. */
const OF_ANY_NAME = [
  'components/parameters/ExternalIdInPath',
  'components/parameters/IfNoneMatchOfWrite',
  'components/examples/PreconditionFailedExists',
  'components/examples/PreconditionFailedMissing',
  'components/examples/PreconditionFailedChange',
  'components/examples/ConflictChange',
];

function inFolder(folder: string, files: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(files).map(([name, value]) => [`${folder}/${name}`, value]));
}

async function readLastReleased(): Promise<string> {
  const names = await readdir(join(root, 'openapi/released'));
  return (
    names
      .map((name) => name.replace('.yaml', ''))
      .sort(new Intl.Collator('en', { numeric: true }).compare)
      .at(-1) ?? ''
  );
}

// Copies files of parent programs. The copies differ only in names and examples.

/** The ids and `external_id`s of the two parent programs in the contract's examples. */
const SHOWN_IDS = {
  full: '019c2291-34b8-752e-bca9-6513269e0d37',
  minimal: '019c4cee-335f-7a6a-8317-d23f128b2f33',
  own: 'sis-20417',
  otherOwn: 'sis-20418',
};

type Own = {
  readonly names: Names;
  readonly samples: Pick<Samples, 'full' | 'minimal'>;
  /** The `external_id`s of the two rows; empty if the resource has no `external_id`. */
  readonly ownIds: readonly Value[];
};

/** Returns a file of parent programs with the names of the new resource and the ids of its rows. */
async function copyOf(path: string, { names, samples: { full, minimal }, ownIds }: Own): Promise<string> {
  const { plural, singular, types, type, nouns, noun, aNoun } = names;
  return (await readFile(join(root, path), 'utf8'))
    .replaceAll(SHOWN_IDS.full, full.id)
    .replaceAll(SHOWN_IDS.minimal, minimal.id)
    .replaceAll(SHOWN_IDS.own, String(ownIds[0]))
    .replaceAll(SHOWN_IDS.otherOwn, String(ownIds[1]))
    .replaceAll('parent_programs', plural)
    .replaceAll('parent_program', singular)
    .replaceAll('ParentPrograms', types)
    .replaceAll('ParentProgram', type)
    .replace(/\ba parent\s+program\b(?!s)/g, aNoun)
    .replace(/\bA parent\s+program\b(?!s)/g, capital(aNoun))
    .replace(/\bparent\s+programs\b/g, nouns)
    .replace(/\bParent\s+programs\b/g, capital(nouns))
    .replace(/\bparent\s+program\b/g, noun);
}
