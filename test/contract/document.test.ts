import { type Json, operationsOf, resolve } from '../../src/contract/document.ts';

const TREE = {
  type: 'object',
  properties: { children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
};
const NAME = { type: 'string', maxLength: 200 };

const document: Json = {
  paths: {
    '/names': {
      description: 'Not an operation.',
      post: { operationId: 'createName', requestBody: { $ref: '#/components/requestBodies/Name' }, responses: {} },
      get: { operationId: 'getName', responses: { 200: { $ref: '#/components/responses/Name' } } },
    },
  },
  components: {
    schemas: {
      Name: NAME,
      'a/b~c d': NAME,
      Alias: { $ref: '#/components/schemas/Name' },
      Tree: TREE,
      Loop: { $ref: '#/components/schemas/Loop' },
    },
    requestBodies: { Name: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Name' } } } } },
    responses: { Name: { description: 'A name.', content: { 'application/json': { schema: NAME } } } },
  },
};

function schema(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

describe('operationsOf', () => {
  test('lists every operation in document order with its references resolved', () => {
    const [createName, getName, ...others] = operationsOf(document);
    expect(others).toEqual([]);
    expect(getName).toMatchObject({ operationId: 'getName', path: '/names', method: 'get' });
    expect(getName?.responses['200']?.description).toBe('A name.');
    expect(createName?.requestBody?.content['application/json']?.schema).toEqual(NAME);
  });

  test('keeps references to named schemas on request', () => {
    const [createName] = operationsOf(document, { keepNamedSchemas: true });
    expect(createName?.requestBody?.content['application/json']?.schema).toEqual(schema('Name'));
  });
});

describe('resolve', () => {
  test.each([
    ['a reference to a reference', schema('Alias'), NAME],
    ['an escaped name', schema('a~1b~0c%20d'), NAME],
    ['a member beside a reference', { ...schema('Name'), maxLength: 9 }, { type: 'string', maxLength: 9 }],
    ['a member named like a built-in method', { constructor: schema('Name') }, { constructor: NAME }],
  ])('resolves %s', (_, value, resolved) => {
    expect(resolve(document, value)).toEqual(resolved);
  });

  test('keeps a recursive schema readable by reference to its name', () => {
    expect(resolve(document, TREE, { keepNamedSchemas: true })).toEqual(TREE);
  });

  test.each([
    ['that contains itself', 'Tree', '#/components/schemas/Tree contains itself.'],
    ['that leads back to itself', 'Loop', 'The reference #/components/schemas/Loop leads back to itself.'],
    ['that is missing', 'None', 'The document has nothing at #/components/schemas/None.'],
    ['that every object inherits', 'constructor', 'The document has nothing at #/components/schemas/constructor.'],
  ])('throws for a schema %s', (_, name, message) => {
    expect(() => resolve(document, schema(name))).toThrow(message);
  });
});
