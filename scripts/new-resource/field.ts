import { problemOfPattern } from '../../openapi/lint/contract/portable.ts';
import { camel, languageReserving, problemOfName } from './names.ts';

export type Kind = 'string' | 'uri' | 'date-time' | 'integer' | 'boolean' | 'enum' | 'reference';
export type Value = string | number | boolean;

/** The field for the clients' own ids. Such an id is also in the path of the upsert. */
export const OWN_ID = 'external_id';

export type Field = {
  /** The name in the contract, such as "is_active". */
  readonly name: string;
  /** The name in code, such as "isActive". */
  readonly property: string;
  readonly kind: Kind;
  /** The minimum: the length of a text, or the value of an integer. */
  readonly min: number;
  readonly max: number;
  /** The values of an enumeration. */
  readonly values: readonly string[];
  /** The table to which a reference refers. */
  readonly target: string;
  readonly pattern: string | undefined;
  readonly default: Value | undefined;
  readonly isNullable: boolean;
  readonly isUnique: boolean;
  readonly isFilter: boolean;
  /**
   * The values in the examples: of the first row, of the second row, and of the first row after an update. The second row has
   * only the required fields.
   */
  readonly examples: readonly [Value, Value, Value];
};

type Range = readonly [number, number];

const INTEGERS: Range = [-(2 ** 31), 2 ** 31 - 1];
/** The default bounds and the widest allowed bounds of each kind. */
const BOUNDS: Readonly<Record<Kind, { readonly usual: Range; readonly most: Range }>> = {
  string: { usual: [1, 200], most: [0, 10_000] },
  uri: { usual: [1, 2000], most: [1, 8000] },
  'date-time': { usual: [24, 24], most: [24, 24] },
  integer: { usual: INTEGERS, most: INTEGERS },
  boolean: { usual: [0, 0], most: [0, 0] },
  enum: { usual: [1, 50], most: [1, 50] },
  reference: { usual: [36, 36], most: [36, 36] },
};
const KINDS = Object.keys(BOUNDS);
/** Matches a date and time in the format of RFC 3339. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/;
const FLAGS = ['nullable', 'unique', 'filter'];
const RANGE = /^(-?\d+)\.\.(-?\d+)$/;
const VALUE = /^(default|example|other)=(.+)$/s;
/**
 * The maximum length of an indexed text in characters. An entry of an index has at most 2,704 bytes, and a character at most 4
 * bytes.
 */
const MAX_INDEXED = 600;
/** The names that a field cannot have: fields of every resource, parameters of lists, and columns in the server's own SQL. */
const TAKEN =
  'id created_at updated_at organization_id limit cursor sort version refused time_of_write row_as_text type_of_event'.split(
    ' ',
  );

type Parts = {
  readonly flags: readonly string[];
  readonly range: Range | undefined;
  readonly values: ReadonlyMap<string, string>;
};

/**
 * Parses a field such as "country:string:2..2:filter:pattern=^[A-Z]{2}$". Throws an error that names the field and the remedy.
 */
export function readField(text: string): Field {
  try {
    // The pattern is the last part, because it can contain colons.
    const [, head = '', pattern] = /^(.*?)(?::pattern=(.*))?$/s.exec(text) ?? [];
    const [name = '', type = '', ...rest] = head.split(':');
    requireName(name);
    const [kind = '', argument] = type.split('=');
    if (!isKind(kind)) throw new Error(`"${kind}" is not a type. Use one of: ${KINDS.join(', ')}.`);
    return withExamples({ name, kind, argument, pattern, ...partsOf(rest, kind) });
  } catch (error) {
    throw new Error(`--field ${text}: ${error instanceof Error ? error.message : error}`);
  }
}

function requireName(name: string): void {
  const problem = problemOfName(name);
  if (problem !== null) throw new Error(`The name "${name}" ${problem}.`);
  if (TAKEN.includes(name)) throw new Error(`"${name}" has a meaning of its own in Charter. Choose another name.`);
  const language = languageReserving(name);
  if (language !== null) throw new Error(`The name "${name}" is a reserved word of ${language}. Choose another name.`);
}

function isKind(text: string): text is Kind {
  return KINDS.includes(text);
}

function partsOf(texts: readonly string[], kind: Kind): Parts {
  const flags: string[] = [];
  const values = new Map<string, string>();
  let range: Range | undefined;
  for (const text of joinValues(texts, kind)) {
    const [, from, to] = RANGE.exec(text) ?? [];
    const [, key, value] = VALUE.exec(text) ?? [];
    if (from !== undefined && to !== undefined) range = [Number(from), Number(to)];
    else if (key !== undefined && value !== undefined) values.set(key, value);
    else if (FLAGS.includes(text)) flags.push(text);
    else
      throw new Error(
        `"${text}" is not known. Use MIN..MAX, ${FLAGS.join(', ')}, default=VALUE, example=VALUE, other=VALUE or, at the end, pattern=REGEX.` +
          (values.size === 0 ? '' : ' In a value, a word in lower case cannot follow a colon.'),
      );
  }
  return { flags, range, values };
}

/**
 * Joins the parts of values that contain colons, such as "2026-01-01T10:00:00Z". A part belongs to the value before it unless it
 * looks like an option, possibly a misspelt one.
 */
function joinValues(texts: readonly string[], kind: Kind): string[] {
  const joined: string[] = [];
  for (const text of texts) {
    const last = joined.at(-1) ?? '';
    const isOption =
      RANGE.test(text) || (kind !== 'date-time' && /^-?\d+\W+-?\d+$/.test(text)) || /^[a-z]+(=|$)/.test(text);
    if (!isOption && VALUE.test(last)) joined[joined.length - 1] = `${last}:${text}`;
    else joined.push(text);
  }
  return joined;
}

type Written = Parts & { name: string; kind: Kind; argument: string | undefined; pattern: string | undefined };
type Unfinished = Omit<Field, 'default' | 'examples'>;

function withExamples(written: Written): Field {
  const { name, kind, values: given } = written;
  const field = fieldOf(written);
  const read = (key: string) => {
    const text = given.get(key);
    return text === undefined ? undefined : readValue(field, key, text);
  };
  const isOptional = field.isNullable || given.has('default');
  // Examples of batches contain two of the clients' own ids.
  if (isOptional && given.has('other') && name !== OWN_ID)
    throw new Error(
      'The second row in the examples has only required fields, and this field can be omitted. Remove other=VALUE.',
    );
  const first = read('example') ?? requireExample(field, 0);
  const isOne = isOptional || (kind === 'string' && given.has('example'));
  const other = read('other') ?? (isOne ? first : requireExample(field, 1));
  const updated = typeof first === 'boolean' ? !first : (exampleOf(field, 2) ?? other);
  return { ...field, default: read('default'), examples: [first, other, updated] };
}

function fieldOf({ name, kind, argument, pattern, flags, range }: Written): Unfinished {
  const { usual, most } = BOUNDS[kind];
  const values = kind === 'enum' ? valuesOf(argument) : [];
  const [min, max] = range ?? (kind === 'enum' ? [1, Math.max(...values.map(({ length }) => length))] : usual);
  if (range !== undefined && usual[0] === usual[1]) throw new Error(`A ${kind} has no bounds. Remove ${min}..${max}.`);
  if (min > max || min < most[0] || max > most[1])
    throw new Error(`The bounds ${min}..${max} must be in order, and within ${most[0]}..${most[1]}.`);
  const has = (flag: string) => flags.includes(flag);
  const [isNullable, isUnique, isFilter] = [has('nullable'), has('unique'), has('filter')];
  if ((isUnique || isFilter || name === 'name') && kind !== 'integer' && max > MAX_INDEXED)
    throw new Error(`It gets an index, so it needs bounds with a maximum of at most ${MAX_INDEXED}, such as 1..200.`);
  if (isUnique && (kind === 'boolean' || kind === 'enum'))
    throw new Error(`An organization could have only as many rows as the ${kind} has values. Remove unique.`);
  if (isUnique && !isNullable)
    throw new Error('The tests create several rows with only the required fields. Add nullable to unique.');
  if (kind === 'date-time' && (isUnique || isFilter))
    throw new Error('Nobody looks for one millisecond. Remove unique and filter.');
  if (pattern !== undefined) requirePattern(kind, pattern);
  const target = targetOf(name, kind, argument);
  return { name, property: camel(name), kind, min, max, values, pattern, target, isNullable, isUnique, isFilter };
}

function valuesOf(argument: string | undefined): string[] {
  const values = argument?.split(',') ?? [];
  if (
    values.length < 2 ||
    values.some((value) => problemOfName(value) !== null) ||
    new Set(values).size < values.length
  )
    throw new Error('Write at least two different values in lower case, such as level:enum=basic,advanced.');
  return values;
}

/**
 * Returns the table to which the reference refers; empty if the field is not a reference. The name of a reference must be that of
 * the table, because the tests recognize references in the contract by their names.
 */
function targetOf(name: string, kind: Kind, target: string | undefined): string {
  if (kind !== 'reference') return '';
  if (target === undefined || problemOfName(target) !== null)
    throw new Error('Write the name of the other resource, such as parent_program_id:reference=parent_programs.');
  if (!target.endsWith('s'))
    throw new Error(`The other resource is named in the plural, as in its path. Write reference=${target}s.`);
  const right = `${target.replace(/s$/, '')}_id`;
  if (name !== right) throw new Error(`A reference to ${target} must have the name "${right}".`);
  return target;
}

function requirePattern(kind: Kind, pattern: string): void {
  if (kind !== 'string') throw new Error(`Only a string can have a pattern, and this is of the type "${kind}".`);
  if (!pattern.startsWith('^') || !pattern.endsWith('$'))
    throw new Error('The pattern must begin with "^" and end with "$".');
  const problem = problemOfPattern(pattern);
  if (problem !== null) throw new Error(`The pattern ${problem}`);
}

/** Parses the value of a part such as "default=true". Throws if the field does not allow the value. */
function readValue(field: Unfinished, key: string, text: string): Value {
  const value =
    field.kind === 'boolean' ? { true: true, false: false }[text] : field.kind === 'integer' ? Number(text) : text;
  const isTime = field.kind === 'date-time';
  if (value !== undefined && isAllowed(field, value)) return isTime ? new Date(text).toISOString() : value;
  const remedy = isTime ? ' Write a date and time with an offset, such as 2026-03-01T00:00:00Z.' : '';
  throw new Error(`${key}=${text} is not a value of this field.${remedy}`);
}

function isAllowed({ kind, min, max, values, pattern }: Unfinished, value: Value): boolean {
  if (typeof value === 'boolean') return kind === 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) && value >= min && value <= max;
  if (kind === 'enum') return values.includes(value);
  if (kind === 'uri' && !URL.canParse(value)) return false;
  if (kind === 'date-time') return INSTANT.test(value) && Number.isFinite(Date.parse(value));
  const { length } = [...value];
  return length >= min && length <= max && (pattern === undefined || new RegExp(pattern, 'u').test(value));
}

function requireExample(field: Unfinished, index: 0 | 1): Value {
  const example = exampleOf(field, index);
  if (example !== null) return example;
  throw new Error(
    'No example could be made. Add example=VALUE, and other=VALUE for a second row, with values that the field allows.',
  );
}

/** Returns an example for a developer who has given none; `null` if the field does not allow the example. */
function exampleOf(field: Unfinished, index: 0 | 1 | 2): Value | null {
  const { name, kind, min, max, values } = field;
  if (kind === 'boolean') return index === 0;
  if (kind === 'integer') return Math.min(max, Math.max(min, Math.min(10, max - 2)) + index);
  if (kind === 'enum') return values[index] ?? values[1] ?? '';
  if (kind === 'reference') return '';
  if (kind === 'date-time') return `2026-0${index + 7}-01T06:30:00.000Z`;
  const words = name.replaceAll('_', ' ');
  const title = `${words.charAt(0).toUpperCase()}${words.slice(1)} ${index + 1}`;
  const text = kind === 'uri' ? `https://example.org/${index + 1}` : title.slice(-max).padEnd(min, '.');
  return isAllowed(field, text) ? text : null;
}
