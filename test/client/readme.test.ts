// Integrators try the examples of the package's README first, so each is compiled and run exactly as printed.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installClient, packClient, typeCheck, write } from '../support/client-package.ts';
import { runFile } from '../support/process.ts';
import { insertPrograms } from '../support/programs.ts';
import { createTestOrganization, useServer } from '../support/server.ts';

const server = await useServer();
const scratch = await installClient(await packClient());
afterAll(() => scratch.remove());
const text = await readFile(join(scratch.folder, 'node_modules/charter-client/README.md'), 'utf8');
const [first = '', ...others] = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
const [setUp = ''] = /^.*?\n\}\);\n/s.exec(first) ?? [];
for (const [i, code] of [first, ...others.map((other) => setUp + other)].entries()) {
  expect(code).toContain("'http://127.0.0.1:3000'");
  await write(join(scratch.folder, `example-${i + 1}.ts`), code.replace('http://127.0.0.1:3000', server.url));
}

/** The output of an example of the README for an organization with these parent programs. */
async function printedBy(example: number, programs: readonly string[] = []) {
  const ours = await createTestOrganization(server);
  await insertPrograms(
    server,
    ours,
    programs.map((name, i) => ({ name, createdAt: new Date(Date.UTC(2026, 0, i + 1)) })),
  );
  const run = () => runFile(join(scratch.folder, `example-${example}.ts`), [], { CHARTER_API_KEY: ours.key });
  const { code, stdout, stderr } = await run();
  return { run, ours, printed: { code, stdout, stderr } };
}

test('the six examples compile against the types of the package', async () => {
  const examples = (await readdir(scratch.folder)).filter((name) => name.startsWith('example-'));
  expect(examples).toHaveLength(6);
  expect(await typeCheck(scratch, examples)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('1: the first call shows the permissions of the key', async () => {
  const { printed } = await printedBy(1);
  expect(printed).toEqual({ code: 0, stdout: 'Test: parent_programs:read, parent_programs:write\n', stderr: '' });
});

test('2: errors are distinguished by their status', async () => {
  const { printed } = await printedBy(2);
  expect(printed).toEqual({ code: 0, stdout: '', stderr: 'name must not be blank.\n' });
});

test('3: the list contains every match', async () => {
  const { printed } = await printedBy(3, ['Nordic Scholars', 'Something else', 'Baltic Scholars']);
  expect(printed).toEqual({ code: 0, stdout: 'Nordic Scholars\nBaltic Scholars\n', stderr: '' });
});

test('4: the feed is followed, and then only what has happened since', async () => {
  const { printed } = await printedBy(4, ['Nordic Scholars']);
  expect(printed).toEqual({ code: 0, stdout: 'parent_program.created Nordic Scholars\n', stderr: '' });
});

test('5: a creation happens once, even if its program runs again', async () => {
  const { run, ours, printed } = await printedBy(5);
  const wanted = { code: 0, stdout: 'sis-20417: created exactly once\n', stderr: '' };
  expect(printed).toEqual(wanted);
  expect(await run()).toEqual(wanted);
  expect((await ours.client.get('/api/parent_programs')).body.data).toHaveLength(1);
});

test('6: an update builds on the current version', async () => {
  const { printed } = await printedBy(6, ['Nordic Scholars']);
  expect(printed).toEqual({ code: 0, stdout: 'Nordic Scholars (closed)\n', stderr: '' });
});

test('every export is named before the first example', async () => {
  const declared = await readFile(join(scratch.folder, 'node_modules/charter-client/charter-client.d.ts'), 'utf8');
  const names = [...declared.matchAll(/export (?:type )?\{([^}]+)\}|export declare function (\w+)/g)].flatMap(
    ([, list = '', name = '']) => [...list.split(','), name].map((each) => each.trim()).filter((each) => each !== ''),
  );
  expect(names.length).toBeGreaterThan(10);
  const [before = ''] = text.split('## The first call');
  expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(before))).toEqual([]);
});
