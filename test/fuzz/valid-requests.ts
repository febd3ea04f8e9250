// Valid requests in every equivalent notation.
import fc from 'fast-check';
import type { Operation, Parameter } from '../support/contract/contract.ts';
import { type Change, type Draft, encodings, OWN_ID, unchanged, withHeader } from './draft.ts';
import { validText } from './texts.ts';
import { validValue } from './values.ts';

/** Parameters whose values only the server issues. The server refuses all other values, even if the schema allows them. */
export const MADE_BY_SERVER: ReadonlySet<string> = new Set(['cursor']);

export function validDraft(operation: Operation): fc.Arbitrary<Draft> {
  const parameters = (operation.parameters ?? []).filter(({ name }) => !MADE_BY_SERVER.has(name));
  const headers = parameters.filter(({ in: where }) => where === 'header');
  const parts = fc.record({
    path: pathOf(operation, parameters),
    query: given(parameters.filter(({ in: where }) => where === 'query')).chain(encodePairs),
    headers: given(headers).map((pairs) => Object.fromEntries(pairs)),
    body: bodyOf(operation),
  });
  return parts.map(({ path: { path, subject }, ...rest }) => ({
    operation,
    method: operation.method.toUpperCase(),
    path,
    subject,
    ...rest,
    key: 'ours',
    scheme: 'Bearer ',
    flaws: [],
  }));
}

/** Generates the path with the id of the caller's own row, or with a generated id. */
function pathOf({ path }: Operation, parameters: readonly Parameter[]): fc.Arbitrary<Pick<Draft, 'path' | 'subject'>> {
  const inPath = parameters.filter(({ in: where }) => where === 'path');
  if (inPath.length === 0) return fc.constant({ path, subject: 'own' });
  const texts = inPath.map(({ schema, name }) =>
    validText(schema)
      .chain((text) => encodings(text, { isQuery: false }))
      .map((text) => [name, text] as const),
  );
  const unknown = fc.tuple(...texts).map((pairs) => fillPath(path, new Map(pairs)));
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({ path: fillPath(path, new Map()), subject: 'own' as const }) },
    { weight: 1, arbitrary: unknown.map((text) => ({ path: text, subject: 'unknown' as const })) },
  );
}

export function fillPath(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(/\{([^}]+)\}/g, (_, name: string) => values.get(name) ?? OWN_ID);
}

/** Generates names and values of the parameters. Optional parameters may be missing. */
function given(parameters: readonly Parameter[]): fc.Arbitrary<[string, string][]> {
  const members = Object.fromEntries(parameters.map(({ name, schema }) => [name, textOf(schema)]));
  const requiredKeys = parameters.filter(({ required }) => required === true).map(({ name }) => name);
  return fc.record(members, { requiredKeys, noNullPrototype: true }).map((record) => Object.entries(record));
}

function textOf(schema: Parameter['schema']): fc.Arbitrary<string> {
  return schema['type'] === 'string' && schema['enum'] === undefined
    ? validText(schema)
    : validValue(schema).map(String);
}

function encodePairs(pairs: readonly [string, string][]): fc.Arbitrary<string[]> {
  return fc.tuple(...pairs.map(([name, value]) => encodePair(name, value)));
}

export function encodePair(name: string, value: string): fc.Arbitrary<string> {
  const [names, values] = [name, value].map((text) => encodings(text, { isQuery: true }));
  return names === undefined || values === undefined
    ? fc.constant('')
    : fc.tuple(names, values).map((pair) => pair.join('='));
}

function bodyOf({ requestBody }: Operation): fc.Arbitrary<string | undefined> {
  const schema = requestBody?.content['application/json']?.schema;
  if (schema === undefined) return fc.constant(undefined);
  return fc
    .tuple(validValue(schema), fc.constantFrom(undefined, 2, '\t'), fc.boolean())
    .map(([value, indent, isEscaped]) => {
      const text = JSON.stringify(value, null, indent);
      return isEscaped ? escapeCharacters(text) : text;
    });
}

/** Escapes characters, which does not change the meaning (RFC 8259 section 7). */
function escapeCharacters(text: string): string {
  return text.replace(/[\u007f-\uffff/]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Generates changes of notation that do not change the meaning. */
export function harmless(operation: Operation): fc.Arbitrary<Change> {
  const isReading = operation.requestBody !== undefined;
  const header = (name: string, ...values: string[]) =>
    fc.constantFrom(...values).map((value) => withHeader(name, value));
  const types = Object.keys(operation.requestBody?.content ?? {}).flatMap((type) => [
    type,
    `${type}; charset=utf-8`,
    `${type.toUpperCase()};charset="UTF-8"`,
    `${type} ; x=y`,
  ]);
  return fc.oneof(
    { withCrossShrink: true },
    fc.constant(unchanged),
    fc.constantFrom('bearer ', 'BEARER   ', 'bEARER ').map(
      (scheme): Change =>
        (draft) => ({ ...draft, scheme }),
    ),
    header('Accept', '*/*', 'application/*', 'text/html, application/json;q=0.1', 'APPLICATION/JSON; charset=utf-8'),
    header('Accept-Encoding', 'gzip', 'identity;q=0'),
    header('Expect', 'the-unexpected'),
    header('X-Unknown', '', '\u00ff\u00fe', '{"a":1}', 'x'.repeat(5000)),
    fc.constant<Change>((draft) => ({ ...draft, query: ['', ...draft.query, ''] })),
    ...(isReading ? [header('Content-Type', ...types), header('Content-Encoding', 'identity', 'Identity')] : []),
    ...(isReading ? [header('Transfer-Encoding', 'chunked')] : [fc.constant(carrying('{'))]),
    ...(operation.method === 'get' ? [fc.constant<Change>((draft) => ({ ...draft, method: 'HEAD' }))] : []),
  );
}

/** Adds a body of an unknown type, for operations that read no body. */
function carrying(body: string): Change {
  return (draft) => withHeader('Content-Type', 'x/y')({ ...draft, body });
}
