// The changes to existing files. Each change names its place. The command fails if the place does not exist.

import { numberOf, parseVersion, successorOf } from '../release-contract/decide.ts';
import { alignColumns, model, targetsOf } from './database.ts';
import { OWN_ID } from './field.ts';
import { capital, inWords } from './names.ts';
import { isChangeable, type Resource, rights } from './resource.ts';
import { samplesOf } from './samples.ts';

export type Edit = {
  readonly file: string;
  /** A pattern that must match exactly once. */
  readonly place: RegExp;
  readonly change: (found: string) => string;
};

const before = (file: string, place: RegExp, text: string): Edit => ({
  file,
  place,
  change: (found) => `${text}${found}`,
});
const after = (file: string, place: RegExp, text: string): Edit => ({
  file,
  place,
  change: (found) => `${found}${text}`,
});

/** Returns all changes to existing files. `released` is the last published version of the contract. */
export function editsOf(resource: Resource, released: string): Edit[] {
  return [version(released), ...contractEdits(resource), ...codeEdits(resource), ...databaseEdits(resource)];
}

/**
 * Returns the change of the contract's version. A new resource is an addition, so the minor version is increased, unless an
 * earlier change since the last release has already increased it.
 */
function version(released: string): Edit {
  const last = parseVersion(released);
  if (last === null) throw new Error(`"${released}" in openapi/released/ is no version.`);
  return {
    file: 'openapi/openapi.yaml',
    place: /^ {2}version: .+$/m,
    change: (found) => {
      const present = parseVersion(found.replace('  version: ', ''));
      const isRaised = present !== null && (present.major > last.major || present.minor > last.minor);
      return isRaised ? found : `  version: ${numberOf(successorOf(last, 'additive'))}`;
    },
  };
}

function contractEdits(resource: Resource): Edit[] {
  const { names, hasEvents } = resource;
  const { plural, singular, nouns, type } = names;
  const [document, schemas] = ['openapi/openapi.yaml', 'openapi/components/schemas'];
  const acts = isChangeable(resource) ? 'Read and change' : 'Read and create';
  const manner = resource.hasOwnId ? ', one by one or in batches' : '';
  const own = resource.hasOwnId ? ['/batch', `/by_${OWN_ID}/{${OWN_ID}}`] : [];
  const paths = ['', ...own, '/{id}'].map(
    (path) => `  /api/${plural}${path}:\n    $ref: paths/${plural}${path.replaceAll('/', '_')}.yaml\n`,
  );
  const scopes = rights(resource).map(
    (right) => `    - 'Bearer realm="charter", error="insufficient_scope", scope="${right}"'\n`,
  );
  return [
    before(document, /^ {2}\/api\/events:\n/m, paths.join('')),
    before(
      document,
      /^ {2}- name: Events\n/m,
      `  - name: ${capital(nouns)}\n    description: ${acts} the ${nouns} of your organization${manner}.\n`,
    ),
    inList(`${schemas}/Permission.yaml`, rights(resource)),
    {
      file: `${schemas}/Permission.yaml`,
      place: /\s+Later versions of this document/,
      change: () => `\n  ${meaningOf(resource)}\n  Later versions of this document`,
    },
    {
      file: `${schemas}/Key.yaml`,
      place: /maxItems: \d+/,
      change: (found) => found.replace(/\d+/, (count) => String(Number(count) + 2)),
    },
    before('openapi/components/headers/WwwAuthenticatePermission.yaml', /^examples:\n/m, scopes.join('')),
    after(
      'openapi/components/responses/NotFoundException.yaml',
      /^ {8}\$ref: \S+\n(?![\s\S])/m,
      `      no_such_${singular}:\n        $ref: ../examples/NotFound${type}.yaml\n`,
    ),
    ...(isChangeable(resource)
      ? [
          after(
            'openapi/components/responses/PreconditionFailedException.yaml',
            /^ {8}\$ref: \.\.\/examples\/PreconditionFailedStaleEntityTag\.yaml\n/m,
            `      stale_${singular}:\n        $ref: ../examples/PreconditionFailedStale${type}.yaml\n`,
          ),
        ]
      : []),
    ...(hasEvents ? eventEdits(resource) : []),
  ];
}

function meaningOf({ names: { plural, nouns }, operations, hasEvents }: Resource): string {
  const writes = operations.filter((operation) => operation !== 'list' && operation !== 'get');
  return `\`${plural}:read\` allows you to list and get ${nouns}${hasEvents ? ' and their events' : ''},\n  and \`${plural}:write\` to ${inWords(writes, 'and')} them.`;
}

/** Returns the change that adds values to an enumeration. The list of its values is on one line. */
function inList(file: string, values: readonly string[]): Edit {
  const added = values.map((value) => `, ${/^[\w.]+$/.test(value) ? value : JSON.stringify(value)}`).join('');
  return { file, place: /^ *enum: \[.*\]$/m, change: (found) => found.replace(/\]$/, `${added}]`) };
}

const DATA = '    description: What was created, updated or deleted, as it is after the change, or as it was last.\n';

const READABLE = {
  'openapi/paths/events.yaml':
    '    A page has the events of the resources that your key may read, and a `type` that it may not read gets 403.\n',
  'openapi/paths/events_{id}.yaml': '    An event of a resource that your key may not read gets 403.\n',
};

/**
 * Returns two changes to an operation on events. Keys with the permission to read the resource may call the operation. The
 * description says that the events depend on the key, unless it already says so.
 */
function readable(file: keyof typeof READABLE, plural: string): Edit[] {
  return [
    after(file, /^ {4}- apiKey: \["parent_programs:read"\]\n/m, `    - apiKey: ["${plural}:read"]\n`),
    {
      file,
      place: /^ {2}description: \|-\n(?:(?: {4}.*)?\n)+/m,
      change: (found) => (found.includes(READABLE[file]) ? found : `${found}\n${READABLE[file]}`),
    },
  ];
}

function eventEdits({ names: { plural, singular, type, file, constant } }: Resource): Edit[] {
  const schemas = 'openapi/components/schemas';
  const types = ['created', 'updated', 'deleted'].map((change) => `${singular}.${change}`);
  const webhooks = types.map((each) => `  ${each}:\n    $ref: webhooks/${each}.yaml\n`);
  return [
    before('openapi/openapi.yaml', /^ {2}webhook\.test:\n/m, webhooks.join('')),
    inList('openapi/components/properties/Event.yaml', types),
    {
      file: `${schemas}/Event.yaml`,
      place: /^ {2}data:\n(?: {4}.*\n)+/m,
      change: (found) =>
        `${found.replace('data:\n    $ref', `data:\n${DATA}    anyOf:\n      - $ref`)}      - $ref: ${type}.yaml\n`,
    },
    after(
      'openapi/paths/events_{id}.yaml',
      /^ {12}\w+:\n {14}\$ref: \.\.\/components\/examples\/EventDeleted\.yaml\n/m,
      ['Created', 'Updated', 'Deleted']
        .map((change) => {
          const name = `${singular}_${change.toLowerCase()}`;
          return `            ${name}:\n              $ref: ../components/examples/Event${type}${change}.yaml\n`;
        })
        .join(''),
    ),
    after(
      'src/store/resources/events.ts',
      /^import .* from '\.\/tables\/parent-programs\.ts';\n/m,
      `import { ${constant} } from './tables/${file}.ts';\n`,
    ),
    after('src/store/resources/events.ts', /^ {2}parent_program: .*\n/m, `  ${singular}: ${constant},\n`),
    after(
      'src/domain/resources/events.ts',
      /^const PERMISSIONS: .* = \{\n(?: {2}.*\n)*/m,
      ['created', 'updated', 'deleted'].map((change) => `  '${singular}.${change}': '${plural}:read',\n`).join(''),
    ),
    ...readable('openapi/paths/events.yaml', plural),
    ...readable('openapi/paths/events_{id}.yaml', plural),
  ];
}

function codeEdits(resource: Resource): Edit[] {
  const { names } = resource;
  const index = 'src/api/handlers/index.ts';
  const { full, minimal } = samplesOf(resource);
  const demonstrated = [full, minimal].map((row) => {
    const content = resource.fields.map(({ name, property }) => `${property}: ${JSON.stringify(row[name])}`);
    return `      { organizationId, id: '${row.id}', ${content.join(', ')} },\n`;
  });
  return [
    after(
      'src/domain/people/role.ts',
      /^export const PERMISSIONS = \[[^\]]*?(?=,?\s*\])/m,
      rights(resource)
        .map((right) => `, '${right}'`)
        .join(''),
    ),
    after(
      index,
      /^import type \{ Handlers \} from .*\n/m,
      `import * as ${names.variables} from './${names.file}.ts';\n`,
    ),
    before(index, /\.\.\.events\b/m, `...${names.variables}, `),
    after(
      'src/client/calling.ts',
      /^const IDEMPOTENT_PATHS: [^=]*= \{[^}]*?(?=,?\s*\};)/m,
      ['', ...(resource.hasOwnId ? ['/batch'] : [])].map((path) => `, '/api/${names.plural}${path}': true`).join(''),
    ),
    before(
      'prisma/seed.ts',
      /^ {2}const \{ count \} = await tx\.event\.updateMany\(/m,
      `  await tx.${names.variable}.createMany({\n    data: [\n${demonstrated.join('')}    ],\n  });\n`,
    ),
  ];
}

function databaseEdits(resource: Resource): Edit[] {
  const file = 'prisma/schema.prisma';
  const { variables, type } = resource.names;
  const relate = (target: string, relation: string): Edit => ({
    file,
    // Matches all relations of the model, up to the empty line after them.
    place: new RegExp(
      `(?<=^model ${target} \\{\\n(?:(?!\\}).*\\n)*?)(?: {2}\\w.*\\n)*?  ${relation} .*\\n(?: {2}\\w.*\\n)*`,
      'm',
    ),
    change: (found) => alignColumns([...columnsIn(found), [variables, `${type}[]`]]),
  });
  return [
    relate('Organization', 'parentPrograms'),
    ...targetsOf(resource).map((target) => relate(target, 'organization')),
    before(file, /^(\/\/\/.*\n)*model Event \{\n/m, model(resource)),
  ];
}

/** Returns the name, the type and the attributes of each field in these lines of a model. */
function columnsIn(lines: string): string[][] {
  return [...lines.matchAll(/^ +(\S+) +(\S+) *(.*)$/gm)].map(([, ...columns]) => columns);
}
