import type { Change } from '../../../scripts/contract-diff/comparison.ts';
import type { Verdict } from '../../../scripts/contract-diff/rules.ts';
import { decide, parseVersion } from '../../../scripts/release-contract/decide.ts';

function change(verdict: Verdict, lacksDeprecation = false): Change {
  const rule = 'operation removed';
  const place = 'GET /api/key';
  const words = 'removed';
  return { rule, direction: 'request', verdict, place, shortPlace: place, words, why: '', lacksDeprecation };
}

const CHANGES = {
  none: [],
  words: [change('words')],
  additive: [change('words'), change('additive')],
  breaking: [change('additive'), change('breaking'), change('words')],
  'an unannounced removal': [change('breaking', true)],
};

// The last version is 1.2.3. "wait": the contract cannot be published under this number. "wrong": it cannot even be merged.
test.each([
  ['1.2.3', 'none', 'nothing', ''],
  ['1.2.4', 'none', 'wait', 'Nothing has changed since 1.2.3'],
  ['1.2.2', 'none', 'wrong', 'Nothing has changed since 1.2.3'],

  ['1.2.4', 'words', 'release', ''],
  ['1.2.3', 'words', 'wait', '1.2.3 is published and cannot change: changed wording requires 1.2.4.'],
  ['1.2.5', 'words', 'wait', '1.2.5 is too large: after 1.2.3, changed wording requires 1.2.4.'],
  ['1.3.0', 'words', 'wait', '1.3.0 is too large'],
  ['1.2.2', 'words', 'wrong', '1.2.2 is too small'],

  ['1.3.0', 'additive', 'release', ''],
  ['1.2.3', 'additive', 'wrong', '1.2.3 is published and cannot change: additive changes require 1.3.0.'],
  ['1.2.4', 'additive', 'wrong', '1.2.4 is too small: after 1.2.3, additive changes require 1.3.0.'],
  ['1.3.1', 'additive', 'wait', '1.3.1 is too large'],
  ['2.0.0', 'additive', 'wait', '2.0.0 is too large'],

  ['2.0.0', 'breaking', 'release', ''],
  ['1.2.3', 'breaking', 'wrong', '1.2.3 is published and cannot change: breaking changes require 2.0.0.'],
  ['1.3.0', 'breaking', 'wrong', '1.3.0 is too small: after 1.2.3, breaking changes require 2.0.0.'],
  ['10.0.0', 'breaking', 'wait', '10.0.0 is too large'],

  ['2.0.0', 'an unannounced removal', 'wrong', 'These were removed without having been deprecated'],
  ['1.3', 'additive', 'wrong', 'must be three numbers'],
  ['1.3.0-rc.1', 'additive', 'wrong', 'must be three numbers'],
  ['v1.3.0', 'additive', 'wrong', 'must be three numbers'],
  ['01.3.0', 'additive', 'wrong', 'must be three numbers'],
] as const)('%s after 1.2.3 with the changes "%s" gets "%s"', (number, changes, kind, message) => {
  const decision = decide({ number, last: parseVersion('1.2.3'), changes: CHANGES[changes] });
  if (decision.kind === 'refused') {
    expect([decision.isWrong ? 'wrong' : 'wait', decision.message]).toEqual([kind, expect.stringContaining(message)]);
    expect(decision.remedy).not.toBe('');
  } else expect([decision.kind, message]).toEqual([kind, '']);
});

test('the first version must be 1.0.0', () => {
  expect(decide({ number: '1.0.0', last: null, changes: [] })).toMatchObject({ kind: 'release' });
  expect(decide({ number: '0.1.0', last: null, changes: [] })).toMatchObject({ kind: 'refused' });
  expect(decide({ number: '2.0.0', last: null, changes: [] })).toMatchObject({ kind: 'refused' });
});
