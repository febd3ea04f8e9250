// Checks the planted faults of `npm run drift` without running them, which takes minutes: each must still fit its file.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTest } from '../../scripts/drift/fault.ts';
import { FAULTS, QUICK } from '../../scripts/drift/faults/index.ts';
import { resources } from '../support/contract/resources.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('there are at least 60 planted faults with different titles', () => {
  const titles = FAULTS.map(({ title }) => title);
  expect(titles.length).toBeGreaterThanOrEqual(60);
  expect(new Set(titles).size).toBe(titles.length);
});

test.each(FAULTS)('"$title" still matches its file exactly once and changes it', ({ edits }) => {
  for (const { file, find, replace } of edits) {
    expect(textOf(file).split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
  }
});

test('every resource of the contract has planted faults', () => {
  expect(resources).not.toEqual([]);
  for (const { table } of resources) {
    const own = FAULTS.filter(({ title }) => title.split(' ').includes(table));
    expect({ table, isTried: own.length >= 3 }).toEqual({ table, isTried: true });
  }
});

test('every test named as a catcher exists', () => {
  const tests = FAULTS.map(({ caughtBy }) => caughtBy).filter(isTest);
  expect(tests.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('the eight planted faults of every run have seven different catchers', () => {
  expect(QUICK).toHaveLength(8);
  // npm test checks the types only together with this fault.
  expect(QUICK.map(({ caughtBy }) => caughtBy)).toContain('types');
  expect(new Set(QUICK.map(({ caughtBy }) => caughtBy)).size).toBe(7);
});
