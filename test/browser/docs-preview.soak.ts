import { cp, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { connectBrowser, openContext } from '../support/browser/browser.ts';
import { useFolder } from '../support/folder.ts';
import { kill, runFile, startFile, untilPrinted } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

// Previews a private copy of the checkout, because the tests break its files.

const ROOT = join(import.meta.dirname, '../..');

const checkout = await useFolder();
const copied = ['openapi', 'scripts', 'src', 'redocly.yaml', 'package.json'];
await Promise.all(copied.map((name) => cp(join(ROOT, name), join(checkout, name), { recursive: true })));
await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
const running = startFile(join(checkout, 'scripts/docs/preview/main.ts'), ['--port', '0']);
afterAll(() => kill(running));
const [, url = ''] = await untilPrinted(running, /(http:\S+)\/docs reloads when a file of openapi\//);
const problems: string[] = [];
afterAll(() => expect(problems).toEqual([]));
const browser = await connectBrowser();
afterAll(() => browser.close());

const contexts: BrowserContext[] = [];
// Closes the pages, because an open page would render every later change.
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

async function visit(path: string): Promise<Page> {
  const context = await openContext(browser, { baseURL: url, problems });
  contexts.push(context);
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

async function edit(file: string, from: string, to: string): Promise<void> {
  const path = join(checkout, file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}

test('a saved change of the contract appears in the open reference, which keeps its address', async () => {
  const page = await visit('/docs/reference#/key/getkey');
  await page.getByRole('heading', { name: 'Get the current key' }).first().waitFor();
  await edit('openapi/paths/key.yaml', 'Get the current key', 'Ask whose key it is');
  await page.getByRole('heading', { name: 'Ask whose key it is' }).first().waitFor();
  expect(new URL(page.url()).hash).toBe('#/key/getkey');
});

test('a saved change of a guide reloads its page, and no other one', async () => {
  const [page, other] = [await visit('/docs/getting-started'), await visit('/docs/limits')];
  let loads = 0;
  other.on('load', () => {
    loads += 1;
  });
  await edit('openapi/guides/getting-started.md', 'first call in two minutes.', 'first call within minutes.');
  await page.getByText('Make your first call within minutes.').waitFor();
  expect(loads).toBe(0);
});

// The bug: a change that was saved before the page listened for changes was not shown until the next change.
test('a change that is saved while the page loads is shown', async () => {
  const context = await openContext(browser, { baseURL: url, problems });
  contexts.push(context);
  const page = await context.newPage();
  let listen = () => {};
  const mayListen = new Promise<void>((resolve) => {
    listen = resolve;
  });
  await page.route('**/events?*', async (route) => {
    await mayListen;
    await route.continue();
  });
  await page.goto('/docs/scaling');
  await edit('openapi/guides/scaling.md', '\n## ', '\n## At last: ');
  await until('the new heading', async () => (await (await fetch(`${url}/docs/scaling`)).text()).includes('At last: '));
  listen();
  await page.getByRole('heading', { name: 'At last: ' }).waitFor();
  // The questions of the section are a problem until the heading has its name again.
  await edit('openapi/guides/scaling.md', '\n## At last: ', '\n## ');
});

test('the preview follows a file that the editor replaces on every save', async () => {
  const page = await visit('/docs/versioning');
  const path = join(checkout, 'openapi/guides/versioning.md');
  const text = await readFile(path, 'utf8');
  for (const title of ['Numbers', 'Numbers once more', 'Numbers for good']) {
    await writeFile(`${path}~`, text.replace('# Versioning', `# ${title}`));
    await rename(`${path}~`, path);
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  }
});

// The bug: loading a page with a broken link ended the preview.
test('a page with a broken link can be loaded, says why, and comes back with the correction', async () => {
  const page = await visit('/docs/limits');
  const path = join(checkout, 'openapi/guides/limits.md');
  const text = await readFile(path, 'utf8');
  const told = page.getByRole('alert').filter({ hasText: 'eror.md' });
  await writeFile(path, text.replace('(errors.md', '(eror.md'));
  await told.waitFor();
  await page.reload();
  await told.waitFor();
  await writeFile(path, text);
  await page.getByRole('heading', { level: 1 }).waitFor();
});

type Mistake = { readonly file: string; readonly from: string; readonly to: string; readonly says: string };

/** One mistake for each part of the linter. test/contract/lint.test.ts tests every rule. */
const MISTAKES: readonly Mistake[] = [
  { file: 'guides/authentication.md', from: '(errors.md', to: '(error.md', says: 'Did you mean "errors.md"?' },
  { file: 'guides/versioning.md', from: 'additions', to: 'aditions', says: 'Did you mean "additions"?' },
  { file: 'guides/writing-many.md', from: '"status": ', to: '"status" ', says: 'This is not JSON' },
  { file: 'paths/key.yaml', from: 'tags: [Key]', to: 'tags: [Keys]', says: 'is not listed in openapi/openapi.yaml' },
];
/** A mistake that makes the contract unreadable, and so hides the other mistakes of the contract. */
const UNREADABLE = { file: 'paths/events.yaml', from: '  summary:', to: '   summary:', says: 'is not indented' };

test.each([
  ['several mistakes', MISTAKES],
  ['a mistake that makes the contract unreadable', [UNREADABLE]],
  [
    'the mistakes of guides beside an unreadable contract',
    [UNREADABLE, ...MISTAKES.filter(({ file }) => file.endsWith('.md'))],
  ],
])(
  '%s are named by file and line with a remedy, by the lint and on the page alike, until they are corrected',
  async (_what, mistakes) => {
    const page = await visit('/docs/errors');
    const alert = page.getByRole('alert');
    const good = new Map<string, string>();
    const places: string[] = [];
    for (const { file, from, to } of mistakes) {
      const path = join(checkout, 'openapi', file);
      const text = await readFile(path, 'utf8');
      good.set(path, text);
      const at = text.indexOf(from);
      expect([file, at]).not.toEqual([file, -1]);
      places.push(`openapi/${file}:${text.slice(0, at + from.search(/\S/)).split('\n').length}:`);
      await writeFile(
        path,
        text.replace(from, () => to),
      );
    }
    const linted = await runFile(join(checkout, 'scripts/lint/main.ts'), []);
    for (const place of places) await alert.filter({ hasText: place }).waitFor();
    const shown = (await alert.textContent()) ?? '';
    for (const [i, { says }] of mistakes.entries()) {
      for (const text of [linted.stdout, shown]) {
        const [, problem = ''] = text.split(places[i] ?? '');
        const [message = '', remedy = ''] = problem.split('\n').slice(1);
        expect([places[i], `${message}${remedy}`]).toEqual([places[i], expect.stringContaining(says)]);
        expect(remedy).toMatch(/\S.* \[[a-z\d-]+\]$/i);
      }
    }
    for (const [path, text] of good) await writeFile(path, text);
    await page.getByText('No problems.').waitFor();
    await alert.waitFor({ state: 'hidden' });
    // The bug: the terminal named a problem twice, first with the name of the class of the error.
    expect(running.printed.stdout).not.toContain('UnbundledError');
  },
);

test('a saved guide is shown while the contract is unreadable', async () => {
  const page = await visit('/docs/backups');
  const text = await readFile(join(checkout, 'openapi', UNREADABLE.file), 'utf8');
  await edit(`openapi/${UNREADABLE.file}`, UNREADABLE.from, UNREADABLE.to);
  await edit('openapi/guides/backups.md', '# ', '# At last: ');
  await page.getByRole('heading', { level: 1, name: 'At last: ' }).waitFor();
  await writeFile(join(checkout, 'openapi', UNREADABLE.file), text);
});

test('the preview serves the contract for tools that follow it', async () => {
  expect(await (await fetch(`${url}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' });
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
});

test('Ctrl-C ends the preview with exit code 0 while a page is still connected', async () => {
  const other = startFile(join(checkout, 'scripts/docs/preview/main.ts'), ['--port', '0']);
  const [, address = ''] = await untilPrinted(other, /(http:\S+)\/docs reloads when a file of openapi\//);
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
