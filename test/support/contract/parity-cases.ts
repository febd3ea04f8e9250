// Derives from the contract every kind of request that an operation must refuse, and valid requests.
import { gzipSync } from 'node:zlib';
import type { Json } from '../../../src/contract/document.ts';
import { formatKey } from '../../../src/domain/keys/api-key.ts';
import type { Sending } from '../clients/client.ts';
import type { Operation, Parameter } from './contract.ts';
import { maxBodyBytesOf, requestFor, type ValidRequest, withQuery } from './every-operation.ts';
import { type References, referredResourceOf, withReferences } from './resources.ts';
import { wrongJson, wrongTexts } from './wrong-values.ts';

/** The changes to a valid request. The server and the mock get the same changed request. */
export type Case = { readonly what: string } & Partial<Omit<ValidRequest, 'headers'>> & Sending;

export function badRequests(operation: Operation, request: ValidRequest, key: string): Case[] {
  return [
    ...badKeys(key),
    ...badAddresses(operation, request),
    ...badParameters(operation, request),
    ...badHeaders(operation),
    ...(operation.requestBody === undefined ? [] : badBodies(operation, request)),
  ];
}

/** Returns valid requests in every form that a client may send. */
export function goodRequests(operation: Operation, request: ValidRequest, key: string): Case[] {
  const examples = (operation.parameters ?? []).filter(({ in: where, name }) => where === 'query' && name !== 'cursor');
  const bodies = Object.entries(operation.requestBody?.content ?? {}).flatMap(([type, { examples: values }]) =>
    Object.entries(values).map(([example, { value }]) => ({ type, example, value })),
  );
  return [
    { what: 'as it is' },
    { what: 'another case of the scheme', headers: { Authorization: `bEARER  ${key}` } },
    { what: 'Accept: */*', headers: { Accept: '*/*' } },
    { what: 'Accept by quality', headers: { Accept: 'text/html, application/json;q=0.1' } },
    { what: 'an Expect that nobody knows', headers: { Expect: 'the-unexpected' } },
    {
      what: 'a body where none is read',
      ...(bodies.length === 0 && { body: '{', headers: { 'Content-Type': 'x/y' } }),
    },
    ...(operation.method === 'get' ? [{ what: 'HEAD', method: 'HEAD' }] : []),
    ...examples.flatMap(({ name, examples: values }) =>
      Object.entries(values).map(([example, { value }]) => ({
        what: `${name}: ${example}`,
        url: withQuery(request.url, `${name}=${encodeURIComponent(String(value))}`),
      })),
    ),
    ...bodies.map(({ type, example, value }) => ({
      what: `the body ${example} as ${type}`,
      body: withReferences(value, referencesIn(request.body)),
      headers: { 'Content-Type': type },
    })),
  ];
}

/** Returns the ids of existing rows in a valid body. */
function referencesIn(body: unknown): References {
  const texts = Object.entries(Object(body)).map(([name, value]) => [name, String(value)] as const);
  return Object.fromEntries(texts.filter(([name]) => referredResourceOf(name) !== undefined));
}

/** Returns requests whose key is not a valid key but looks like one. */
export function badKeys(key: string): Case[] {
  const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  const values = {
    'a key by another scheme': 'Basic dXNlcjpwYXNz',
    'a scheme without a key': 'Bearer',
    'two keys in one header': `Bearer ${key} ${key}`,
    'what is no key': 'Bearer not-a-key',
    'a mistyped key': `Bearer ${mistyped}`,
    'an incomplete key': `Bearer ${key.slice(0, -1)}`,
    'a key too long': `Bearer ${key}0`,
    'a key of the other environment': `Bearer ${formatKey('test', 'x'.repeat(40))}`,
    'two Authorization headers': [`Bearer ${key}`, `Bearer ${key}`],
    'an empty Authorization header': '',
    'a bad key, and all else wrong': 'Bearer x',
  };
  return [
    { what: 'no key', headers: { Authorization: undefined } },
    ...Object.entries(values).map(([what, Authorization]) => ({ what, headers: { Authorization } })),
    { what: 'no key, and all else wrong', headers: { Authorization: undefined, Accept: 'text/html' }, body: '{' },
  ];
}

function badAddresses({ path, method }: Operation, { url }: ValidRequest): Case[] {
  const queries = ['verbose=1', '__proto__=1', 'constructor=1', '=1', 'a%00b=1', 'search=%ff', '%ff=1', 'x=%', 'x=%C3'];
  const addresses = [
    `${url}/`,
    `${url}/more`,
    url.toUpperCase(),
    `/${url}`,
    `${path.split('/{')[0]}s`,
    '/api',
    '/api/',
  ];
  return [
    ...queries.map((query) => ({ what: `?${query}`, url: withQuery(url, query) })),
    ...addresses.map((each) => ({ what: each, url: each })),
    { what: 'an address too long', url: withQuery(url, `q=${'x'.repeat(9000)}`) },
    ...['PUT', 'OPTIONS', 'TRACE', 'PROPFIND']
      .filter((each) => each !== method.toUpperCase())
      .map((each) => ({ what: each, method: each })),
  ];
}

function badParameters(operation: Operation, { url }: ValidRequest): Case[] {
  const parameters = operation.parameters ?? [];
  const inPlace = ({ name }: Parameter, text: string) => withQuery(url, `${name}=${text}`);
  return parameters.flatMap((parameter): Case[] => {
    const { name, schema, examples } = parameter;
    const wrong = wrongTexts(schema);
    const example = encodeURIComponent(String(Object.values(examples)[0]?.value));
    if (parameter.in === 'query')
      return [
        ...wrong.flatMap(({ what, value }) =>
          isEncodable(value) ? [{ what: `${name}: ${what}`, url: inPlace(parameter, encodeURIComponent(value)) }] : [],
        ),
        { what: `${name}: in brackets`, url: inPlace({ ...parameter, name: `${name}[]` }, example) },
        { what: `${name}: twice`, url: `${inPlace(parameter, example)}&${name}=${example}` },
        { what: `${name}: no UTF-8`, url: inPlace(parameter, '%ff') },
      ];
    if (parameter.in === 'path')
      return (schema['format'] === 'uuid' ? WRONG_IDS : WRONG_OWN_IDS).map((id) => ({
        what: `${name}: ${id}`,
        url: requestFor(operation, { id }).url,
      }));
    return wrong.flatMap(({ what, value }) =>
      // Leaves out values that end with a space, which HTTP removes, and values with characters other than printable ASCII.
      /^[\x21-\x7e]*( +[\x21-\x7e]+)*$/.test(String(value))
        ? [{ what: `${name}: ${what}`, headers: { [name]: String(value) } }]
        : [],
    );
  });
}

const WRONG_IDS = ['not-a-uuid', '%00', '%ff', '..%2f', '%', '__proto__', 'x'.repeat(36)];
/** Values that cannot be a client's own id. Any other text can be an id. */
const WRONG_OWN_IDS = ['%00', '%ff', '%', 'x'.repeat(256)];

function isEncodable(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function badHeaders({ requestBody }: Operation): Case[] {
  const accepts = ['text/html', 'application/json;q=0', 'application/xml, application/json;q=0, */*;q=0', 'x'];
  const types = [
    'text/plain',
    '',
    'application/jsonx',
    'application/json; charset=latin1',
    'application/json-patch+json',
    'multipart/form-data',
  ];
  return [
    ...accepts.map((Accept) => ({ what: `Accept: ${Accept}`, headers: { Accept } })),
    ...(requestBody === undefined ? [] : types).map((type) => ({
      what: `Content-Type: ${type}`,
      headers: { 'Content-Type': type },
    })),
  ];
}

function badBodies(operation: Operation, request: ValidRequest): Case[] {
  const schema = Object(operation.requestBody?.content['application/json']?.schema);
  const valid = Object(request.body);
  const texts = ['{', 'name=x', '{} {}', '{"name":"x",}', ' ', '[]', 'null', '"x"', '3', '\ufeff{}'];
  const required: readonly string[] = schema.required ?? [];
  return [
    { what: 'no body', body: undefined, headers: { 'Content-Type': 'application/json' } },
    { what: 'no body and no media type', body: undefined },
    ...texts.map((body) => ({ what: `the body ${body}`, body })),
    { what: 'bytes that are not UTF-8', body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
    { what: 'a compressed body', body: gzipSync(JSON.stringify(valid)), headers: { 'Content-Encoding': 'gzip' } },
    { what: 'a body too large', body: JSON.stringify({ name: 'x'.repeat(maxBodyBytesOf(operation)) }) },
    { what: 'arrays without end', body: `{"metadata":${'['.repeat(5000)}${']'.repeat(5000)}}` },
    ...['colour', 'id', 'constructor', 'created_at'].map((name) => ({
      what: `the unknown field ${name}`,
      body: { ...valid, [name]: 'x' },
    })),
    { what: 'a field twice', body: `{"name":"x",${JSON.stringify(valid).slice(1)}` },
    { what: 'a field twice, deeper', body: '{"name":"x","metadata":{"k":"v","k":"w"}}' },
    { what: 'the unknown field __proto__', body: '{"name":"x","__proto__":{"x":1}}' },
    ...required.map((name) => ({ what: `no ${name}`, body: { ...valid, [name]: undefined } })),
    ...Object.entries<Json>(schema.properties ?? {}).flatMap(([name, ofField]) =>
      wrongJson(ofField).map(({ what, value }) => ({ what: `${name}: ${what}`, body: { ...valid, [name]: value } })),
    ),
  ];
}
