import type { Change } from '../../../scripts/contract-diff/comparison.ts';
import { withEntry } from '../../../scripts/release-contract/changelog.ts';

function change(shortPlace: string, rest: Partial<Change> = {}): Change {
  const place = `${shortPlace} (GET /api/key, response 200; GET /api/events, response 200)`;
  const base = { rule: 'field added', direction: 'response', verdict: 'additive', words: 'new', why: '' } as const;
  return { ...base, place, shortPlace, lacksDeprecation: false, ...rest };
}

function entryOf(...changes: readonly Change[]): string {
  const version = { major: 1, minor: 1, patch: 0 };
  const [, entry = ''] = withEntry('', { version, date: new Date('2026-01-02'), changes }).split(/^(?=## )/m);
  return entry;
}

test('the same change of several places is one sentence, without the operations that use them', () => {
  expect(entryOf(change('schema A'), change('schema B'), change('schema B', { words: 'deprecated' }))).toBe(
    '## 1.1.0 - 2026-01-02\n\n### Additive\n\n- **New:** `schema A`, `schema B`.\n- **Deprecated:** `schema B`.\n',
  );
});

test('of many places, eight are named', () => {
  const many = Array.from({ length: 11 }, (_, i) => change(`schema S${i}`));
  expect(entryOf(...many)).toMatch(/^- \*\*New:\*\* (`schema S[0-7]`, ){8}and 3 more\.$/m);
  expect(entryOf(...many.slice(0, 9))).toContain('`schema S8`.');
});

test('a breaking change says why it breaks clients', () => {
  const broken = change('field a', { verdict: 'breaking', words: 'removed', why: 'Clients read it.' });
  expect(entryOf(broken)).toContain('- **Removed:** `field a`. Clients read it.\n');
});

test('changes of wording are one line, which counts their places', () => {
  const reworded = (place: string, words: string) => change(place, { verdict: 'words', words });
  const entry = entryOf(reworded('a', 'description changed'), reworded('a', 'summary changed'), reworded('b', 'x'));
  expect(entry).toBe('## 1.1.0 - 2026-01-02\n\n### Wording\n\nDescriptions or examples changed in 2 places.\n');
});

// A pattern or an example of the contract must not be read as Markdown.
test('text of the contract is shown as it is', () => {
  expect(entryOf(change('field `a`', { words: 'new value "*[x](y)<b>_" of a_b' }))).toContain(
    '- **New value "\\*\\[x\\](y)\\<b\\>\\_" of a_b:** `` field `a` ``.',
  );
});
