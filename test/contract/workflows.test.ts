import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { root } from '../../scripts/tool.ts';
import { runWorkflows, type WorkflowRun, workflowFiles } from '../../scripts/workflows/run.ts';
import { firstExample, isObject, successOf } from '../../src/contract/document.ts';
import { type Operation, operations } from '../support/contract/contract.ts';
import { type Resource, referencesOf, resources } from '../support/contract/resources.ts';
import { useFolder } from '../support/folder.ts';
import { runFile } from '../support/processes/process.ts';
import { useMock } from '../support/servers/mock.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

// A workflow for each resource, derived from the contract: it creates a row, repeats the creation, then gets, lists and deletes
// the row.

type Step = { readonly stepId: string; readonly [member: string]: unknown };

/** Returns an Arazzo document as JSON, which is valid YAML. `contract` is the absolute path of the contract. */
function workflowOf(resource: Resource, contract: string): string {
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

function stepIdsOf(resource: Resource): string[] {
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

/**
 * Returns steps that create the rows to which the resource refers, and then a row of the resource with the step `create-<table>`.
 */
function creationOf(resource: Resource, parameters: readonly unknown[]): Step[] {
  const before = referencesOf(resource.creation).flatMap(([, referred]) => creationOf(referred, []));
  const step = stepOf(resource.creation, {
    stepId: `create-${resource.table}`,
    parameters,
    payload: payloadOf(resource),
  });
  return [...before, { ...step, outputs: { id: '$response.body#/id' } }];
}

/** Returns a step that reads, and a step that gets 304 for the entity tag if the operation declares a 304. */
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
  /** Conditions in addition to the status of success. */
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

/** Returns the contract's first example, with references to the rows of earlier steps. */
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

// A response that violates the contract makes its step fail.
const server = await useServer({ responseCheck: { mode: 'enforce', sampleRate: 1 } });
const mock = await useMock();
const ours = await createTestOrganization(server);
/** The organization in which only the correct workflows run. */
const clean = await createTestOrganization(server);
const folder = await useFolder();

const files = workflowFiles();
const names = files.map((file) => basename(file, '.arazzo.yaml'));
const targets = {
  server: { server: server.url, key: clean.key },
  mock: { server: mock.url, key: mock.key },
};

let onServer: Promise<WorkflowRun> | undefined;

/** Runs all workflows on the server, once for two tests. */
function runOnServer(): Promise<WorkflowRun> {
  onServer ??= runWorkflows({ files, ...targets.server, isVerbose: true });
  return onServer;
}

function command(key: string, server: string, ...flags: readonly string[]) {
  return runFile('scripts/workflows/main.ts', ['--server', server, ...flags], { CHARTER_API_KEY: key });
}

async function runOnMock(): Promise<WorkflowRun> {
  const { code, stdout, stderr } = await command(mock.key, mock.url, '--verbose');
  return { isFine: code === 0 && stderr === '', printed: stdout + stderr };
}

type WrongExpectation = { readonly name: string; readonly step: string; readonly replace: string; readonly by: string };

/** Writes the edited workflow to a folder from which its relative path to the contract is right, and returns the file's path. */
async function planted({ name, step, replace, by }: WrongExpectation): Promise<string> {
  const text = await readFile(join(root, `openapi/workflows/${name}.arazzo.yaml`), 'utf8');
  expect(text).toContain(replace);
  const file = join(folder, `${name}-${step}.arazzo.yaml`);
  await writeFile(
    file,
    text.replace('../openapi.yaml', join(root, 'openapi/openapi.yaml')).replace(replace, () => by),
  );
  return file;
}

test('each task of the guide has a workflow', () => {
  expect(names).toEqual(['create-once', 'first-call', 'follow-changes', 'lost-update', 'sync']);
});

test.each(['server', 'mock'] as const)(
  'every step of every workflow succeeds on the %s, and no key is printed',
  async (name) => {
    const { isFine, printed } = await (name === 'server' ? runOnServer() : runOnMock());
    if (!isFine) throw new Error(printed);
    const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
    const steps = texts.flatMap((text) => [...text.matchAll(/stepId: (\S+)/g)].map(([, step = '']) => step));
    expect([...printed.matchAll(/✓ .* - step (\S+)/g)].map(([, step = '']) => step)).toEqual(steps);
    expect(printed).toContain('authorization: Bearer ****');
    expect(printed).not.toContain(targets[name].key);
  },
);

test.each(['server', 'mock'] as const)(
  'the workflow of each resource that is derived from the contract succeeds on the %s: create, retry, get, list, delete',
  async (name) => {
    const derived = resources.map(({ table }) => join(folder, `${table}-${name}.arazzo.yaml`));
    for (const [i, resource] of resources.entries())
      await writeFile(derived[i] ?? '', workflowOf(resource, join(root, 'openapi/openapi.yaml')));
    const target = name === 'server' ? { server: server.url, key: ours.key } : targets.mock;
    const { isFine, printed } = await runWorkflows({ files: derived, ...target });
    if (!isFine) throw new Error(printed);
    const succeeded = [...printed.matchAll(/✓ .* - step (\S+)/g)].map(([, step = '']) => step);
    expect(succeeded).toEqual(resources.flatMap(stepIdsOf));
  },
);

test('each wrong expectation fails, and the report names its workflow and step', async () => {
  const wrong: readonly WrongExpectation[] = [
    { name: 'create-once', step: 'create-again', replace: '#/id == $steps', by: '#/id != $steps' },
    { name: 'create-once', step: 'create-another', replace: '/errors/Idempotency-Key/0 !=', by: '/errors/name/0 !=' },
    { name: 'first-call', step: 'list', replace: '#/page/limit == 1', by: '#/page/limit == 2' },
    {
      name: 'follow-changes',
      step: 'deletion',
      replace: "== 'parent_program.deleted'",
      by: "!= 'parent_program.deleted'",
    },
    { name: 'lost-update', step: 'update-first', replace: 'ETag != $steps', by: 'ETag == $steps' },
    { name: 'lost-update', step: 'update-second', replace: '$statusCode == 412', by: '$statusCode == 200' },
    { name: 'sync', step: 'changes', replace: 'updated_at >= $steps', by: 'updated_at < $steps' },
    { name: 'sync', step: 'nothing-new', replace: '$statusCode == 304', by: '$statusCode == 200' },
  ];
  const edited = await Promise.all(wrong.map(planted));
  const { isFine, printed } = await runWorkflows({ files: edited, server: server.url, key: ours.key });
  expect(isFine).toBe(false);
  const reported = [...printed.matchAll(/Workflow name: ([\w-]+)[\s\S]*?stepId - (\S+)/g)].map(([, ...found]) => found);
  expect(reported).toEqual(wrong.map(({ name, step }) => [name, step]));
  expect(printed).not.toContain(ours.key);
});

test('each workflow deletes everything it creates', async () => {
  const { isFine, printed } = await runOnServer();
  if (!isFine) throw new Error(printed);
  expect((await clean.client.get('/api/parent_programs')).body.data).toEqual([]);
});

test('npm run workflows exits with 1 if a step fails, and without a key or a server', async () => {
  const refused = await command(`${ours.key.slice(0, -1)}_`, server.url);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain('stepId - whose-key');
  expect(await command('', mock.url)).toMatchObject({ code: 1, stderr: expect.stringContaining('CHARTER_API_KEY') });
  expect(await command(mock.key, 'x')).toMatchObject({ code: 1, stderr: expect.stringContaining('--server must be') });
});
