import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canInstallBrowser, findBrowser, findHeadlessShell, installBrowser } from '../../scripts/programs.mjs';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'charter-path-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(name: string, script = 'exit 0'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

test('a Chromium or a Chrome on the PATH is found', async () => {
  const path = await program('google-chrome');
  expect(findBrowser({ PATH: `/nowhere:${folder}` }, 'linux')).toBe(path);
});

test('the headless shell beside it is preferred, unless CHROMIUM_PATH is set', async () => {
  const path = await program('chromium-headless-shell');
  expect(findHeadlessShell({ PATH: folder })).toBe(path);
  expect(findBrowser({ PATH: folder }, 'linux')).toBeNull();
  expect(findHeadlessShell({ PATH: folder, CHROMIUM_PATH: path })).toBeNull();
  expect(findHeadlessShell({ PATH: '/nowhere' })).toBeNull();
});

test('CHROMIUM_PATH overrides the search, even if it does not exist', async () => {
  await program('chromium');
  const mine = await program('mine');
  expect(findBrowser({ PATH: folder, CHROMIUM_PATH: mine })).toBe(mine);
  expect(findBrowser({ PATH: folder, CHROMIUM_PATH: join(folder, 'missing') })).toBeNull();
  expect(canInstallBrowser({ PATH: folder, CHROMIUM_PATH: join(folder, 'missing') })).toBe(false);
});

test('the result is null where there is no browser', () => {
  expect(findBrowser({ PATH: folder }, 'a system without fixed places')).toBeNull();
  expect(canInstallBrowser({ PATH: folder })).toBe(false);
});

test('as root, apt-get updates its lists and installs Chromium without prompts', async () => {
  const log = join(folder, 'log');
  await program('apt-get', `echo "$DEBIAN_FRONTEND $*" >> "${log}"`);
  const env = { PATH: `${folder}:/bin` };
  expect(canInstallBrowser(env)).toBe(process.getuid?.() === 0);
  expect(installBrowser(env).status).toBe(0);
  expect((await readFile(log, 'utf8')).split('\n')).toEqual([
    'noninteractive update',
    'noninteractive install -y --no-install-recommends chromium chromium-headless-shell fonts-dejavu-core',
    '',
  ]);
});

test('when the lists cannot be fetched, the step fails with the output of apt-get', async () => {
  await program('apt-get', 'echo "no network" >&2; exit 100');
  const { status, stderr } = installBrowser({ PATH: `${folder}:/bin` });
  expect({ status, stderr }).toEqual({ status: 100, stderr: 'no network\n' });
});
