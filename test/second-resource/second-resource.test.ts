// A developer adds a second resource with the files that CONTRIBUTING names, and every check and every test passes.
import { globSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { applyEdit, makeCheckout } from '../../scripts/drift/checkout.ts';
import { judge, judgeByTests } from '../../scripts/drift/judge.ts';
import { run } from '../../scripts/drift/running.ts';
import { CHECKS } from '../../scripts/test/checks.ts';
import { root } from '../../scripts/tool.ts';
import { length } from '../support/length.ts';
import { edits, newFiles } from './resource.ts';

const MOST_FILES = 8;
const MOST_LINES = 200;
const MINUTES = 30;

/** Tests that a second resource does not affect, and why: the beginnings of their paths. All others run with it. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'test/browser/': 'The dashboard shows only the permissions of a resource, and test/dashboard tries its pages.',
  'test/contract/release/': 'They compare fixed contracts.',
  'test/delivery/': 'Webhooks send events, and a second resource has none.',
  'test/dist/': 'They pack the files that the program imports.',
  'test/drift/running': 'It starts and stops processes.',
  'test/drift/trials': 'It plants faults in copies of the tree itself.',
  'test/fuzz/self': 'It plants faults in responses of parent programs.',
  'test/deployment/': 'They replace and disturb servers and PostgreSQL.',
  'test/postgres/embedded-postgres': 'It starts and stops PostgreSQL.',
  'test/postgres/pooler': 'It connects through a pooler.',
  'test/process/': 'They start and stop servers, and test/docs/samples tries the demonstration.',
  'test/second-resource/': 'This is the trial itself.',
};

const testFiles = globSync('test/**/*.test.ts', { cwd: root });
const isLeftOut = (file: string) => Object.keys(LEFT_OUT).some((part) => file.startsWith(part));

const isByHand = (path: string) => !path.startsWith('openapi/');
const linesOf = (text: string) => text.split('\n').length - 1;

test('a second resource takes at most 8 files and 200 lines beside the contract', () => {
  const files = newFiles.filter(({ path }) => isByHand(path));
  const changes = edits.filter(({ file }) => isByHand(file));
  const paths = new Set([...files.map(({ path }) => path), ...changes.map(({ file }) => file)]);
  const lines = [
    ...files.map(({ text }) => linesOf(text)),
    ...changes.map(({ find, replace }) => Math.max(1, linesOf(replace) - linesOf(find))),
  ].reduce((sum, count) => sum + count, 0);
  expect(paths.size).toBeLessThanOrEqual(MOST_FILES);
  expect(lines).toBeLessThanOrEqual(MOST_LINES);
});

test('CONTRIBUTING names each of these files', async () => {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
  const chapter = /\n## A second resource\n([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
  const named = (path: string) => chapter.includes(`\`${path.replace(/\/[^/]*child[-_]programs.*$/, '/')}`);
  const paths = [...newFiles.map(({ path }) => path), ...edits.map(({ file }) => file)].filter(isByHand);
  expect(paths.filter((path) => !named(path))).toEqual([]);
});

test('every test that the trial leaves out exists', () => {
  const unused = Object.keys(LEFT_OUT).filter((part) => !testFiles.some((file) => file.startsWith(part)));
  expect(unused).toEqual([]);
});

test('the edits fit the tree', async () => {
  for (const { file, find } of edits) {
    const text = await readFile(join(root, file), 'utf8');
    expect({ file, find, times: text.split(find).length - 1 }).toEqual({ file, find, times: 1 });
  }
});

/** Soak runs the trial at full length; the tests in the copy need not be longer than in `npm test`. */
const AS_IN_NPM_TEST = { CHARTER_TEST_LENGTH: 'short' };

/** As `npm test` does before the tests. */
async function buildDocs(folder: string): Promise<void> {
  const { code, printed } = await run(folder, ['scripts/docs/main.ts']);
  if (code !== 0) throw new Error(printed);
}

/** The number of the next additive version, after the present one is published. */
async function publishAndRaise(folder: string): Promise<void> {
  await run(folder, ['scripts/release-contract/main.ts']);
  const file = join(folder, 'openapi/openapi.yaml');
  const text = await readFile(file, 'utf8');
  const raised = (_: string, major: string, minor: string) => `\n  version: ${major}.${Number(minor) + 1}.0\n`;
  await writeFile(file, text.replace(/\n {2}version: (\d+)\.(\d+)\.\d+\n/, raised));
}

const CHECK_NAMES = ['lint', 'generated', 'release', 'migrations', 'types', 'style', 'boundaries'] as const;

test('the trial runs every check of npm test', () => {
  expect(CHECK_NAMES).toEqual(Object.keys(CHECKS));
});

const onlyInSoak = length({ short: test.skip, full: test });

onlyInSoak(
  'with a second resource, every check and every test that it can affect passes',
  async () => {
    const checkout = await makeCheckout();
    try {
      const { folder } = checkout;
      await publishAndRaise(folder);
      for (const { path, text } of newFiles) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
      }
      for (const edit of edits) await applyEdit(folder, edit);
      await run(folder, ['scripts/generate/main.ts']);
      for (const check of CHECK_NAMES) {
        const { isFine, printed } = await judge(checkout, check);
        if (!isFine) throw new Error(`${CHECKS[check].title}:\n${printed}`);
      }
      await buildDocs(folder);
      const affected = testFiles.filter((file) => !isLeftOut(file));
      const { isFine, printed } = await judgeByTests(checkout, affected, { isParallel: true, env: AS_IN_NPM_TEST });
      if (!isFine) throw new Error(printed);
    } finally {
      await checkout.remove();
    }
  },
  MINUTES * 60_000,
);
