import { cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { connectBrowser, openContext } from '../support/browser/browser.ts';
import { createPagePool } from '../support/browser/page-pool.ts';
import { kill, startFile, untilPrinted } from '../support/processes/process.ts';

// Previews a private copy of the checkout, so that the test can break its files.

const ROOT = join(import.meta.dirname, '../..');
const KEY_PAGE = '#/key/getkey';

const checkout = await mkdtemp(join(tmpdir(), 'charter-checkout-'));
afterAll(() => rm(checkout, { recursive: true }));
const copied = ['openapi', 'scripts', 'src', 'redocly.yaml', 'package.json'];
await Promise.all(copied.map((name) => cp(join(ROOT, name), join(checkout, name), { recursive: true })));
await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
const running = startFile(join(checkout, 'scripts/docs/preview/main.ts'), ['--port', '0']);
afterAll(() => kill(running));
const [, url = ''] = await untilPrinted(running, /(http:\S+) reloads when a file of openapi\//);
const problems: string[] = [];
afterAll(() => expect(problems).toEqual([]));
const browser = await connectBrowser();
afterAll(() => browser.close());

const pool = createPagePool(url, (options) => openContext(browser, { baseURL: url, problems, ...options }));
// Every open page would render each later change.
afterEach(() => pool.reset());

async function visit(path: string): Promise<Page> {
  const page = await pool.take();
  await page.goto(path);
  return page;
}

/** Edits the file, waits until the page shows the change, and prints the time that took. */
async function save(
  file: string,
  [from, to]: readonly [string, string],
  seen: () => Promise<unknown>,
): Promise<string> {
  const path = join(checkout, file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  const savedAt = Date.now();
  await writeFile(path, text.replace(from, to));
  await seen();
  // Not asserted: on a machine that runs other tests at the same time, the duration varies.
  console.log(`${file}: shown ${Date.now() - savedAt} ms after it was saved`);
  return text;
}

test('a saved change of the contract appears in the open page, which keeps its position and is not loaded again', async () => {
  const page = await visit(`/${KEY_PAGE}`);
  await page.getByRole('heading', { name: 'Get the current key' }).first().waitFor();
  // To load Redoc again would take several times as long as to render the changed document with it.
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  for (const [from, to] of [
    ['Get the current key', 'Ask whose key it is'],
    ['Ask whose key it is', 'Look at the key'],
  ] as const) {
    const changed = page.getByRole('heading', { name: to }).first();
    await save('openapi/paths/key.yaml', [from, to], () => changed.waitFor());
    await page.getByRole('heading', { name: from }).first().waitFor({ state: 'detached' });
  }
  expect(loads).toBe(0);
  expect(new URL(page.url()).hash).toBe(KEY_PAGE);
});

test('a saved change of a guide appears on the page without search as well', async () => {
  const page = await visit('/plain.html');
  const changed = page.getByRole('heading', { name: 'Begin here' });
  await save('openapi/guides/getting-started.md', ['# Getting started', '# Begin here'], () => changed.waitFor());
});

test('the preview follows a file that the editor replaces on every save', async () => {
  const page = await visit('/plain.html');
  const path = join(checkout, 'openapi/guides/versioning.md');
  const text = await readFile(path, 'utf8');
  for (const title of ['Numbers', 'Numbers once more', 'Numbers for good']) {
    await writeFile(`${path}~`, text.replace('# Versioning', `# ${title}`));
    await rename(`${path}~`, path);
    await page.getByRole('heading', { name: title, exact: true }).waitFor();
  }
});

test.each([
  [
    'a contract that cannot be read',
    'openapi/components/schemas/Page.yaml',
    ['type: object', 'type: [object'],
    /Page\.yaml:\d+/,
    '/',
  ],
  [
    'a contract that breaks a rule',
    'openapi/paths/key.yaml',
    ['tags: [Key]', 'tags: [Keys]'],
    /key\.yaml:\d+/,
    '/plain.html',
  ],
  [
    'a guide whose link has no target',
    'openapi/guides/errors.md',
    ['\n\n', '\n\n[x](nowhere.md)\n\n'],
    /errors\.md:\d+/,
    '/plain.html',
  ],
] as const)(
  '%s is reported on the page and in the terminal, with file and line, until it is fixed',
  async (_what, file, words, place, path) => {
    const page = await visit(path);
    const alert = page.getByRole('alert');
    const good = await save(file, words, () => alert.filter({ hasText: place }).waitFor());
    expect(running.printed.stdout).toMatch(place);
    await writeFile(join(checkout, file), good);
    await alert.waitFor({ state: 'hidden' });
  },
);

test('the preview serves the contract for tools that follow it', async () => {
  expect(await (await fetch(`${url}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' });
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
});

test('Ctrl-C ends the preview with exit code 0 while a page is still connected', async () => {
  const other = startFile(join(checkout, 'scripts/docs/preview/main.ts'), ['--port', '0']);
  const [, address = ''] = await untilPrinted(other, /(http:\S+) reloads when a file of openapi\//);
  const events = await fetch(`${address}/events`);
  const cut = events.text().catch(() => 'cut');
  other.child.kill('SIGINT');
  expect((await other.ended).code).toBe(0);
  expect(await cut).toBe('cut');
});

test.each([['http'], ['70000']])('port %s is refused with the range that is allowed', async (port) => {
  const { code, stderr } = await startFile('scripts/docs/preview/main.ts', ['--port', port]).ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: `--port is "${port}". Give an integer from 0 to 65535.\n` });
});
