// A developer adds a second resource with the files that CONTRIBUTING names, and every check and every generic test passes.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeCheckout } from '../../scripts/drift/checkout.ts';
import { judge, judgeByTests } from '../../scripts/drift/judge.ts';
import { run } from '../../scripts/drift/running.ts';
import { CHECKS } from '../../scripts/test/checks.ts';
import { root } from '../../scripts/tool.ts';
import { length } from '../support/length.ts';
import { edits, newFiles } from './resource.ts';

const MOST_FILES = 8;
const MOST_LINES = 200;
const MINUTES = 30;

/** What all operations have in common. */
const GENERIC_TESTS = [
  'test/contract/contract.test.ts',
  'test/contract/database.test.ts',
  'test/contract/cached-tables.test.ts',
  'test/contract/every-operation.test.ts',
  'test/contract/every-operation-body.test.ts',
  'test/contract/every-operation-fault.test.ts',
  'test/contract/every-operation-key.test.ts',
  'test/contract/two-organizations.test.ts',
  'test/contract/derived-documents.test.ts',
  'test/contract/parity.test.ts',
  'test/contract/parity-statuses.test.ts',
  'test/contract/parity-conditional.test.ts',
  'test/contract/types.test.ts',
  'test/contract/workflows.test.ts',
  'test/client/types.test.ts',
  'test/docs/samples.test.ts',
  'test/domain/role.test.ts',
  'test/drift/faults.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/store/isolation.test.ts',
];

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

test('the edits fit the tree', async () => {
  for (const { file, find } of edits) {
    const text = await readFile(join(root, file), 'utf8');
    expect({ file, find, times: text.split(find).length - 1 }).toEqual({ file, find, times: 1 });
  }
});

/** The number of the next additive version, after the present one is published. */
async function publishAndRaise(folder: string): Promise<void> {
  await run(folder, ['scripts/release-contract/main.ts']);
  const file = join(folder, 'openapi/openapi.yaml');
  const text = await readFile(file, 'utf8');
  const raised = (_: string, major: string, minor: string) => `\n  version: ${major}.${Number(minor) + 1}.0\n`;
  await writeFile(file, text.replace(/\n {2}version: (\d+)\.(\d+)\.\d+\n/, raised));
}

const onlyInSoak = length({ short: test.skip, full: test });

onlyInSoak(
  'with it, every check and every generic test passes',
  async () => {
    const checkout = await makeCheckout();
    try {
      const { folder } = checkout;
      await publishAndRaise(folder);
      for (const { path, text } of newFiles) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
      }
      await checkout.plant({ title: 'a second resource', edits, caughtBy: 'types', afterwards: 'generate' });
      for (const check of ['lint', 'generated', 'release', 'migrations', 'types', 'style', 'boundaries'] as const) {
        const { isFine, printed } = await judge(checkout, check);
        if (!isFine) throw new Error(`${CHECKS[check].title}:\n${printed}`);
      }
      const { isFine, printed } = await judgeByTests(checkout, GENERIC_TESTS);
      if (!isFine) throw new Error(printed);
    } finally {
      await checkout.remove();
    }
  },
  MINUTES * 60_000,
);
