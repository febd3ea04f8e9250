import { mintKey } from '../../src/domain/keys/api-key.ts';
import { nameKeyOf, parseName } from '../../src/domain/name.ts';

const ENGLAND = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';

test.each([
  ['as it is', 'Nightly sync', 'Nightly sync'],
  ['without surrounding whitespace', '  Nightly sync\t\ufeff', 'Nightly sync'],
  // The attack: a second key "Café" that looks like the first key, but has a combining accent.
  ['in normalized Unicode', 'Cafe\u0301', 'Caf\u00e9'],
  ['with an emoji of several code points', '👩‍💻 laptop ❤️', '👩‍💻 laptop ❤️'],
  ['that is an emoji alone', '👩‍💻', '👩‍💻'],
  ['with a flag that is written in tags', ENGLAND, ENGLAND],
  ['with the joiners that Persian words need', 'می\u200cخواهم', 'می\u200cخواهم'],
  ['from right to left', 'שירה لاوين', 'שירה لاوين'],
  ['in Hangul', '김민준', '김민준'],
  ['of one character', '-', '-'],
  ['of 100 characters outside the basic plane', '🔑'.repeat(100), '🔑'.repeat(100)],
  ['that looks like markup, which the page escapes', '<script>', '<script>'],
  ['with the part of a key that lists show', 'After charter_live_Ab3d', 'After charter_live_Ab3d'],
])('a name is kept %s', (_, text, name) => {
  for (const kind of ['key', 'person', 'organization'] as const) expect(parseName(text, { kind })).toBe(name);
});

const { key } = mintKey('live');

test.each<readonly [string, string, RegExp]>([
  ['nothing', '', /must not be blank/],
  ['only spaces', ' \t\u00a0\u3000', /must not be blank/],
  // The attack: a user whose name is invisible in every list and in the audit log.
  ...['\u200b', '\u2060', '\ufeff', '\u00ad', '\u3164', '\u115f', '\uffa0', '\u2800', '\u200d', '\u200c', '\ufe0f'].map(
    (character) =>
      [`only U+${character.charCodeAt(0).toString(16)}`, `${character} ${character}`, /must not be blank/] as const,
  ),
  ['a combining accent alone', '\u0301', /must not be blank/],
  ['101 characters', 'x'.repeat(101), /at most 100 characters/],
  // The attack: a NUL byte, which PostgreSQL refuses, to cause a 500.
  ['NUL', 'a\0b', /line breaks/],
  ['a line break', 'a\nb', /line breaks/],
  ['a line separator', 'a\u2028b', /line breaks/],
  ['a paragraph separator', 'a\u2029b', /line breaks/],
  ['a line end of terminals', 'a\u0085b', /line breaks/],
  ['an escape sequence of a terminal', 'a\u001b[2Jb', /line breaks/],
  // The attack: a name that reverses the direction of the text after it, so that a list shows something else.
  ...['\u202e', '\u2066', '\u2069', '\u200f', '\u061c'].map(
    (character) => [`the direction U+${character.charCodeAt(0).toString(16)}`, `a${character}b`, /direction/] as const,
  ),
  ['half a surrogate pair', 'a\ud83d', /line breaks/],
  // The risk: a user pastes a key into the wrong field, and lists, logs and the audit log would show the key.
  ['an API key', `old ${key}`, /an API key/],
  ['an API key of the other environment', mintKey('test').key, /an API key/],
  ['most of an API key', key.slice(0, 40), /an API key/],
  ['an API key with a capital first letter', key.replace('c', 'C'), /an API key/],
  ['an API key with an invisible character in it', `${key.slice(0, 20)}\u200b${key.slice(20)}`, /an API key/],
])('%s is refused, with the field and the remedy', (_, text, message) => {
  expect(() => parseName(text, { kind: 'key', field: 'user name' })).toThrow(
    expect.objectContaining({
      code: 'invalid',
      fields: { 'user name': [expect.stringMatching(message)] },
      message: expect.stringMatching(/^user name must /),
    }),
  );
});

test('the refusal of a pasted key does not repeat the key', () => {
  expect(() => parseName(key, { kind: 'person' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining(key.slice(13, 30)) }),
  );
});

test.each([
  ['person', 200],
  ['organization', 200],
  ['key', 100],
] as const)('the name of a %s has at most %d characters', (kind, most) => {
  expect(parseName(` ${'é'.repeat(most)} `, { kind })).toHaveLength(most);
  expect(() => parseName('é'.repeat(most + 1), { kind })).toThrow(`name must be at most ${most} characters`);
});

test.each([
  ['repeated spaces', 'Nightly  sync'],
  ['another kind of space', 'Nightly\u00a0sync'],
  ['a full-width space', 'Nightly\u3000sync'],
  ['a filler character that looks like a space', 'Nightly\u3164sync'],
  ['an invisible character', 'Night\u200bly\u00ad s\u2060ync\u200d'],
  ['letter case', 'NIGHTLY Sync'],
  ['full-width letters', 'Ｎｉｇｈｔｌｙ　ｓｙｎｃ'],
  ['a format character that is not ignorable', 'Nightly\ufff9 sync'],
  ['several of these', ' ｎ\u200bIGHTLY\u00a0\u00adsync\ufeff '],
])('names that differ by %s look the same', (_, text) => {
  // The attack: two keys whose names look the same, so that somebody revokes the wrong one.
  expect(nameKeyOf(text)).toEqual(nameKeyOf('Nightly sync'));
});

test.each([
  ['Straße', 'STRASSE'],
  ['ſync', 'Sync'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
  ['ﬁle', 'FILE'],
  ['Cafe\u0301', 'CAFÉ'],
])('%j and %j look the same', (one, other) => {
  expect(nameKeyOf(one)).toEqual(nameKeyOf(other));
});

test('names that differ in a letter or a word break look different', () => {
  const names = ['Nightly sync', 'Nightly sync 2', 'Nightlysync', 'Nightly sÿnc', 'Nightly-sync'];
  expect(new Set(names.map((name) => nameKeyOf(name).toString('hex'))).size).toBe(names.length);
});
