// Checks that the planted faults of `npm run drift` still fit their files. Does not try them, because that would take minutes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAULTS, isTest } from '../../scripts/drift/faults.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the planted faults have different titles, and are few enough to be tried in every soak', () => {
  expect(new Set(FAULTS.map(({ title }) => title)).size).toBe(FAULTS.length);
  expect(FAULTS.length).toBeLessThanOrEqual(40);
});

test.each(FAULTS)('"$title" still matches its file exactly once and changes it', ({ file, find, replace }) => {
  expect(readFileSync(join(ROOT, file), 'utf8').split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});

test('every test named as a catcher exists', () => {
  const tests = FAULTS.map(({ caughtBy }) => caughtBy).filter(isTest);
  expect(tests.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
