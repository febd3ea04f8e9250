// The package charter-mock, installed in an empty folder, as in a user's project.
import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { pack } from '../../scripts/client/build-package.ts';
import { buildMockPackage } from '../../scripts/mock/package/pack-mock.ts';
import { typeCheck } from '../support/clients/client-package.ts';
import { exampleOf } from '../support/contract/contract.ts';
import { openFolder, useFolder } from '../support/folder.ts';
import { kill, LIMITED, runningOf, untilPrinted } from '../support/processes/process.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const tarball = await packMock();
const folder = await useFolder();
await writeFile(join(folder, 'charter-mock.tgz'), tarball);
await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'suite', type: 'module' }));
// Installs offline, so everything that the package needs must be inside it.
await run('npm', ['install', '--offline', '--no-audit', '--no-fund', './charter-mock.tgz'], { cwd: folder });

/** Runs a program in the folder and returns its output. Throws an error with the output if the program fails. */
async function runCode(name: string, code: string): Promise<string> {
  await writeFile(join(folder, name), code);
  return (await run(process.execPath, [name], { cwd: folder })).stdout;
}

/** Runs a program that prints JSON and returns the value. */
async function outputOf<T>(name: string, code: string): Promise<T> {
  return JSON.parse(await runCode(name, code));
}

const START = `
  import { MockError, startMock } from 'charter-mock';
  const seed = { parent_programs: [{ name: 'First', external_id: 'one' }, { name: 'Second' }] };
  const mock = await startMock({ port: 0, seed });
  const send = async (method, path, body, headers = {}) => {
    const all = { Authorization: 'Bearer ' + mock.key, ...(body && { 'Content-Type': 'application/json' }), ...headers };
    const response = await fetch(mock.url + path, { method, headers: all, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : null };
  };
  const names = async () => (await send('GET', '/api/parent_programs')).body.data.map(({ name }) => name);
  const LIST = '/api/parent_programs';
`;

const installed = await readdir(join(folder, 'node_modules'));
const installedBytes = await bytesIn(join(folder, 'node_modules'));

async function bytesIn(path: string): Promise<number> {
  const names = await readdir(path, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(path, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('it is installed without a network, without dependencies, and with less than 5 MB', async () => {
  expect(installed.filter((name) => !name.startsWith('.'))).toEqual(['charter-mock']);
  expect(installedBytes).toBeLessThan(5_000_000);
});

test('it is identical, byte for byte, every time it is packed', async () => {
  expect((await packMock()).equals(tarball)).toBe(true);
});

test('it passes publint and "are the types wrong", as an ES module and with require', async () => {
  const bytes = Uint8Array.from(tarball);
  expect((await publint({ pack: { tarball: bytes.buffer }, strict: true })).messages).toEqual([]);
  const result = await checkPackage(createPackageFromTarballData(bytes));
  if (result.types === false) throw new Error('It has no types.');
  // The resolution "node10" does not support `exports`.
  expect(result.problems.filter((each) => !('resolutionKind' in each && each.resolutionKind === 'node10'))).toEqual([]);
});

// Compares two processor times, because elapsed time depends on the load of the machine, and a single processor time on the speed
// of the processor.
test('it starts with less processor time than nine programs that do nothing', async () => {
  const measure = (name: string, code: string) =>
    outputOf<number>(name, `${code}\nconst { user, system } = process.cpuUsage(before);\nconsole.log(user + system);`);
  const empty = () => measure('empty.js', 'const before = undefined;');
  const start = () =>
    measure(
      'start.js',
      `import { startMock } from 'charter-mock';
       const before = process.cpuUsage();
       await (await startMock()).close();`,
    );
  // A busy machine makes the work slower but never faster, so the shortest of several times counts.
  let [least, leastOfEmpty] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let i = 0; i < 10 && least >= 9 * leastOfEmpty; i += 1) {
    leastOfEmpty = Math.min(leastOfEmpty, await empty());
    least = Math.min(least, await start());
  }
  expect(least).toBeLessThan(9 * leastOfEmpty);
});

test('it begins with the seed, keeps what is written, and begins again at a reset', async () => {
  const steps = await outputOf(
    'seed.js',
    `${START}
    const steps = [await names()];
    steps.push((await send('POST', LIST, { name: 'Third' })).status, await names());
    mock.reset();
    steps.push(await names());
    mock.reset({ parent_programs: [{ name: 'Other', id: '019c2291-34b8-752e-bca9-6513269e0d37' }] });
    steps.push((await send('GET', LIST + '/019c2291-34b8-752e-bca9-6513269e0d37')).body);
    steps.push((await send('GET', '/api/events')).body.data);
    console.log(JSON.stringify(steps));
    await mock.close();`,
  );
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(steps).toEqual([
    ['First', 'Second'],
    201,
    ['First', 'Second', 'Third'],
    ['First', 'Second'],
    {
      ...exampleOf('ParentProgramMinimal'),
      id: '019c2291-34b8-752e-bca9-6513269e0d37',
      name: 'Other',
      created_at: at,
      updated_at: at,
    },
    [],
  ]);
});

test('each wrong option of startMock is named, and a port that is in use', async () => {
  const mistakes = await outputOf(
    'options.js',
    `${START}
    const mistakesOf = (options) => startMock(options).then((other) => other.close(), (error) => error instanceof MockError && error.problems);
    const { port } = new URL(mock.url);
    const wrong = { seeed: {}, now: new Date(), port: '80', host: 1, seed: [], stateful: 1, environment: 'x', dynamicSeed: 1, limits: { perKey: -1 } };
    console.log(JSON.stringify([
      await mistakesOf(wrong),
      await mistakesOf({ now: Date.now }),
      await mistakesOf({ port: Number(port) }),
    ]));
    await mock.close();`,
  );
  expect(mistakes).toEqual([
    [
      'seeed is not an option of startMock. Options: port, host, seed, stateful, environment, dynamicSeed, limits, now.',
      'now must be a function that returns a Date.',
      'port must be an integer from 0 to 65535.',
      'host must be an address, such as 127.0.0.1.',
      'seed must be an object with items by the name of their list.',
      'stateful must be true or false.',
      'environment must be live or test.',
      'dynamicSeed must be a text.',
      'limits must be an object with perKey and perOrganization, from 0 to 1000000 requests per second.',
    ],
    ['now must be a function that returns a Date.'],
    [expect.stringMatching(/^Port \d+ of 127\.0\.0\.1 is in use\. Choose another port or host\.$/)],
  ]);
});

test('a body that the contract forbids is refused, unless allowInvalid is true', async () => {
  const [problems, message, first, second, third] = await outputOf<[string[], string, unknown, unknown, unknown]>(
    'invalid.js',
    `${START}
    let problems, message;
    try {
      mock.respond({ operation: 'getKey', body: { name: 3 } });
    } catch (error) {
      ({ problems, message } = error);
    }
    mock.respond({ operation: 'getKey', body: { name: 3 }, allowInvalid: true });
    mock.respond({ operation: 'getKey', status: 502, body: '<h1>Bad gateway</h1>', allowInvalid: true });
    const { status, text } = await send('GET', '/api/key');
    const second = await send('GET', '/api/key');
    console.log(JSON.stringify([problems, message, { status, text }, second, (await send('GET', '/api/key')).status]));
    await mock.close();`,
  );
  expect(problems).toEqual(expect.arrayContaining(['body.name must be a string.', 'body.id is required.']));
  expect(problems.filter((problem) => !problem.startsWith('body.'))).toEqual([]);
  expect(message).toMatch(/\nWith "allowInvalid": true, the mock sends what the contract forbids\.$/);
  expect(first).toEqual({ status: 200, text: '{"name":3}' });
  expect(second).toEqual({ status: 502, text: '<h1>Bad gateway</h1>', body: null });
  expect(third).toBe(200);
});

test('it gives keys, breaks connections, and calls functions for bodies', async () => {
  const steps = await outputOf(
    'forced.js',
    `${START}
    const key = mock.keyWith({ permissions: ['parent_programs:read'], organization: 'Second organization' });
    const steps = [(await send('POST', LIST, { name: 'x' }, { Authorization: 'Bearer ' + key })).status];
    mock.respond({ operation: 'createParentProgram', disconnect: 'after' });
    steps.push(await send('POST', LIST, { name: 'Third' }).catch((error) => error.message), await names());
    mock.respond({ operation: 'listParentPrograms', body: ({ query }) => ({ data: [], page: { limit: Number(query.limit), next_cursor: null } }) });
    steps.push((await send('GET', LIST + '?limit=7')).body);
    steps.push(mock.requests().map(({ status }) => status));
    try { mock.keyWith({ permissions: 'all' }); } catch (error) { steps.push(error instanceof MockError); }
    console.log(JSON.stringify(steps));
    await mock.close();`,
  );
  expect(steps).toEqual([
    403,
    'fetch failed',
    ['First', 'Second', 'Third'],
    { data: [], page: { limit: 7, next_cursor: null } },
    [403, 0, 200, 200],
    true,
  ]);
});

test('require works', async () => {
  const code = `const { startMock } = require('charter-mock');
    startMock().then(async (mock) => { console.log(typeof mock.url); await mock.close(); });`;
  expect(await runCode('required.cjs', code)).toBe('string\n');
});

test('it works in Jest as it is set up by default, and as ES modules', async () => {
  const body = `
    let mock;
    beforeAll(async () => { mock = await startMock({ seed: { parent_programs: [{ name: 'First' }] } }); });
    beforeEach(() => mock.reset());
    afterAll(() => mock.close());
    test('a test', async () => {
      const response = await fetch(mock.url + '/api/parent_programs', { headers: { Authorization: 'Bearer ' + mock.key } });
      expect((await response.json()).data).toMatchObject([{ name: 'First' }]);
      expect(() => mock.reset({ parent_programs: [{}] })).toThrow('parent_programs[0].name is required.');
    });
    test('a test with fake timers', async () => {
      jest.useFakeTimers();
      const { url, key, close } = await startMock();
      const headers = { Authorization: 'Bearer ' + key, 'Content-Type': 'application/json', Prefer: 'delay=10' };
      const body = JSON.stringify({ name: 'x' });
      const response = await fetch(url + '/api/parent_programs', { method: 'POST', headers, body });
      expect(response.status).toBe(201);
      expect((await fetch(url + '/nothing')).status).toBe(404);
      await close();
      jest.useRealTimers();
    });`;
  await writeFile(join(folder, 'suite.test.cjs'), `const { startMock } = require('charter-mock');${body}`);
  const imports = "import { jest } from '@jest/globals'; import { startMock } from 'charter-mock';";
  await writeFile(join(folder, 'suite.test.mjs'), `${imports}${body}`);
  const config = {
    rootDir: folder,
    testMatch: ['**/suite.test.*'],
    moduleFileExtensions: ['js', 'cjs', 'mjs'],
    transform: {},
  };
  const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
  const { stderr } = await run(process.execPath, [jest, '--config', JSON.stringify(config)], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' },
  });
  expect(stderr).toContain('Tests:       4 passed, 4 total');
});

// Vitest and Sinon also replace the functions of "node:timers" and "node:timers/promises".
test('it answers and closes while the timers of Node are mocked', async () => {
  const statuses = await outputOf(
    'timers.js',
    `${START}
    import { mock as mocks } from 'node:test';
    mocks.timers.enable();
    const { status } = await send('POST', LIST, { name: 'x' }, { Prefer: 'delay=10' });
    await mock.close();
    console.log(status);`,
  );
  expect(statuses).toBe(201);
});

test('the examples of the README compile, and the first one runs', async () => {
  const text = await readFile(join(folder, 'node_modules/charter-mock/README.md'), 'utf8');
  const [first = '', ...others] = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
  const setUp = `import { startMock } from 'charter-mock';\nconst mock = await startMock();\n`;
  const types = join(folder, 'node_modules/@types');
  await mkdir(types);
  await symlink(join(ROOT, 'node_modules/@types/node'), join(types, 'node'), 'dir');
  await writeFile(join(folder, 'globals.d.ts'), 'declare function beforeEach(work: () => void): void;\n');
  const sources = [first, ...others.map((code) => setUp + code)];
  const files = sources.map((_, i) => `example-${i}.ts`);
  await Promise.all(files.map((file, i) => writeFile(join(folder, file), sources[i] ?? '')));
  const scratch = { folder, remove: async () => {} };
  expect(await typeCheck(scratch, ['globals.d.ts', ...files])).toEqual({ code: 0, stdout: '', stderr: '' });
  // A field that is not in the contract must not compile.
  await writeFile(join(folder, 'wrong.ts'), `${setUp}mock.reset({ parent_programs: [{ nam: 'x' }] });\nexport {};\n`);
  expect((await typeCheck(scratch, ['wrong.ts'])).stdout).toMatch(/'nam' does not exist|known properties/);
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', 'example-0.ts'], {
    cwd: folder,
  });
  expect(stdout).toMatch(/^200 .*Nordic Scholars Exchange/s);
});

describe('npx charter-mock', () => {
  // Starts the command without npx, because npx might end before or after the command.
  const command = join(folder, 'node_modules/.bin/charter-mock');
  const start = (...parameters: string[]) =>
    runningOf(spawn(process.execPath, [command, ...parameters], { cwd: folder, ...LIMITED }));

  test('prints its options', async () => {
    const { stdout } = await run('npx', ['--offline', 'charter-mock', '--help'], { cwd: folder });
    expect(stdout).toMatch(/^npx charter-mock \[options\]/);
    expect(stdout).not.toMatch(/--pack|--stock-prism|openapi\/guides/);
  });

  test('serves the data of a file, and takes other data, responses and resets by HTTP', async () => {
    await writeFile(join(folder, 'seed.json'), JSON.stringify({ parent_programs: [{ name: 'From a file' }] }));
    const running = start('--port', '0', '--seed', 'seed.json');
    try {
      const [, key, url] = await untilPrinted(running, /Bearer (\S+)" "(http:[^"]+?)\/api/);
      const headers = { Authorization: `Bearer ${key}` };
      const names = async () => {
        const response = await fetch(`${url}/api/parent_programs`, { headers });
        const { data } = JSON.parse(await response.text());
        return data.map(({ name }: { name: string }) => name);
      };
      const reset = (body: object) => fetch(`${url}/__mock/reset`, { method: 'POST', body: JSON.stringify(body) });
      expect(await names()).toEqual(['From a file']);
      expect((await reset({ data: { parent_programs: [{ name: 'By HTTP' }] } })).status).toBe(200);
      expect(await names()).toEqual(['By HTTP']);
      expect((await reset({})).status).toBe(200);
      expect(await names()).toEqual(['From a file']);
      const home = await fetch(`${url}/`, { redirect: 'manual' });
      expect([home.status, home.headers.get('location')]).toEqual([303, '/__mock']);
    } finally {
      await kill(running);
    }
  });

  test('names each mistake of a file, and what a checkout is needed for, and does not start', async () => {
    await writeFile(join(folder, 'wrong.json'), JSON.stringify({ parent_programs: [{ name: 3 }, { nam: 'x' }] }));
    const { code, stderr } = await start('--port', '0', '--seed', 'wrong.json').ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^wrong\.json: parent_programs\[0\]\.name must be a string\.\nwrong\.json: parent_programs\[1\]\.name is required\.\nwrong\.json: /,
      ),
    ]);
    expect((await start('--seed', 'none.json').ended).stderr).toMatch(/^--seed: none\.json cannot be read \(ENOENT\)/);
    const { stderr: refused } = await start('--stock-prism').ended;
    expect(refused).toBe('--stock-prism needs a checkout of Charter. To see all options: npx charter-mock --help\n');
  });
});

async function packMock(): Promise<Buffer> {
  await using folder = await openFolder();
  await buildMockPackage(join(folder.path, 'mock'));
  return await readFile(await pack(join(folder.path, 'mock'), folder.path));
}
