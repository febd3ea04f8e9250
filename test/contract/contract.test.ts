import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { EXCEPTIONS } from '../../src/api/exceptions.ts';
import { handlers } from '../../src/api/handlers/index.ts';
import { EVENT_TYPES } from '../../src/domain/resources/events.ts';
import { TEST_EVENT_TYPE } from '../../src/domain/webhooks/webhook-endpoint.ts';
import { signatureOf } from '../../src/domain/webhooks/webhook-message.ts';
import { operations, webhooks } from '../support/contract/contract.ts';
import { readGuide } from '../support/contract/guides.ts';

type Node = { readonly [name: string]: unknown };
type Found = { readonly place: string; readonly node: Node };

const document: Node = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
const nodes = collect(document, '#');
const guide = readGuide('receiving-events.md');
const ajv = new Ajv2020({ allErrors: true, strict: false });
formats.default(ajv);
ajv.addSchema(document, 'contract');

function collect(value: unknown, place: string): Found[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => collect(item, `${place}/${i}`));
  if (!isNode(value)) return [];
  const within = Object.entries(value).flatMap(([name, member]) =>
    collect(member, `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  return [{ place, node: value }, ...within];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the target of a reference, and any other value unchanged. */
function at(node: unknown): unknown {
  if (!isNode(node) || typeof node['$ref'] !== 'string') return node;
  const names = node['$ref'].slice(2).split('/');
  return names.reduce<unknown>((value, name) => (isNode(value) ? value[name] : undefined), document);
}

/** All schemas of the document. Examples are data and contain no schemas. */
const schemas = nodes.filter(
  ({ place, node }) =>
    !/\/(examples|example|default|enum)(\/|$)/.test(place) &&
    /(\/schema|\/items|\/additionalProperties|\/propertyNames|\/properties\/[^/]+|#\/components\/schemas\/[^/]+)$/.test(
      place,
    ) &&
    'type' in node,
);

function placesOf(found: readonly Found[]): string[] {
  return found.map(({ place }) => place);
}

test('the document has schemas, and as many operations as the server has handlers', () => {
  expect(schemas.length).toBeGreaterThan(50);
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(handlers).sort());
});

test('every schema is valid JSON Schema 2020-12', () => {
  const broken = schemas.filter(({ node }) => ajv.validateSchema(node) !== true);
  expect(placesOf(broken)).toEqual([]);
});

test.each(operations)(
  '$operationId declares every refusal with the schema that the server uses for its status',
  (operation) => {
    const shown = nodes.find(
      ({ place }) => place === `#/paths/${operation.path.replaceAll('/', '~1')}/${operation.method}`,
    );
    const responses = shown?.node['responses'];
    const refusals = Object.entries(isNode(responses) ? responses : {}).filter(([status]) => Number(status) >= 400);
    for (const [status, response] of refusals) {
      const expected = Object.values(EXCEPTIONS).find((exception) => String(exception.status) === status)?.schema;
      expect(JSON.stringify(at(response))).toContain(`"schema":{"$ref":"#/components/schemas/${expected}"}`);
    }
    expect(refusals.map(([status]) => Number(status))).toEqual(
      expect.arrayContaining([400, 401, 403, 405, 406, 408, 414, 422, 429, 500, 501, 503]),
    );
  },
);

test('the exceptions of the server and the exception responses and schemas of the document are the same', () => {
  const names = Object.values(EXCEPTIONS)
    .map(({ schema }) => schema)
    .sort();
  const exceptionsIn = (place: string) =>
    nodes.flatMap((found) => new RegExp(`^${place}/(\\w+Exception)$`).exec(found.place)?.[1] ?? []).sort();
  expect(exceptionsIn('#/components/schemas')).toEqual(names);
  expect(exceptionsIn('#/components/responses')).toEqual(names);
});

test('only limit and sort have a default, as in src/api/operation.ts', () => {
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  const defaulted = parameters.filter(({ schema }) => 'default' in schema).map(({ name }) => name);
  expect([...new Set(defaulted)].sort()).toEqual(['limit', 'sort']);
});

test('every parameter, header and body has examples, and every example is valid', () => {
  const shown = nodes.filter(({ node }) => isNode(node['schema']));
  expect(shown.length).toBeGreaterThan(40);
  const problems = shown.flatMap(({ place, node }) => {
    const examples = isNode(node['examples']) ? Object.entries(node['examples']) : [];
    if (examples.length === 0) return [`${place} has no example`];
    const validate = ajv.compile({ $ref: `contract${place}/schema`.replaceAll('{', '%7B').replaceAll('}', '%7D') });
    return examples.flatMap(([name, example]) => {
      const value = at(example);
      return isNode(value) && validate(value['value']) ? [] : [`${place} ${name}: ${ajv.errorsText(validate.errors)}`];
    });
  });
  expect(problems).toEqual([]);
});

test('the examples of every schema are valid', () => {
  const problems = schemas.flatMap(({ place, node }) =>
    [node['examples'] ?? []].flat().flatMap((example) => {
      const validate = ajv.compile({ $ref: `contract${place}`.replaceAll('{', '%7B').replaceAll('}', '%7D') });
      return validate(example) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`];
    }),
  );
  expect(problems).toEqual([]);
});

// The attack: a leaked key creates more keys, and so survives its own revocation. Only the dashboard creates keys.
test('no operation creates, rotates, revokes or lists keys', () => {
  const onKeys = operations.filter(({ path, operationId }) => /key|token/i.test(`${path} ${operationId}`));
  expect(onKeys.map(({ method, path }) => `${method} ${path}`)).toEqual(['get /api/key']);
  const members = schemas.map(({ place }) => place).filter((place) => /secret|hash|password|token/i.test(place));
  expect(members).toEqual([]);
});

test('every operation requires a key, and none accepts an organization', () => {
  for (const { security, parameters = [], path } of operations) {
    expect(security.length).toBeGreaterThan(0);
    for (const alternative of security) expect(alternative).toEqual({ apiKey: expect.any(Array) });
    expect(parameters.filter(({ name }) => /organi[sz]ation|tenant/i.test(name))).toEqual([]);
    expect(path).toMatch(/^\/api\/[a-z_]+(\/\{id\}(?:\/[a-z_]+)?|\/batch|\/by_(\w+)\/\{\2\})?$/);
  }
});

// The attack: writing with a read-only key, because an operation requires the wrong permission.
test('every operation that writes requires a write permission, and every operation that reads requires only a read permission', () => {
  for (const { method, security } of operations) {
    const asked = security.flatMap((each) => Object.values(each).flat());
    if (method === 'get') expect(asked.filter((permission) => !permission.endsWith(':read'))).toEqual([]);
    else expect(asked).toEqual([expect.stringMatching(/:write$/)]);
  }
});

/** Returns the schema without its description, examples and remedy, which may differ. */
function constraintsOf(schema: unknown): Node {
  const entries = Object.entries(isNode(schema) ? schema : {});
  return Object.fromEntries(entries.filter(([name]) => !['description', 'examples', 'x-remedy'].includes(name)));
}

test('each change of a batch has exactly the parameters and the body of its own operation', () => {
  const counted = operations.flatMap(({ operationId, path, requestBody }) =>
    Object.values(requestBody?.content['application/json']?.schema.properties ?? {})
      .filter((property) => property['x-counts-as-requests'] === true)
      .map(({ items }) => ({ operationId, list: path.replace(/\/[^/]+$/, ''), changes: [items?.['oneOf']].flat() })),
  );
  expect(counted.length).toBeGreaterThan(0);
  // The path of an action, such as "{id}/archive", ends with a word after a parameter. A batch has no actions.
  const ofRows = operations.filter(({ path }) => !/\}\/\w+$/.test(path));
  const methods: Node = { create: 'post', upsert: 'put', update: 'patch', delete: 'delete' };
  for (const { operationId, list, changes } of counted) {
    expect(changes).toHaveLength(4);
    for (const change of changes) {
      const { action, ...members } = Object(Object(change).properties);
      // Two operations delete a row: one by the id, and one by the client's own id.
      const owns = ofRows.filter(
        (each) =>
          each.method === methods[action.const] && each.path.startsWith(list) && each.operationId !== operationId,
      );
      expect(owns).toHaveLength(action.const === 'delete' ? 2 : 1);
      // A change has no Idempotency-Key, because the key belongs to the whole batch.
      const parameters = owns.flatMap((own) => own.parameters ?? []).filter(({ name }) => name !== 'Idempotency-Key');
      const named = parameters.map(({ name, schema }) => [name.toLowerCase().replaceAll('-', '_'), schema] as const);
      const body = owns[0]?.requestBody?.content['application/json']?.schema;
      const expected = Object.entries({ ...Object.fromEntries(named), ...(body !== undefined && { body }) });
      expect(Object.keys(members).sort()).toEqual(expected.map(([name]) => name).sort());
      for (const [name, schema] of expected)
        expect([name, constraintsOf(members[name])]).toEqual([name, constraintsOf(schema)]);
    }
  }
});

/** Receivers have no API key, so generated code must not require one. */
test('every webhook is a POST without a key, with the headers of Standard Webhooks, and named after its type', () => {
  expect(webhooks.map(({ name }) => name)).toEqual([...EVENT_TYPES, TEST_EVENT_TYPE]);
  for (const { name, method, security, parameters = [], requestBody, responses } of webhooks) {
    expect({ method, security }).toEqual({ method: 'post', security: [] });
    expect(parameters.map((each) => `${each.in} ${each.name} ${each.required}`)).toEqual([
      'header webhook-id true',
      'header webhook-timestamp true',
      'header webhook-signature true',
    ]);
    const { schema, examples } = requestBody?.content['application/json'] ?? {};
    expect(schema?.properties?.['type']?.const).toBe(name);
    expect(schema?.required).toEqual(['id', 'type', 'timestamp', 'data']);
    expect(Object.values(examples ?? {}).map(({ value }) => Object(value).type)).toEqual([name]);
    expect(Object.keys(responses)).toEqual(['410', '2XX']);
  }
});

test('an event of a webhook is the event of the feed, but for its type', () => {
  const feed = operations.find(({ operationId }) => operationId === 'getEvent');
  const { schema } = feed?.responses['200']?.content?.['application/json'] ?? {};
  const sent = webhooks.filter(({ name }) => name !== TEST_EVENT_TYPE);
  expect(schema?.properties?.['type']?.enum).toEqual(sent.map(({ name }) => name));
  for (const { requestBody } of sent) {
    const { schema: own, examples: shown } = requestBody?.content['application/json'] ?? {};
    const withoutTexts = (each: unknown) =>
      JSON.stringify(each, (key, value) => (/^(description|examples)$/.test(key) ? undefined : value));
    const { type: _, ...others } = own?.properties ?? {};
    const { type: __, ...ofFeed } = schema?.properties ?? {};
    const { data, ...rest } = others;
    const { data: anyData, ...restOfFeed } = ofFeed;
    expect(withoutTexts(rest)).toBe(withoutTexts(restOfFeed));
    // If several resources have events, the data of an event in the feed is one of several alternatives.
    const alternatives: unknown[] = Array.isArray(anyData?.anyOf) ? anyData.anyOf : [anyData];
    expect(alternatives.map(withoutTexts)).toContain(withoutTexts(data));
    for (const { value } of Object.values(shown ?? {})) expect(ajv.validate(schema ?? false, value)).toBe(true);
  }
});

// Integrators check their code with this example. The guide has its secret, id and timestamp.
test('the signature of the examples is right', () => {
  const [id, timestamp, signature] = ['WebhookId', 'WebhookTimestamp', 'WebhookSignature'].map((name) => {
    const parameter = nodes.find(({ place }) => place === `#/components/parameters/${name}`)?.node;
    return Object.values<{ value: unknown }>(Object(parameter?.['examples'])).map(({ value }) => value);
  });
  const event = nodes.find(({ place }) => place === '#/components/examples/EventUpdated')?.node['value'];
  const message = { id: String(id?.[0]), timestamp: Number(timestamp?.[0]), body: JSON.stringify(event) };
  const [secret = ''] = /whsec_[A-Za-z0-9+/=]{40,}/.exec(guide) ?? [];
  expect(signatureOf(message, [Buffer.from(secret.slice('whsec_'.length), 'base64')])).toBe(signature?.[0]);
  expect(guide).toContain(`webhook-signature: ${signature?.[0]}`);
});

test('enumerations that grow with the resources announce it', () => {
  const permissions = nodes.filter(({ node }) => JSON.stringify(node['enum'] ?? '').includes('parent_programs:read'));
  expect(permissions.length).toBeGreaterThanOrEqual(2);
  expect(placesOf(permissions.filter(({ node }) => node['x-extensible'] !== true))).toEqual([]);
});
