// How the commands of package.json install the dependencies, with a fake npm that only records how it is called.
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Running, startFile } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const ROOT = join(import.meta.dirname, '../..');

type Checkout = { readonly folder: string; readonly start: (command: string) => Running };

/**
 * Copies the files that the set-up needs. The commands in the copy do nothing after the set-up. The fake npm waits until the file
 * `allowed` exists.
 */
async function makeCheckout(): Promise<Checkout> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-set-up-'));
  for (const name of ['scripts', 'package.json', 'package-lock.json', '.npmrc'])
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await mkdir(join(folder, 'generated'));
  await mkdir(join(folder, 'node_modules/@biomejs/biome/bin'), { recursive: true });
  for (const entry of ['scripts/lint/main.ts', 'node_modules/@biomejs/biome/bin/biome'])
    await writeFile(join(folder, entry), '');
  await writeFile(
    join(folder, 'npm.js'),
    `import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
    appendFileSync('asked', process.argv.slice(2).join(' ') + '\\n');
    mkdirSync('node_modules', { recursive: true });
    const timer = setInterval(() => existsSync('allowed') && clearInterval(timer), 20);`,
  );
  return {
    folder,
    start: (command) => startFile(join(folder, 'scripts/run.mjs'), [command], { npm_execpath: join(folder, 'npm.js') }),
  };
}

const asked = async ({ folder }: Checkout) => (await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n');
const allow = ({ folder }: Checkout) => writeFile(join(folder, 'allowed'), '');

let checkout: Checkout;
beforeEach(async () => {
  checkout = await makeCheckout();
});
afterEach(() => rm(checkout.folder, { recursive: true, force: true }));

// The bug: both commands removed and installed the same files, and one of them ended with ENOTEMPTY.
test('of two commands that must install at the same time, one installs, and the other waits and says so', async () => {
  const first = checkout.start('lint');
  await until('the first to install', () => asked(checkout).catch(() => null));
  const second = checkout.start('format');
  await until('the second to wait', () => second.printed.stderr.includes('Waiting for another command'));
  await allow(checkout);
  for (const { ended } of [first, second]) expect(await ended).toMatchObject({ code: 0 });
  expect(await asked(checkout)).toEqual(['ci --include=dev --loglevel=error']);
  expect((await second.ended).stderr).not.toContain('done in');
});

// The bug: for a minute, "npm ci" removed the files of a server that was running.
test('after an installation, a command only adds what is missing', async () => {
  await allow(checkout);
  const stamp = join(checkout.folder, 'node_modules/.charter-installed');
  expect(await checkout.start('lint').ended).toMatchObject({ code: 0 });
  const installed = await readFile(stamp, 'utf8');
  await writeFile(stamp, `${installed} lean`);
  expect(await checkout.start('lint').ended).toMatchObject({ code: 0 });
  expect((await asked(checkout)).at(-1)).toBe('install --no-save --include=dev --loglevel=error');
  expect(await readFile(stamp, 'utf8')).toBe(installed);
});

test('a command that was killed during the set-up does not block the next one', async () => {
  await allow(checkout);
  const { pid } = spawnSync(process.execPath, ['--version']);
  await writeFile(join(checkout.folder, 'generated/.charter-set-up'), String(pid));
  const { code, stderr } = await checkout.start('lint').ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Dependencies: done in') });
});
