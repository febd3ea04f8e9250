// Writes the parameters and the examples of the contract.
import { type Field, OWN_ID } from './field.ts';
import { capital, type Names, pascal } from './names.ts';
import { filterName, isSortedByName, type Resource, sortName } from './resource.ts';
import { eventIdAt, samplesOf } from './samples.ts';
import { predicateOf, referenceTo, referredNounOf, schemaOf } from './schemas.ts';

/** The contents of files in a folder, by file name without extension. */
type Files = Readonly<Record<string, unknown>>;

export function parameters(resource: Resource): Files {
  const { fields } = resource;
  const filters = fields.filter(({ isFilter }) => isFilter);
  return {
    ...Object.fromEntries(filters.map((field) => [filterName(resource, field), filter(resource, field)])),
    ...(!isSortedByName(resource) && { [sortName(resource)]: SORT }),
  };
}

function filter(resource: Resource, field: Field) {
  const { name, examples } = field;
  return {
    name,
    in: 'query',
    description: filterDescriptionOf(resource.names, field),
    schema: referenceTo(resource, name, schemaOf(field, 'filter')),
    examples: { [name]: { summary: `A value of \`${name}\``, value: examples[0] } },
  };
}

function filterDescriptionOf({ noun, nouns }: Names, { name, kind, isUnique }: Field): string {
  if (kind === 'boolean') {
    const predicate = predicateOf(name).replace(/^is /, 'are ').replace(/^has /, 'have ');
    return `Return only the ${nouns} that ${predicate} (\`true\`), or only the others (\`false\`).`;
  }
  if (kind === 'reference') return `Return only the ${nouns} of this ${referredNounOf(name)}.`;
  if (isUnique) return `Return only the ${noun} with exactly this \`${name}\`.`;
  return `Return only the ${nouns} with exactly this ${name.replaceAll('_', ' ')}.`;
}

/** The parameter in `Sort.yaml`, without sorting by name. */
const SORT = {
  name: 'sort',
  in: 'query',
  description:
    'The sort order of the list. A leading minus sign reverses it. Items with equal values are sorted by `id` in the same direction.',
  schema: { type: 'string', enum: ['created_at', '-created_at', 'updated_at', '-updated_at'], default: 'created_at' },
  examples: { newest_first: { summary: 'The newest first', value: '-created_at' } },
};

export function examples(resource: Resource): Files {
  const { names, fields, operations } = resource;
  const { type, types, plural, aNoun } = names;
  const { full, minimal, updated, created, update } = samplesOf(resource);
  const withoutNull = Object.fromEntries(Object.entries(minimal).filter(([, value]) => value !== null));
  const page = { limit: 2, next_cursor: '9zM8mWKL90nNjKwMGsOAC1AZxM7jNfemqDF9I_EosvMwAC7YtHQMsY' };
  return {
    [`${type}CreateFull`]: {
      summary: 'Every field',
      value: { 'x-example': `${type}Full`, 'x-schema': `${type}Create` },
    },
    [`${type}CreateMinimal`]: { summary: 'Only the required fields', value: created.minimal },
    [`${type}Full`]: { summary: `${capital(aNoun)} with every field`, value: { 'x-schema': type, ...full } },
    [`${type}Minimal`]: {
      summary: `${capital(aNoun)} with only the required fields`,
      value: { 'x-schema': type, ...withoutNull },
    },
    [`${type}PageFirst`]: {
      summary: 'The first of several pages',
      value: { data: [{ 'x-example': `${type}Full` }, { 'x-example': `${type}Minimal` }], page },
    },
    ...(operations.includes('update') && {
      [`${type}UpdateOneField`]: { summary: 'Change one field', value: update },
      [`${type}UpdateNothing`]: { summary: 'Change nothing', value: {} },
      [`${type}Updated`]: {
        summary: 'After an update of one field',
        value: { 'x-example': `${type}Full`, ...update, updated_at: updated.updated_at },
      },
    }),
    [`Validation${types}UnknownParameter`]: invalid(
      '`page=2`: an unknown parameter',
      'page',
      `is not a parameter of this operation. Allowed parameters: {parameters ${plural}.yaml}.`,
    ),
    [`Validation${type}UnknownField`]: invalid(
      '`colour`: an unknown field',
      'colour',
      `is not a field of this request. Allowed fields: {fields ${type}Create}.`,
    ),
    ...(resource.hasEvents && eventExamples(resource)),
    ...(resource.hasOwnId && ownIdExamples(resource)),
    ...Object.assign({}, ...fields.map((field) => refusalsOf(field, resource))),
  };
}

function eventExamples(resource: Resource): Files {
  const { singular, type, aNoun } = resource.names;
  const { full, updated } = samplesOf(resource);
  const events = [
    { change: 'created', data: { 'x-example': `${type}Full` }, at: Date.parse(full.created_at) },
    { change: 'updated', data: { 'x-example': `${type}Updated` }, at: Date.parse(updated.updated_at) },
    { change: 'deleted', data: { 'x-example': `${type}Updated` }, at: Date.UTC(2026, 3, 7, 6, 45, 12, 807) },
  ];
  return Object.fromEntries(
    events.map(({ change, data, at }) => {
      const event = `${singular}.${change}`;
      const value = { id: eventIdAt(at, event), type: event, timestamp: new Date(at + 1).toISOString(), data };
      return [`Event${type}${capital(change)}`, { summary: `${capital(aNoun)} was ${change}`, value }];
    }),
  );
}

/** Returns the examples of the upsert and the batch that differ from those of parent programs in more than names. */
function ownIdExamples(resource: Resource): Files {
  const {
    names: { type, noun },
    fields,
  } = resource;
  const { full, minimal } = samplesOf(resource);
  const own = fields.find(({ name }) => name === OWN_ID)?.examples ?? [];
  const upserts = ['Full', 'Minimal'].map((form, i) => ({
    action: 'upsert',
    [OWN_ID]: own[i],
    body: { 'x-example': `${type}Upsert${form}` },
  }));
  const allowed = (schema: string) => `is not a field of this request. Allowed fields: {fields ${schema}}.`;
  const problem = allowed(`${type}Create`);
  return {
    [`${type}BatchUpserts`]: { summary: 'Rows of your own catalogue', value: { changes: upserts } },
    [`${type}BatchEveryAction`]: {
      summary: 'Every action, the last one with a condition',
      value: {
        changes: [
          { action: 'create', body: { 'x-example': `${type}CreateMinimal`, [OWN_ID]: own[1] } },
          upserts[0],
          { action: 'update', id: full.id, body: { [OWN_ID]: own[1] } },
          { action: 'delete', id: minimal.id, if_match: '"5PCSWvuqX5dplNHdfbjbVq"' },
        ],
      },
    },
    [`${type}BatchAtomic`]: { summary: 'All changes or none', value: { atomic: true, changes: upserts } },
    [`${type}UpsertMinimal`]: { summary: 'Only the required fields', value: { 'x-example': `${type}CreateMinimal` } },
    [`Validation${type}UpsertUnknownField`]: invalid(
      `\`${OWN_ID}\`: the path has it`,
      OWN_ID,
      allowed(`${type}Upsert`),
    ),
    [`Validation${type}BatchChange`]: {
      summary: 'An atomic batch with two invalid changes',
      value: {
        message: `changes.0.colour ${problem} See errors for 1 more field.`,
        errors: { 'changes.0.colour': [problem], 'changes.2': [`There is no ${noun} with this id.`] },
      },
    },
  };
}

function refusalsOf({ name, kind, isUnique, examples }: Field, resource: Resource): Files {
  const { type, noun } = resource.names;
  const referred = referredNounOf(name);
  const problem = `is not the id of any ${referred} of your organization.`;
  const missing = invalid(`A ${referred} that does not exist`, name, problem);
  const { id } = samplesOf(resource).full;
  const message = `The ${noun} ${id} in your organization already has the ${name} ${JSON.stringify(examples[0])}. Use a different ${name}, or update that ${noun}.`;
  const taken = { summary: `The \`${name}\` is already in use`, value: { message } };
  return {
    ...(kind === 'reference' && { [`Validation${type}${pascal(name)}`]: missing }),
    ...(isUnique && { [`Conflict${type}${pascal(name)}`]: taken }),
  };
}

function invalid(summary: string, field: string, problem: string) {
  return { summary, value: { message: `${field} ${problem}`, errors: { [field]: [problem] } } };
}
