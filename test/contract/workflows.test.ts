// The workflows for integrators succeed on the server and on the mock.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { workflowFiles } from '../../scripts/lint/files.ts';
import { root } from '../../scripts/tool.ts';
import { runWorkflows, type WorkflowRun } from '../../scripts/workflows/run.ts';
import { useMock } from '../support/mock.ts';
import { runFile } from '../support/process.ts';
import { createTestOrganization, useServer } from '../support/server.ts';

// A response that violates the contract fails its step.
const server = await useServer({ responseCheck: { mode: 'enforce', sampleRate: 1 } });
const mock = await useMock();
const ours = await createTestOrganization(server);
const folder = await mkdtemp(join(tmpdir(), 'charter-workflows-'));
afterAll(() => rm(folder, { recursive: true }));

const files = workflowFiles();
const names = files.map((file) => basename(file, '.arazzo.yaml'));
const targetOf = (name: string) =>
  name === 'server' ? { server: server.url, key: ours.key } : { server: mock.url, key: mock.key };

function run(file: string, target: string): Promise<WorkflowRun> {
  return runWorkflows({ files: [file], ...targetOf(target), isVerbose: true });
}

/** The edited workflow, in a folder from which its path to the contract resolves. */
async function planted(name: string, { replace, by }: { replace: string; by: string }): Promise<string> {
  const text = await readFile(join(root, `openapi/workflows/${name}.arazzo.yaml`), 'utf8');
  expect(text).toContain(replace);
  const file = join(folder, `${name}.arazzo.yaml`);
  await writeFile(
    file,
    text.replace('../openapi.yaml', join(root, 'openapi/openapi.yaml')).replace(replace, () => by),
  );
  return file;
}

test('each task of the guide has a workflow', () => {
  expect(names).toEqual(['create-once', 'first-call', 'lost-update', 'sync']);
});

describe.each(['server', 'mock'])('on the %s', (target) => {
  test.each(names)('every step of %s runs and succeeds, and the key is not printed', async (name) => {
    const { isFine, printed } = await run(`openapi/workflows/${name}.arazzo.yaml`, target);
    if (!isFine) throw new Error(printed);
    const text = await readFile(join(root, `openapi/workflows/${name}.arazzo.yaml`), 'utf8');
    const steps = [...text.matchAll(/stepId: (\S+)/g)].map(([, step = '']) => step);
    expect([...printed.matchAll(/✓ .* - step (\S+)/g)].map(([, step = '']) => step)).toEqual(steps);
    expect(printed).toContain('authorization: Bearer ****');
    expect(printed).not.toContain(targetOf(target).key);
  });
});

test.each([
  ['create-once', 'create-again', '#/id == $steps', '#/id != $steps'],
  ['create-once', 'create-another', '/errors/Idempotency-Key/0 !=', '/errors/name/0 !='],
  ['first-call', 'list', '#/page/limit == 1', '#/page/limit == 2'],
  ['lost-update', 'update-first', 'ETag != $steps', 'ETag == $steps'],
  ['lost-update', 'update-second', '$statusCode == 412', '$statusCode == 200'],
  ['sync', 'changes', 'updated_at >= $steps', 'updated_at < $steps'],
  ['sync', 'nothing-new', '$statusCode == 304', '$statusCode == 200'],
])('a wrong expectation in %s fails and the report names %s', async (name, step, replace, by) => {
  const { isFine, printed } = await run(await planted(name, { replace, by }), 'server');
  expect(isFine).toBe(false);
  expect(printed).toContain(`Workflow name: ${name}`);
  expect(printed).toContain(`stepId - ${step}`);
  expect(printed).not.toContain(ours.key);
});

test('each workflow deletes everything it creates', async () => {
  const lone = await createTestOrganization(server);
  const { isFine, printed } = await runWorkflows({ files, server: server.url, key: lone.key });
  if (!isFine) throw new Error(printed);
  expect((await lone.client.get('/api/parent_programs')).body.data).toEqual([]);
});

test('npm run workflows uses the given server and key, and exits with 1 if a step fails', async () => {
  const command = (key: string, server: string) =>
    runFile('scripts/workflows/main.ts', ['--server', server], { CHARTER_API_KEY: key });
  const fine = await command(mock.key, mock.url);
  expect(fine).toMatchObject({ code: 0, stderr: '' });
  expect(fine.stdout).toContain('step whose-key');
  const refused = await command(`${ours.key.slice(0, -1)}_`, server.url);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain('stepId - whose-key');
  expect(await command('', mock.url)).toMatchObject({ code: 1, stderr: expect.stringContaining('CHARTER_API_KEY') });
  expect(await command(mock.key, 'x')).toMatchObject({ code: 1, stderr: expect.stringContaining('--server must be') });
});
