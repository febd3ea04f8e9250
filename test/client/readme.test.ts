import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { SECRET_BYTES, secretText, signatureOf } from '../../src/domain/webhooks/webhook-message.ts';
import { getPackedClient, installClient, typeCheck, write } from '../support/clients/client-package.ts';
import { insertPrograms } from '../support/data/programs.ts';
import { runFile } from '../support/processes/process.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { readFeed } from '../support/traffic/feed.ts';

const server = await useServer();
const scratch = await installClient(await getPackedClient());
afterAll(() => scratch.remove());
const text = await readFile(join(scratch.folder, 'node_modules/charter-client/README.md'), 'utf8');
const [first = '', ...others] = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
const [setUp = ''] = /^.*?\n\}\);\n/s.exec(first) ?? [];
const needsNoClient = (code: string) => code.includes("from 'charter-client/webhooks'");
const isOnItsOwn = (code: string) => needsNoClient(code) || code.includes('createClient(');
const examples = [first, ...others.map((other) => (isOnItsOwn(other) ? other : setUp + other))];
for (const [i, code] of examples.entries()) {
  expect(code.includes("'http://127.0.0.1:3000'")).toBe(!needsNoClient(code));
  await write(join(scratch.folder, `example-${i + 1}.ts`), code.replace('http://127.0.0.1:3000', server.url));
}

/** Runs an example of the README for an organization with these parent programs, and returns its output. */
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

test('the nine examples compile against the types of the package', async () => {
  const files = (await readdir(scratch.folder)).filter((name) => name.startsWith('example-'));
  expect(files).toHaveLength(9);
  expect(await typeCheck(scratch, files)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('1: the first call shows the permissions of the key', async () => {
  const { printed } = await printedBy(1);
  expect(printed).toEqual({ code: 0, stdout: `Test: ${PERMISSIONS.join(', ')}\n`, stderr: '' });
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
  expect(printed).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^parent_program\.created [0-9a-f-]{36}\n$/),
    stderr: '',
  });
});

test('5: an event is received, and a forged one is refused with the reason', async () => {
  const id = '019d66b0-23e6-705f-8000-0001ffc9356b';
  const secret = randomBytes(SECRET_BYTES);
  const body = JSON.stringify({
    id,
    type: 'parent_program.deleted',
    timestamp: '2026-04-07T06:45:12.807Z',
    data: { name: 'Coastal Summer School' },
  });
  const message = { id, timestamp: Math.floor(Date.now() / 1000), body };
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': signatureOf(message, [secret]),
  };
  const program = `import { receive } from './example-5.ts';
    for (const body of ${JSON.stringify([body, `${body} `])}) {
      const request = new Request('http://127.0.0.1/webhooks', { method: 'POST', headers: ${JSON.stringify(headers)}, body });
      const response = await receive(request);
      console.log(response.status, await response.text());
    }`;
  const file = join(scratch.folder, 'receives.ts');
  await write(file, program);
  const { code, stdout, stderr } = await runFile(file, [], { CHARTER_WEBHOOK_SECRET: secretText(secret) });
  const wanted = 'Coastal Summer School no longer exists.\n204 \n400 wrong_signature\n';
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: wanted, stderr: '' });
});

test('6: a creation happens once, even if its program runs again', async () => {
  const { run, ours, printed } = await printedBy(6);
  const wanted = { code: 0, stdout: 'sis-20417: created exactly once\n', stderr: '' };
  expect(printed).toEqual(wanted);
  expect(await run()).toEqual(wanted);
  expect((await ours.client.get('/api/parent_programs')).body.data).toHaveLength(1);
});

test('7: the key is read from a file', async () => {
  const { ours } = await printedBy(6);
  const file = join(scratch.folder, 'key');
  await write(file, `${ours.key}\n`);
  const { code, stdout, stderr } = await runFile(join(scratch.folder, 'example-7.ts'), [], {
    CHARTER_API_KEY_FILE: file,
  });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Nordic Scholars Exchange\n', stderr: '' });
});

test('8: an update builds on the current version', async () => {
  const { printed } = await printedBy(8, ['Nordic Scholars']);
  expect(printed).toEqual({ code: 0, stdout: 'Nordic Scholars (closed)\n', stderr: '' });
});

test('9: a batch tells the outcome of each change, and a repeated run changes nothing', async () => {
  const { run, ours, printed } = await printedBy(9);
  const wanted = { code: 0, stdout: '2 changes processed\n', stderr: '422 name must not be blank.\n' };
  expect(printed).toEqual(wanted);
  expect(await run()).toEqual(wanted);
  expect((await readFeed(ours.client)).events).toHaveLength(1);
});

test.each([
  ['charter-client', 17],
  ['webhooks', 6],
])('every export of %s is named before the first example', async (entry, count) => {
  const declared = await readFile(join(scratch.folder, `node_modules/charter-client/${entry}.d.ts`), 'utf8');
  const names = [
    ...declared.matchAll(/export (?:type )?\{([^}]+)\}|export (?:declare )?(?:class|const|function|type) (\w+)/g),
  ].flatMap(([, list = '', name = '']) =>
    [...list.split(','), name].map((each) => each.replace(/\btype /, '').trim()).filter((each) => each !== ''),
  );
  expect(names.length).toBeGreaterThanOrEqual(count);
  const [before = ''] = text.split('## The first call');
  expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(before))).toEqual([]);
});
