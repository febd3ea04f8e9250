import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareDocuments } from '../../../scripts/contract-diff/compare-documents.ts';
import { type Direction, RULES, type Rule } from '../../../scripts/contract-diff/rules.ts';
import { largestOf } from '../../../scripts/release-contract/decide.ts';
import {
  append,
  type Case,
  drop,
  type Planted,
  plantIn,
  remove,
  rename,
  replaceEach,
  set,
} from '../../support/contract/planted.ts';
import { composedCases, contract } from './composed-cases.ts';

/** Reads a change in the notation of changes.txt. */
function readChange(text: string): Planted {
  const [, act = '', path = '', json = 'null'] = /^(\w+) (.*?)(?: ?= (.*))?$/.exec(text) ?? [];
  const value = JSON.parse(json);
  const acts: Readonly<Record<string, () => Planted>> = {
    set: () => set(path, value),
    append: () => append(path, value),
    drop: () => drop(path, value),
    rename: () => rename(path, value[0], value[1]),
    replace: () => replaceEach(value[0], value[1]),
    remove: () => remove(path),
  };
  const planting = acts[act];
  if (planting === undefined) throw new Error(`changes.txt has the unknown change ${text}.`);
  return planting();
}

/** Reads a case of changes.txt: its title, and the change below. */
function readCase(text: string): Case {
  const [first = '', ...lines] = text.trim().split('\n  ');
  const [, title = '', change = ''] = /^(.*?): (.*)$/.exec(first) ?? [];
  const beginningWith = (word: string) =>
    lines.flatMap((line) => (line.startsWith(`${word} `) ? [readChange(line.slice(word.length + 1))] : []));
  return {
    title,
    given: beginningWith('given'),
    plants: [readChange(change), ...beginningWith('and')],
    found: lines.filter((line) => !/^(given|and) /.test(line)),
  };
}

const cases = readFileSync(join(import.meta.dirname, 'changes.txt'), 'utf8')
  .replace(/^#.*\n|^\n/gm, '')
  .split(/\n(?=\S)/)
  .map(readCase);
const CASES = [...cases, ...composedCases];

function changesOf({ given = [], plants }: Pick<Case, 'given' | 'plants'>) {
  const before = plantIn(contract, given);
  return compareDocuments(before, plantIn(before, plants));
}

const PLANTED = CASES.map((one) => ({ ...one, changes: changesOf(one) }));

test.each(PLANTED)('$title', ({ changes, found: expected }) => {
  const found = changes.map(({ verdict, place, words, lacksDeprecation }) => {
    // The number of places that use a component changes with every new operation.
    const where = place.replace(/; \d+ more\)$/, '; more)');
    return `${verdict}${lacksDeprecation ? ' (unannounced)' : ''}: ${where}: ${words}`;
  });
  expect(found.sort()).toEqual(expected);
});

test('every rule has a planted change, in both directions if they differ', () => {
  const found = new Set(
    PLANTED.flatMap(({ changes }) => changes).map(({ rule, direction }) => `${rule}, ${direction}`),
  );
  const missing = Object.entries<Rule>(RULES).flatMap(([name, rule]) => {
    const directions: readonly Direction[] = ['request', 'response'];
    const hits = directions.filter((direction) => found.has(`${name}, ${direction}`));
    return rule.request.verdict === rule.response.verdict && hits.length > 0
      ? []
      : directions.filter((direction) => !hits.includes(direction)).map((direction) => `${name}, ${direction}`);
  });
  expect(missing).toEqual([]);
});

test('only a breaking change has an explanation', () => {
  for (const { verdict, why } of PLANTED.flatMap(({ changes }) => changes))
    expect(why !== '').toBe(verdict === 'breaking');
});

test('the most severe of several changes decides', () => {
  const words = set('info summary', 'Programs');
  const additive = set('paths /api/key get deprecated', true);
  const breaking = set('components parameters Limit schema maximum', 50);
  expect(largestOf(changesOf({ plants: [words] }))).toBe('words');
  expect(largestOf(changesOf({ plants: [words, additive] }))).toBe('additive');
  expect(largestOf(changesOf({ plants: [additive, breaking, words] }))).toBe('breaking');
  expect(largestOf(changesOf({ plants: [] }))).toBe(null);
});
