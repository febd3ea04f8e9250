// The lies of `npm run drift`, without telling any: that takes minutes, and what no longer fits is to be known at once.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTest } from '../../scripts/drift/lie.ts';
import { LIES, QUICK } from '../../scripts/drift/lies/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('there are at least 60, each under a title of its own', () => {
  const titles = LIES.map(({ title }) => title);
  expect(titles.length).toBeGreaterThanOrEqual(60);
  expect(new Set(titles).size).toBe(titles.length);
});

test.each(LIES)('"$title" still fits what it changes, and changes it', ({ edits }) => {
  for (const { file, find, replace } of edits) {
    expect(textOf(file).split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
  }
});

test('what is said to catch them is there', () => {
  const tests = LIES.map(({ caughtBy }) => caughtBy).filter(isTest);
  expect(tests.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('the few of every run are of different catchers', () => {
  expect(QUICK).toHaveLength(8);
  expect(new Set(QUICK.map(({ caughtBy }) => caughtBy)).size).toBe(7);
});
