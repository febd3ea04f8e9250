// Writes the schemas of the contract.
import { parse } from 'yaml';
import { type Field, OWN_ID } from './field.ts';
import { capital, type Names } from './names.ts';
import { isRequired, type Resource } from './resource.ts';

type Schema = Readonly<Record<string, unknown>>;
type Usage = 'row' | 'create' | 'update' | 'filter';

/**
 * Returns the schema of a row. `copy` is the schema of parent programs with the names of this resource. Its id and times are
 * kept.
 */
export function rowSchema(resource: Resource, copy: string): Schema {
  const { names, fields } = resource;
  const { properties, ...own } = parse(copy);
  const { id, created_at, updated_at } = properties;
  return {
    ...own,
    description: `${capital(names.aNoun)} of your organization.`,
    required: ['id', ...fields.map(({ name }) => name), 'created_at', 'updated_at'],
    properties: { id, ...propertiesFor(resource, 'row'), created_at, updated_at },
  };
}

export function createSchema(resource: Resource): Schema {
  const { names, fields } = resource;
  return {
    type: 'object',
    description: `${capital(names.aNoun)} to create.`,
    additionalProperties: false,
    required: fields.filter(isRequired).map(({ name }) => name),
    properties: propertiesFor(resource, 'create'),
  };
}

/** Returns the schema of an upsert. The client's own id is left out, because it is in the path. */
export function upsertSchema({ names, fields, ...resource }: Resource): Schema {
  const others = fields.filter(({ name }) => name !== OWN_ID);
  return { ...createSchema({ names, fields: others, ...resource }), description: `The content of ${names.aNoun}.` };
}

export function updateSchema(resource: Resource): Schema {
  const { names, fields } = resource;
  const clears = fields.some(({ isNullable }) => isNullable) ? ', and null clears a field' : '';
  return {
    type: 'object',
    description: `The changes to ${names.aNoun}, as a JSON merge patch (RFC 7396). Omitted fields keep their values${clears}. An empty object changes nothing.`,
    additionalProperties: false,
    properties: propertiesFor(resource, 'update'),
  };
}

/** Returns the content of the file in components/properties, to which the fields in the schemas refer. */
export function sharedProperties(resource: Resource): Schema {
  const entries = Object.entries<Schema>(Object(propertiesFor(resource, 'create')));
  return Object.fromEntries(entries.map(([name, { default: _, ...property }]) => [name, property]));
}

/** Returns the schema with a `$ref` in place of each shared property. Keywords that differ are beside the `$ref`. */
export function withSharedProperties(resource: Resource, schema: Schema): Schema {
  const entries = Object.entries<Schema>(Object(schema['properties']));
  return {
    ...schema,
    properties: Object.fromEntries(entries.map(([name, own]) => [name, referenceTo(resource, name, own)])),
  };
}

/**
 * Returns a `$ref` to the shared property, with the keywords that differ beside it. Returns the schema itself if there is no such
 * property.
 */
export function referenceTo(resource: Resource, name: string, own: Schema): Schema {
  const { [name]: property } = sharedProperties(resource);
  if (property === undefined) return own;
  const known: Schema = Object(property);
  const isSame = (keyword: string) => JSON.stringify(own[keyword]) === JSON.stringify(known[keyword]);
  const different = Object.keys({ ...known, ...own }).filter((keyword) => !isSame(keyword));
  return {
    $ref: `../properties/${resource.names.type}.yaml#/${name}`,
    ...Object.fromEntries(different.map((keyword) => [keyword, own[keyword] ?? null])),
  };
}

function propertiesFor(resource: Resource, usage: Exclude<Usage, 'filter'>): Schema {
  return Object.fromEntries(
    resource.fields.map((field) => {
      const { type, ...bounds } = schemaOf(field, usage);
      return [
        field.name,
        { type, description: descriptionOf(field, resource, usage), ...bounds, examples: [field.examples[0]] },
      ];
    }),
  );
}

/**
 * Returns the type and the bounds of a field. Only the schemas of requests have a remedy, and only the schema of a creation has a
 * default.
 */
export function schemaOf(field: Field, usage: Usage): Schema {
  const { kind, isNullable, default: value } = field;
  const type = kind === 'integer' || kind === 'boolean' ? kind : 'string';
  const { 'x-remedy': remedy, ...bounds } = boundsOf(field, usage);
  return {
    type: isNullable && usage !== 'filter' ? [type, 'null'] : type,
    ...bounds,
    ...(usage !== 'row' && remedy !== undefined && { 'x-remedy': remedy }),
    ...(usage === 'create' && value !== undefined && { default: value }),
  };
}

function boundsOf({ name, kind, min, max, values, pattern, isNullable }: Field, usage: Usage): Schema {
  const length = { ...(min > 0 && { minLength: min }), maxLength: max };
  switch (kind) {
    case 'boolean':
      return {};
    case 'integer':
      return { minimum: min, maximum: max };
    case 'reference':
      return { format: 'uuid', ...length, 'x-remedy': 'It must be a UUID.' };
    case 'uri':
      return { format: 'uri', ...length, 'x-remedy': 'It must be a URI, such as https://example.org.' };
    case 'date-time':
      return usage === 'row'
        ? { format: 'date-time', ...length, pattern: SHOWN_INSTANT }
        : { format: 'date-time', maxLength: 40, pattern: GIVEN_INSTANT, 'x-remedy': INSTANT_REMEDY };
    case 'enum':
      return { enum: isNullable && usage !== 'filter' ? [...values, null] : values, maxLength: max };
    case 'string':
      if (pattern !== undefined) return { ...length, pattern, 'x-remedy': `It must match ${pattern}.` };
      // The clients' own ids have the same bounds in the path and in batches.
      if (min === 0 || usage === 'filter' || usage === 'row' || name === OWN_ID) return length;
      return { ...length, pattern: '\\S', 'x-remedy': 'Give at least one character that is not blank.' };
  }
}

const SHOWN_INSTANT = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$';
const GIVEN_INSTANT =
  '^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$';
const INSTANT_REMEDY = 'It must be an RFC 3339 date and time with an offset, such as 2026-03-01T00:00:00Z.';

const ABSENCE = {
  row: 'Null if there is none.',
  create: 'Omit it, or send null, if there is none.',
  update: 'Null clears it.',
};

function descriptionOf(field: Field, { names, hasEvents }: Resource, usage: keyof typeof ABSENCE): string {
  const { name, kind, isNullable, isUnique } = field;
  const sentence = `${capital(subjectOf(field, names, usage))}${isUnique ? ', unique in your organization' : ''}.`;
  const event = hasEvents ? `, and creates an event of the type \`${names.singular}.deleted\`` : '';
  const cascade = `The deletion of the ${referredNounOf(name)} also deletes the ${names.noun}${event}.`;
  return [sentence, ...(isNullable ? [ABSENCE[usage]] : []), ...(kind === 'reference' ? [cascade] : [])].join(' ');
}

function subjectOf({ name, kind }: Field, { noun }: Names, usage: Usage): string {
  const words = name.replaceAll('_', ' ');
  if (name === OWN_ID) return `your own ID for the ${noun}`;
  switch (kind) {
    case 'boolean':
      return `whether the ${noun} ${predicateOf(name)}`;
    case 'reference':
      return `the ID of the ${referredNounOf(name)} that the ${noun} belongs to`;
    case 'date-time':
      return `${timeOf(words, noun)}${usage === 'row' ? ', in UTC' : ''}`;
    default:
      return `the ${words}`;
  }
}

/** Returns what the field refers to, such as "parent program" for "parent_program_id". */
export function referredNounOf(name: string): string {
  return name.replace(/_id$/, '').replaceAll('_', ' ');
}

/** Returns the predicate in the name of a boolean, such as "is active" for "is_active". */
export function predicateOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return /^(is|has|can|may|must) /.test(words) ? words : `is ${words}`;
}

/** Returns, for example, "when the provider opens" for "opens at", and "the date and time of the start" for "start time". */
function timeOf(words: string, noun: string): string {
  const [, verb] = /^(\w*(?:[^s]s|ed)) at$/.exec(words) ?? [];
  if (verb === undefined) return `the date and time of the ${words.replace(/ (at|time)$/, '')}`;
  return `when the ${noun} ${verb.endsWith('ed') ? `was ${verb}` : verb}`;
}
