// Documents that are derived from the contract for other tools: one with every `$ref` resolved, a Postman collection, and the
// document of the preview.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleContract } from '../../scripts/bundle.ts';
import { toPostmanCollection } from '../../scripts/generate/postman.ts';
import { operations } from '../support/contract/contract.ts';
import { successOf } from '../support/contract/every-operation.ts';
import { createItem, createReferences, type References, withReferences } from '../support/contract/resources.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

type Pair = { readonly key: string; readonly value: string; readonly disabled?: boolean };
type Request = {
  readonly method: string;
  readonly url: { readonly host: string[]; readonly path: string[]; readonly query: Pair[]; readonly variable: Pair[] };
  readonly header: Pair[];
  readonly body: { readonly mode?: 'raw'; readonly raw?: string };
  readonly auth: null;
};
type Example = { readonly code: number; readonly header: Pair[]; readonly body?: string };
type Item = { readonly name: string; readonly request: Request; readonly response: Example[] };
type Collection = {
  readonly info: { readonly name: string; readonly version: string; readonly schema: string };
  readonly auth: unknown;
  readonly variable: Pair[];
  readonly item: readonly { readonly name: string; readonly item: Item[] }[];
};

function read(name: string) {
  const text = readFileSync(join(import.meta.dirname, '../../generated', name), 'utf8');
  return { text, json: JSON.parse(text) };
}

const server = await useServer();
const contract = read('openapi.json').json;

describe('openapi.dereferenced.json', () => {
  const { text, json } = read('openapi.dereferenced.json');

  test('equals the contract with every $ref resolved', () => {
    expect(text).not.toContain('"$ref"');
    expect(json.info).toEqual(contract.info);
    for (const operation of operations) {
      const { path, method } = operation;
      expect({ ...json.paths[path][method], path, method }).toEqual(operation);
    }
  });
});

test('the linter, the mock and the preview of the documentation bundle the contract as npm run generate does', async () => {
  expect(await bundleContract(join(import.meta.dirname, '../../openapi/openapi.yaml'))).toEqual(contract);
  expect(await bundleContract(join(import.meta.dirname, '../../generated/openapi.yaml'))).toEqual(contract);
});

describe('postman.json', () => {
  const { text, json } = read('postman.json');
  const collection: Collection = json;
  const items = collection.item.flatMap((folder) => folder.item.map((item) => ({ ...item, folder: folder.name })));

  /** Returns the collection's request for an operation of the contract. */
  function itemOf({ path, method }: (typeof operations)[number]) {
    const wanted = path.replaceAll(/\{([^}]+)\}/g, ':$1');
    const [found, ...more] = items.filter(
      ({ request }) => request.method === method.toUpperCase() && `/${request.url.path.join('/')}` === wanted,
    );
    if (found === undefined || more.length > 0) throw new Error(`${method} ${path} is not there once.`);
    return found;
  }

  test('is a format 2.1 collection with the version of the contract', () => {
    expect(collection.info).toMatchObject({
      name: contract.info.title,
      version: contract.info.version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    });
    expect(items).toHaveLength(operations.length);
    expect(collection.item.filter((folder) => folder.item.length === 0)).toEqual([]);
    for (const { request, response } of items) {
      expect(request.url.host).toEqual(['{{base_url}}']);
      for (const pairs of [
        request.header,
        request.url.query,
        request.url.variable,
        ...response.map((each) => each.header),
      ]) {
        for (const pair of pairs) expect(pair).toMatchObject({ key: expect.any(String), value: expect.any(String) });
      }
    }
  });

  test('is identical every time it is generated', async () => {
    expect(`${JSON.stringify(await toPostmanCollection(read('openapi.dereferenced.json').json), null, 2)}\n`).toBe(
      text,
    );
  });

  test('reads the base URL and the key from variables, and contains no key', () => {
    expect(collection.variable.map(({ key, value }) => [key, value])).toEqual([
      ['base_url', contract.servers[0].variables.base_url.default],
      ['api_key', ''],
    ]);
    expect(collection.auth).toEqual({
      type: 'bearer',
      bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }],
    });
    expect(items.map(({ request }) => request.auth)).toEqual(items.map(() => null));
    expect(text).not.toMatch(/charter_(live|test)_[0-9A-Za-z]{8}/);
    expect(text).not.toContain('"Authorization"');
  });

  describe.each(operations)('$operationId', (operation) => {
    test('appears in the folder of its tag, under its summary', () => {
      const { tags, summary } = contract.paths[operation.path][operation.method];
      expect(itemOf(operation)).toMatchObject({ folder: tags[0], name: summary });
    });

    test('has an example response for each status of the contract', () => {
      const { response } = itemOf(operation);
      expect(new Set(response.map(({ code }) => String(code)))).toEqual(new Set(Object.keys(operation.responses)));
      const { responses } = read('openapi.dereferenced.json').json.paths[operation.path][operation.method];
      for (const { code, body } of response) {
        const shown: { value: unknown }[] = Object.values(responses[code].content?.['application/json'].examples ?? {});
        if (shown.length === 0) expect(body).toBeUndefined();
        else expect(shown.map(({ value }) => value)).toContainEqual(JSON.parse(body ?? 'null'));
      }
    });
  });

  describe('against the server', () => {
    test.each(operations)(
      'the server accepts the request of $operationId unchanged, except for an existing id',
      async (operation) => {
        const ours = await createTestOrganization(server);
        const id = await createItem(ours.client, operation);
        const references = await createReferences(ours.client, operation);
        const { url, header, body } = itemOf(operation).request;
        const ticked = (pairs: Pair[]) =>
          pairs.flatMap(({ key, value, disabled }): [string, string][] => (disabled === true ? [] : [[key, value]]));
        const query = String(new URLSearchParams(ticked(url.query)));
        const path = `/${url.path.join('/').replace(/:\w+/, id)}${query === '' ? '' : `?${query}`}`;
        const { status } = await ours.client.send(operation.method.toUpperCase(), path, {
          headers: Object.fromEntries(ticked(header)),
          ...(body.raw !== undefined && { body: bodyWith(body.raw, references) }),
        });
        expect(status).toBe(successOf(operation));
      },
    );
  });
});

/** Returns the body with these references, or the text unchanged if there are no references. */
function bodyWith(text: string, references: References): unknown {
  return Object.keys(references).length === 0 ? text : withReferences(JSON.parse(text), references);
}
