// The commands of package.json: how they refuse wrong input, and how a command ends the programs that it has started.
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeCheckout, run } from '../../scripts/drift/checkout.ts';
import { useFolder } from '../support/folder.ts';
import { withClient } from '../support/postgres/postgres.ts';
import { type Running, runFile, startFile, untilPrinted } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const ROOT = join(import.meta.dirname, '../..');

test.each<[file: string, parameters: string[], help: string]>([
  ['scripts/generate/main.ts', ['--chek'], 'npm run generate'],
  ['scripts/soak/main.ts', ['--fast'], 'npm run soak'],
  ['scripts/fuzz.ts', ['--minute'], 'npm run fuzz'],
  ['scripts/workflows/main.ts', ['--sever'], 'npm run workflows'],
  ['scripts/migration.ts', ['--name', 'Add Something'], 'npm run migration -- --name add_something'],
  ['scripts/migration.ts', ['--name', '../escape'], 'npm run migration -- --name add_something'],
  ['scripts/migration.ts', ['--check', '--name', 'x'], 'npm run migration -- --name add_something'],
])('%s refuses %j in a sentence, with its help, before anything starts', async (file, parameters, help) => {
  const { code, stdout, stderr } = await runFile(file, parameters);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(help);
  expect(stderr).not.toMatch(/^ +at /m);
});

// Runs in a copy of the repository, because the command writes files into it.
test('a new migration is written, and named by its path from the current folder', async () => {
  const { folder, remove } = await makeCheckout();
  try {
    const schema = join(folder, 'prisma/schema.prisma');
    const text = await readFile(schema, 'utf8');
    await writeFile(schema, text.replace('model ParentProgram {\n', 'model ParentProgram {\n  note String?\n'));
    const { code, printed } = await run(folder, ['scripts/migration.ts', '--name', 'add_note']);
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringContaining('Review it before you commit it.') });
    const [, file = ''] = /^Written: (\S+)$/m.exec(printed) ?? [];
    expect(file).toMatch(/^prisma\/migrations\/\d{14}_add_note\/migration\.sql$/);
    expect(await readFile(join(folder, file), 'utf8')).toContain('"note" TEXT');
  } finally {
    await remove();
  }
});

/** A program that takes the place of Jest in a copy of the repository. */
const STUB = `
const { spawn } = require('node:child_process');
const worker = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
console.log('Jest', process.pid, 'and its worker', worker.pid, 'run');
setInterval(() => {}, 1000);
`;

const checkout = await useFolder();
for (const name of ['scripts', 'src', 'test/support'])
  await cp(join(ROOT, name), join(checkout, name), { recursive: true });
await mkdir(join(checkout, 'node_modules/jest/bin'), { recursive: true });
await writeFile(join(checkout, 'node_modules/jest/bin/jest.js'), STUB);

const COMMANDS = [
  ['scripts/test/main.ts', ['--testNamePattern=list']],
  ['scripts/soak/main.ts', []],
] as const;
const REQUESTS: Readonly<Record<string, (running: Running) => unknown>> = {
  SIGTERM: ({ child }) => child.kill('SIGTERM'),
  SIGINT: ({ child }) => child.kill('SIGINT'),
  SIGHUP: ({ child }) => child.kill('SIGHUP'),
  'the end of npm': ({ child }) => child.disconnect(),
};

// All cases run at the same time, because a case whose command does not end takes the whole time limit.
test('npm test and npm run soak end at a signal, or after npm, with 130 and with all that they have started', async () => {
  const cases = COMMANDS.flatMap((command) =>
    Object.entries(REQUESTS).map(([what, request]) => ({ command, what, request })),
  );
  const ends = cases.map(async ({ command, what, request }) => [command[0], what, await endOf(command, request)]);
  const ended = { exit: [130, null], stderr: '\nInterrupted.\n' };
  expect(await Promise.all(ends)).toEqual(cases.map(({ command, what }) => [command[0], what, ended]));
});

/** Starts the command, makes the request, and resolves when no process of the command is left. */
async function endOf([file, parameters]: (typeof COMMANDS)[number], request: (running: Running) => unknown) {
  const running = startFile(join(checkout, file), parameters);
  const [, ...pids] = await untilPrinted(running, /Jest (\d+) and its worker (\d+) run/);
  try {
    request(running);
    const exit = await exitOf(running);
    // The output ends only when no process is left that could write to it.
    let isOver = false;
    void running.ended.then(() => {
      isOver = true;
    });
    await until('the end of the output', () => isOver);
    return { exit, stderr: running.printed.stderr };
  } finally {
    for (const pid of [running.child.pid, ...pids.map(Number)]) killIfRunning(pid);
  }
}

// When Jest gets a signal, it ends without its global teardown.
test('SIGINT ends a run of tests with its PostgreSQL, and deletes their data', async () => {
  const file = join(checkout, 'run-of-tests.mjs');
  const setUp = pathToFileURL(join(ROOT, 'test/support/runner/set-up.ts')).href;
  await writeFile(
    file,
    `import setUp from '${setUp}';
await setUp();
console.log('The files are in', process.env.CHARTER_TEST_FOLDER);
console.log('PostgreSQL is at', await (await fetch(process.env.CHARTER_TEST_SERVICES + '/postgres')).text());
setInterval(() => {}, 1000);
`,
  );
  const running = startFile(file, []);
  const [, url = ''] = await untilPrinted(running, /PostgreSQL is at (\S+)\n/);
  const [, folder = ''] = await untilPrinted(running, /The files are in (\S+)\n/);
  const data = await withClient(url, async (client) => (await client.query('show data_directory')).rows[0]);
  const dataFolder: string = data.data_directory;
  const [postgresPid] = (await readFile(join(dataFolder, 'postmaster.pid'), 'utf8')).split('\n');
  try {
    running.child.kill('SIGINT');
    expect(await exitOf(running)).toEqual([130, null]);
    expect([folder, dirname(dataFolder)].filter((path) => existsSync(path))).toEqual([]);
    await expect(withClient(url, async () => {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  } finally {
    for (const pid of [running.child.pid, Number(postgresPid)]) killIfRunning(pid);
    for (const path of [folder, dirname(dataFolder)]) await rm(path, { recursive: true, force: true });
  }
});

/** Returns the exit code of the process and the signal that ended it. One of them is `null`. */
async function exitOf({ child }: Running) {
  await until('its end', () => child.exitCode !== null || child.signalCode !== null);
  return [child.exitCode, child.signalCode];
}

function killIfRunning(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
