import { expect, test } from '@jest/globals';
import { mintKey } from '../../src/domain/api-key.ts';
import { parseKeyName } from '../../src/domain/key-name.ts';

test.each([
  ['as it is', 'Nightly sync', 'Nightly sync'],
  ['without blanks around it', '  Nightly sync\t', 'Nightly sync'],
  // The attack: a second key "Café" that looks like the first, made with a combining accent.
  ['in one Unicode form', 'Cafe\u0301', 'Caf\u00e9'],
  ['with an emoji of several code points', '👩‍💻 laptop', '👩‍💻 laptop'],
  ['of 100 characters outside the basic plane', '🔑'.repeat(100), '🔑'.repeat(100)],
  ['that looks like markup, which the page escapes', '<script>', '<script>'],
])('a name is kept %s', (_, text, name) => {
  expect(parseKeyName(text)).toBe(name);
});

test.each([
  ['nothing', ''],
  ['blanks', ' \t\u00a0'],
  ['101 characters', 'x'.repeat(101)],
  // The attack: NUL, which PostgreSQL refuses with an error that would be answered as a bug.
  ['NUL', 'a\0b'],
  ['a line break', 'a\nb'],
  // The attack: a name that turns the text behind it around, so that a list shows something else.
  ['a bidirectional override', 'a\u202eb'],
  ['half a surrogate pair', 'a\ud83d'],
  // The attack: a key pasted into the wrong field, from where lists, logs and the audit log would show it.
  ['an API key', `old ${mintKey('live').key}`],
])('%s is refused', (_, text) => {
  expect(() => parseKeyName(text)).toThrow(
    expect.objectContaining({ code: 'invalid', fields: { name: [expect.any(String)] } }),
  );
});
