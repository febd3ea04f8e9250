// Every file of the new resource, and every change of the others.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PERMISSIONS } from '../../src/domain/role.ts';
import { nextMigrationTime } from '../next-migration-time.ts';
import { root } from '../tool.ts';
import { handlersFile, storeFile } from './code.ts';
import { examples, parameters } from './components.ts';
import { copyOf } from './copies.ts';
import { migration } from './database.ts';
import { editsOf } from './edits.ts';
import type { Field } from './field.ts';
import { capital, pascal } from './names.ts';
import { listPath, rowPath } from './paths.ts';
import { isChangeable, type Resource, rights } from './resource.ts';
import { samplesOf } from './samples.ts';
import { createSchema, rowSchema, updateSchema } from './schemas.ts';
import { type Change, changesOf, newFile } from './tree.ts';
import { print } from './yaml.ts';

export async function filesOf(given: Resource): Promise<Change[]> {
  const resource = { ...given, fields: await Promise.all(given.fields.map(withReferredId)) };
  const { names } = resource;
  const contract = await contractFiles(resource);
  const permissions = [...PERMISSIONS, ...rights(resource)];
  const code = {
    [`prisma/migrations/${await nextMigrationTime()}_${names.plural}/migration.sql`]: migration(resource, permissions),
    [`src/store/resources/tables/${names.file}.ts`]: storeFile(resource),
    [`src/api/handlers/${names.file}.ts`]: handlersFile(resource),
  };
  const created = Object.entries({ ...contract, ...code }).map(([path, text]) => newFile(path, text));
  return [...created, ...(await changesOf(editsOf(resource, await lastReleased())))];
}

/** A reference has the id of the demonstration's row as its example, so that the samples of the documentation work. */
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
  return { ...field, examples: [id, id] };
}

async function contractFiles(resource: Resource): Promise<Record<string, string>> {
  const { names, operations } = resource;
  const { type, plural } = names;
  const samples = samplesOf(resource);
  const copy = (path: string) => copyOf(`openapi/${path}.yaml`, { names, samples });
  const values = {
    [`components/schemas/${type}`]: rowSchema(resource, await copy('components/schemas/ParentProgram')),
    [`components/schemas/${type}Create`]: createSchema(resource),
    ...(operations.includes('update') && { [`components/schemas/${type}Update`]: updateSchema(resource) }),
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
  const events = resource.hasEvents ? await eventFiles(resource, copy) : {};
  const printed = Object.entries(values).map(([name, value]): [string, string] => [name, print(value)]);
  return Object.fromEntries(
    [...Object.entries({ ...texts, ...events }), ...printed].map(([name, text]) => [`openapi/${name}.yaml`, text]),
  );
}

/** The schemas and the webhooks of the events. Their examples are in `components.ts`. */
async function eventFiles(
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

function inFolder(folder: string, files: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(files).map(([name, value]) => [`${folder}/${name}`, value]));
}

async function lastReleased(): Promise<string> {
  const names = await readdir(join(root, 'openapi/released'));
  return (
    names
      .map((name) => name.replace('.yaml', ''))
      .sort(new Intl.Collator('en', { numeric: true }).compare)
      .at(-1) ?? ''
  );
}
