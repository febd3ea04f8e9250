// A workflow for each resource, derived from the contract: creates a row, retries that, gets, lists and deletes it.
import { firstExample, isObject, successOf } from '../../../src/contract/document.ts';
import { type Operation, operations } from './contract.ts';
import { type Resource, referencesOf } from './resources.ts';

type Step = { readonly stepId: string; readonly [member: string]: unknown };

/** The text of an Arazzo document in JSON, which is also YAML. `contract`: the absolute path of the contract. */
export function workflowOf(resource: Resource, contract: string): string {
  const workflow = {
    workflowId: resource.table,
    summary: `Create, get and list a row of ${resource.table}.`,
    inputs: {
      type: 'object',
      required: ['api_key', 'idempotency_key'],
      properties: { api_key: { type: 'string', format: 'password' }, idempotency_key: { type: 'string' } },
    },
    parameters: [{ in: 'header', name: 'Authorization', value: 'Bearer {$inputs.api_key}' }],
    steps: stepsOf(resource),
  };
  return JSON.stringify({
    arazzo: '1.0.1',
    info: { title: resource.table, version: '1.0.0' },
    sourceDescriptions: [{ name: 'charter', type: 'openapi', url: contract }],
    workflows: [workflow],
  });
}

/** The ids of the steps, in order. */
export function stepIdsOf(resource: Resource): string[] {
  return stepsOf(resource).map(({ stepId }) => stepId);
}

function stepsOf(resource: Resource): Step[] {
  const { path, table, creation } = resource;
  const idempotencyKey = parameterIn(creation, 'Idempotency-Key', `{$inputs.idempotency_key}-${table}`);
  const own = { in: 'path', name: 'id', value: `$steps.create-${table}.outputs.id` };
  const [list, get, removal] = [find('get', path), find('get', `${path}/{id}`), find('delete', `${path}/{id}`)];
  const again =
    idempotencyKey.length === 0
      ? []
      : [
          stepOf(creation, {
            stepId: 'create-again',
            parameters: idempotencyKey,
            payload: payloadOf(resource),
            conditions: [`$response.body#/id == $steps.create-${table}.outputs.id`],
          }),
        ];
  return [
    ...creationOf(resource, idempotencyKey),
    ...again,
    ...(get === undefined ? [] : readingOf(get, `get-${table}`, [own])),
    ...(list === undefined ? [] : readingOf(list, `list-${table}`, parameterIn(list, 'limit', 1))),
    ...(removal === undefined ? [] : [stepOf(removal, { stepId: `delete-${table}`, parameters: [own] })]),
  ];
}

/** Creates the rows to which the resource refers, and then one of its own, with the step `create-<table>`. */
function creationOf(resource: Resource, parameters: readonly unknown[]): Step[] {
  const before = referencesOf(resource.creation).flatMap(([, referred]) => creationOf(referred, []));
  const step = stepOf(resource.creation, {
    stepId: `create-${resource.table}`,
    parameters,
    payload: payloadOf(resource),
  });
  return [...before, { ...step, outputs: { id: '$response.body#/id' } }];
}

/** Gets it, and then gets 304 for its entity tag, if the operation declares that. */
function readingOf(operation: Operation, stepId: string, parameters: readonly unknown[]): Step[] {
  const read = { ...stepOf(operation, { stepId, parameters }), outputs: { etag: '$response.header.ETag' } };
  if (operation.responses[304] === undefined) return [read];
  const ifNoneMatch = { in: 'header', name: 'If-None-Match', value: `$steps.${stepId}.outputs.etag` };
  const again = stepOf(operation, { stepId: `${stepId}-again`, parameters: [...parameters, ifNoneMatch] });
  return [read, { ...again, successCriteria: [{ condition: '$statusCode == 304' }] }];
}

type StepParts = {
  readonly stepId: string;
  readonly parameters: readonly unknown[];
  readonly payload?: unknown;
  /** Besides the status of a success. */
  readonly conditions?: readonly string[];
};

function stepOf(operation: Operation, { stepId, parameters, payload, conditions = [] }: StepParts): Step {
  return {
    stepId,
    operationId: operation.operationId,
    ...(parameters.length > 0 && { parameters }),
    ...(payload !== undefined && { requestBody: { contentType: 'application/json', payload } }),
    successCriteria: [`$statusCode == ${successOf(operation)}`, ...conditions].map((condition) => ({ condition })),
  };
}

/** The contract's first example, which refers to the rows of earlier steps. */
function payloadOf(resource: Resource): unknown {
  const example = firstExample(resource.creation.requestBody?.content['application/json']?.examples ?? {});
  const ids = referencesOf(resource.creation).map(([field, { table }]) => [field, `$steps.create-${table}.outputs.id`]);
  return isObject(example) ? { ...example, ...Object.fromEntries(ids) } : example;
}

function parameterIn(operation: Operation, name: string, value: unknown): unknown[] {
  const parameter = operation.parameters?.find((each) => each.name === name);
  return parameter === undefined ? [] : [{ in: parameter.in, name, value }];
}

function find(method: string, path: string): Operation | undefined {
  return operations.find((each) => each.method === method && each.path === path);
}
