import { HttpError } from './exceptions.ts';

const INTEGER = /^-?(0|[1-9]\d*)$/;

export type Query = {
  /** By name; of a parameter that is given more than once, an array of its values. */
  readonly values: Record<string, unknown>;
  readonly repeated: readonly string[];
};

const NOTHING_REPEATED: readonly string[] = [];

/** How the text of a parameter is read. */
export type QueryParameter = {
  /** The type in its schema. */
  readonly type: string;
  /** The Unicode normal form into which the text is brought before it is validated; undefined to leave it as it is. */
  readonly normalForm: string | undefined;
};

/** Reads names and values by the form rules ("+" is a space), and integers and booleans only if they are written as in JSON. */
export function readQuery(text: string, parameters: ReadonlyMap<string, QueryParameter>): Query {
  if (text === '') return { values: {}, repeated: NOTHING_REPEATED };
  const values = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeComponent(equals < 0 ? pair : pair.slice(0, equals), 'query');
    const value = equals < 0 ? '' : decodeComponent(pair.slice(equals + 1), 'query');
    const read = readValue(value, parameters.get(name));
    const earlier = values.get(name);
    if (earlier !== undefined) repeated.add(name);
    // No schema of the contract takes an array, so validation refuses the request.
    if (Array.isArray(earlier)) earlier.push(read);
    else values.set(name, earlier === undefined ? read : [earlier, read]);
  }
  // Assigning a property would lose a parameter named "__proto__".
  return { values: Object.fromEntries(values), repeated: [...repeated] };
}

/** A value that is not of the type stays text, which validation refuses. */
function readValue(text: string, parameter: QueryParameter | undefined): unknown {
  if (parameter === undefined) return text;
  const { type, normalForm } = parameter;
  if (type === 'integer' && INTEGER.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return normalForm === undefined ? text : text.normalize(normalForm);
}

/** Throws a 400 where the percent-encoding is not UTF-8. */
export function decodeComponent(text: string, where: 'path' | 'query'): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = where === 'query' ? text.replaceAll('+', ' ') : text;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new HttpError(
      'bad_request',
      `The ${where} contains percent-encoding that is not valid UTF-8: ${text.slice(0, 100)}`,
    );
  }
}
