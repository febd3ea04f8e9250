import document from '#generated/openapi.json' with { type: 'json' };
import { createAjv } from '../../src/contract/contract.ts';
import type { Example } from '../../src/contract/document.ts';
import { type Tool, toolsOf } from '../../src/mcp/tools.ts';
import { operations } from '../support/contract/contract.ts';

const tools = toolsOf(document);
const names = tools.map(({ definition }) => definition.name);

function toolNamed(name: string): Tool {
  const tool = tools.find(({ definition }) => definition.name === name);
  if (tool === undefined) throw new Error(`There is no tool ${name}.`);
  return tool;
}

function valuesOf(examples: Readonly<Record<string, Example>> = {}): unknown[] {
  return Object.values(examples).map(({ value }) => value);
}

test('each operation of the contract is a tool', () => {
  expect(names).toEqual(operations.map(({ operationId }) => operationId));
});

test.each([
  ['listParentPrograms', { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
  ['createParentProgram', { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
  ['batchParentPrograms', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
  ['upsertParentProgram', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
  ['updateParentProgram', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
  ['deleteParentProgram', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
])('%s says truly whether it reads, destroys and may be repeated', (name, hints) => {
  expect(toolNamed(name).definition.annotations).toEqual({ ...hints, openWorldHint: false });
});

describe.each(names)('%s', (name) => {
  const { definition } = toolNamed(name);
  const operation = operations.find(({ operationId }) => operationId === name);

  test('has schemas of JSON Schema without references or keywords of OpenAPI, and names that models accept', () => {
    const { inputSchema, outputSchema } = definition;
    const ajv = createAjv();
    expect([ajv.validateSchema(inputSchema), ajv.validateSchema(outputSchema)]).toEqual([true, true]);
    expect(JSON.stringify(definition)).not.toMatch(/"(\$ref|discriminator|x-[a-z-]+)":/);
    for (const argument of [name, ...Object.keys(inputSchema.properties)])
      expect(argument).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
  });

  test('takes the examples of the contract, and returns those of its successes', () => {
    const [takes, returns] = [definition.inputSchema, definition.outputSchema].map((schema) =>
      createAjv().compile(schema),
    );
    const { parameters = [], requestBody, responses = {} } = operation ?? {};
    const required = parameters.filter((each) => each.required).map((each) => [each.name, valuesOf(each.examples)[0]]);
    const bodies = valuesOf(requestBody?.content['application/json']?.examples);
    for (const body of requestBody === undefined ? [undefined] : bodies) {
      const given = { ...Object.fromEntries(required), ...(body !== undefined && { body }) };
      // Validation adds the defaults to the value.
      expect([given, takes?.(structuredClone(given)), takes?.errors]).toEqual([given, true, null]);
    }
    for (const [status, { content }] of Object.entries(responses).filter(([each]) => each.startsWith('2')))
      for (const body of valuesOf(content?.['application/json']?.examples)) {
        const result = { status: Number(status), body };
        expect([result, returns?.(structuredClone(result)), returns?.errors]).toEqual([result, true, null]);
      }
  });
});

test('a result with what a later version of the contract may add is not refused', () => {
  const { properties } = toolNamed('getKey').definition.outputSchema;
  const [key] = valuesOf(
    operations.find(({ operationId }) => operationId === 'getKey')?.responses['200']?.content?.['application/json']
      ?.examples,
  );
  const body = { ...Object(key), permissions: ['courses:read', 'courses:write', 'rooms:read'], is_new: true };
  expect(createAjv().validate(properties['body'] ?? false, body)).toBe(true);
});

test('descriptions say nothing about headers that a tool does not take, nor that a value must be encoded', () => {
  const { description, inputSchema, outputSchema } = toolNamed('listParentPrograms').definition;
  expect(description).toMatch(/next_cursor/);
  expect(description).not.toMatch(/If-None-Match/);
  const { parameters = [] } = operations.find(({ operationId }) => operationId === 'listParentPrograms') ?? {};
  expect([inputSchema.properties, outputSchema.properties].map((each) => Object.keys(each))).toEqual([
    parameters.filter((each) => each.in === 'query').map(({ name }) => name),
    ['status', 'body'],
  ]);
  expect(toolNamed('upsertParentProgram').definition.inputSchema.properties['external_id']?.['description']).toMatch(
    /Give the value as it is: this tool encodes it\.$/,
  );
});
