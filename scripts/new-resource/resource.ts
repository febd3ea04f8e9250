import { type Field, OWN_ID, readField } from './field.ts';
import { languageReserving, type Names, namesOf, pascal, problemOfName, singularOf } from './names.ts';

const OPERATIONS = ['list', 'create', 'get', 'update', 'delete'] as const;
/** The operations that every resource must have. The other operations act on existing rows. */
const REQUIRED = OPERATIONS.slice(0, 3);
const OPERATIONS_ALLOWED = `Use ${REQUIRED.join(',')} and any of ${OPERATIONS.slice(3).join(',')}.`;
export type Operation = (typeof OPERATIONS)[number];

/** The resource that the command adds. */
export type Resource = {
  readonly names: Names;
  /** The fields; at least one. */
  readonly fields: readonly Field[];
  readonly operations: readonly Operation[];
  /** Whether changes create events, which are in the feed and sent as webhooks. */
  readonly hasEvents: boolean;
  /** Whether clients can upsert rows by their own ids, one by one or in batches. */
  readonly hasOwnId: boolean;
};

type Given = {
  readonly plural: string | undefined;
  readonly singular: string | undefined;
  readonly fields: readonly string[];
  readonly operations: string | undefined;
  readonly hasEvents: boolean;
  readonly ownId: string | undefined;
};

/** Returns the resource that the arguments describe. Throws an error that names the wrong argument and the remedy. */
export function resourceOf({ plural, singular, fields: texts, operations, hasEvents, ownId }: Given): Resource {
  if (plural === undefined)
    throw new Error('Write the name of the resource in the plural, such as: npm run new-resource -- providers');
  const problem = problemOfName(plural);
  if (problem !== null) throw new Error(`The name "${plural}" ${problem}.`);
  const one = singular ?? singularOf(plural);
  if (one === null) throw new Error(`The singular of "${plural}" is not known. Add it: --singular WORD`);
  const wrong = problemOfName(one);
  if (wrong !== null) throw new Error(`--singular ${one}: The name ${wrong}.`);
  const language = languageReserving(one);
  if (language === 'JavaScript')
    throw new Error(`The singular "${one}" is a reserved word of ${language}. Choose another one: --singular WORD`);
  if (one === plural) throw new Error(`--singular ${one}: The singular must differ from the plural.`);
  const resource = {
    names: namesOf(plural, one),
    fields: fieldsOf(ownId === undefined ? texts : [...texts, ownIdOf(one, ownId)]),
    operations: operationsOf(operations),
    hasEvents,
    hasOwnId: ownId !== undefined,
  };
  if (ownId !== undefined && resource.operations.length < OPERATIONS.length)
    throw new Error('--own-id: A batch also updates and deletes. Add both to --operations.');
  // Without update and delete, the server would never send two of the three types of events.
  if (hasEvents && resource.operations.length < OPERATIONS.length)
    throw new Error('--events: Only a resource with update and delete has events. Add both to --operations.');
  if (hasEvents && plural !== `${one}s`)
    throw new Error(
      `--events: The mock and the tests recognize the events of "${plural}" only if the singular is "${plural.replace(/s$/, '')}".`,
    );
  return resource;
}

/** Returns the field for the clients' own ids, in the format of `--field`. */
function ownIdOf(singular: string, name: string): string {
  if (name !== OWN_ID) throw new Error(`--own-id ${name}: The client knows one name only. Use: --own-id ${OWN_ID}`);
  return `${name}:string:1..255:nullable:unique:filter:example=${singular}-417:other=${singular}-418`;
}

function fieldsOf(texts: readonly string[]): Field[] {
  if (texts.length === 0) throw new Error('Add at least one field, such as: --field name:string:1..200');
  const fields = texts.map(readField);
  const names = fields.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`--field ${twice}: This name is used twice.`);
  if (fields.every((field) => !isRequired(field)))
    throw new Error('At least one field must be required: neither nullable, nor with a default.');
  return fields;
}

function operationsOf(text: string | undefined): Operation[] {
  const named: readonly string[] = text?.split(',') ?? OPERATIONS;
  const unknown = named.find((name) => !OPERATIONS.some((operation) => operation === name));
  if (unknown !== undefined) throw new Error(`--operations ${text}: "${unknown}" is not known. ${OPERATIONS_ALLOWED}`);
  const missing = REQUIRED.filter((name) => !named.includes(name));
  if (missing.length > 0)
    throw new Error(`--operations ${text}: Every resource has list, create and get. Add: ${missing.join(',')}`);
  return OPERATIONS.filter((operation) => named.includes(operation));
}

export function isRequired(field: Field): boolean {
  return !field.isNullable && field.default === undefined;
}

/** Returns whether rows can change after their creation. If so, requests can have an If-Match condition. */
export function isChangeable({ operations }: Resource): boolean {
  return operations.includes('update') || operations.includes('delete');
}

/** Returns whether the list can be sorted by name, for which every row must have a name. */
export function isSortedByName({ fields }: Resource): boolean {
  return fields.some(({ name, kind, isNullable }) => name === 'name' && kind === 'string' && !isNullable);
}

/** Returns the name of the file of the parameter `sort` in `openapi/components/parameters/`, without extension. */
export function sortName(resource: Resource): string {
  return isSortedByName(resource) ? 'Sort' : `${resource.names.type}Sort`;
}

/** Returns the name of the file of the parameter that filters by the field, without extension. */
export function filterName({ names: { type } }: Resource, { name }: Field): string {
  return `${type}${pascal(name)}`;
}

/** Returns the permissions to read and to write the resource. */
export function rights({ names: { plural } }: Resource): string[] {
  return [`${plural}:read`, `${plural}:write`];
}

/** The help. Its example has every kind of field, and `npm run soak` tries it. */
export const HELP = `npm run new-resource -- NAMES --field FIELD [--field FIELD ...]

Adds a resource: its operations, schemas and examples in openapi/, its table with a migration, its handlers, its place in the
client, its permissions and a row of the demonstration. Edit what it writes like any other file.

NAMES is the path and the table, such as "language_courses". Every resource has an id, created_at and updated_at.

  --field FIELD          name:type, and then any of these, each after a colon
                           MIN..MAX       the length of a string or a uri, or the range of an integer
                           nullable       the field can be null
                           unique         no two rows of an organization have the same value; only with nullable
                           filter         the list has a parameter of this name, with an index
                           default=VALUE  the value if a creation omits the field
                           example=VALUE  the value in the examples of the contract
                           other=VALUE    the value of a required field in the examples of a second row
                           pattern=REGEX  at the end: the regular expression that a string must match
                         A value can contain a colon, unless a word in lower case follows it. Write a date-time with an
                         offset, such as 2026-03-01T00:00:00Z.
                         Types: string (1..200 characters), uri (1..2000 characters), integer (32 bits), boolean,
                         date-time, enum=VALUE,VALUE and reference=NAMES, which refers to a row of another resource
  --operations LIST      ${REQUIRED.join(',')} and any of ${OPERATIONS.slice(3).join(',')}; by default all
  --own-id ${OWN_ID}   adds this field, the clients' own id, by which they create, replace, get and delete rows, one by
                         one or in batches; only with all operations
  --events               changes are events, in the feed and as webhooks; only with all operations
  --singular NAME        if the plural is not regular
  --dry-run              lists the files, and writes nothing

A list can be sorted by its times and, if there is a required string "name", by the name.

Example:
  npm run new-resource -- providers --events --own-id ${OWN_ID} \\
    --field name:string:1..200 \\
    --field code:string:2..20:nullable:unique \\
    --field website:uri:nullable \\
    --field 'country:string:2..2:filter:example=NO:other=SE:pattern=^[A-Z]{2}$' \\
    --field level:enum=basic,advanced:default=basic \\
    --field seats:integer:0..100000:nullable \\
    --field opens_at:date-time:nullable \\
    --field is_active:boolean:default=true:filter \\
    --field parent_program_id:reference=parent_programs:filter
`;
