// What each change of the contract means for its clients. Each change is planted in a contract.
import { compareDocuments } from '../../../scripts/contract-diff/compare-documents.ts';
import { type Direction, RULES, type Rule } from '../../../scripts/contract-diff/rules.ts';
import { largestOf } from '../../../scripts/release-contract/decide.ts';
import { type Case, planted, set } from '../../support/contract/planted.ts';
import { constraintCases } from './constraint-cases.ts';
import { contract } from './contract.ts';
import { documentCases } from './document-cases.ts';
import { objectCases } from './object-cases.ts';
import { operationCases } from './operation-cases.ts';

const CASES = [...constraintCases, ...objectCases, ...operationCases, ...documentCases];

function changesOf({ given = [], plants }: Pick<Case, 'given' | 'plants'>) {
  const before = planted(contract, given);
  return compareDocuments(before, planted(before, plants));
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
