import {
  expiryOf,
  findKeyInText,
  hashKey,
  inspectKey,
  isWholePrefix,
  keysInText,
  maskKeys,
  mintKey,
} from '../../../src/domain/keys/api-key.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** A fixed key, which detects a change of the checksum that would make every issued key invalid. */
const SAMPLE = 'charter_live_mnClxmm8QmK9lgMNVJCz92zPBTOqzQwybTCla9vn2j22AX';
const SECRET_START = 'charter_live_'.length;

test.each(['live', 'test'] as const)(
  'a key of %s has the documented format and names its environment',
  (environment) => {
    const { key, prefix, hash } = mintKey(environment);
    expect(key).toMatch(new RegExp(`^charter_${environment}_[0-9A-Za-z]{46}$`));
    expect(inspectKey(key)).toEqual({ kind: 'well-formed', environment, cell: null });
    expect(hash.toString('hex')).toBe(hashKey(key));
    expect(hash).toHaveLength(32);
    // Lists show the environment and four characters. Enough of the 238 bits remain secret to prevent guessing.
    expect(prefix).toBe(key.slice(0, `charter_${environment}_`.length + 4));
  },
);

test.each(['e', 'eu1', 'us-east'.replace('-', ''), 'a23456789012'])(
  'a key of the cell %s names it, and the checksum covers it',
  (cell) => {
    const { key, prefix, hash } = mintKey('live', cell);
    const start = `charter_live_${cell}_`;
    expect(key).toMatch(new RegExp(`^${start}[0-9A-Za-z]{46}$`));
    expect(inspectKey(key)).toEqual({ kind: 'well-formed', environment: 'live', cell });
    expect(hash.toString('hex')).toBe(hashKey(key));
    expect(prefix).toBe(key.slice(0, start.length + 4));
    expect([isWholePrefix(prefix), isWholePrefix(prefix.slice(0, -1)), isWholePrefix(start)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(inspectKey(key.replace(start, `charter_live_${cell}x_`.replace(/(.{12})x_$/, 'z_'))).kind).not.toBe(
      'well-formed',
    );
    expect(inspectKey(key.replace(start, 'charter_live_'))).toEqual({ kind: 'mistyped' });
    expect(inspectKey(key.slice(0, -1))).toEqual({ kind: 'incomplete', characters: key.length - 1, of: key.length });
    expect(inspectKey(`"${key}"`)).toEqual({ kind: 'too-long', extra: 2 });
    for (const text of [key, ` "${key}"\n`, key.slice('charter_live_'.length)])
      expect(findKeyInText(text)).toEqual({ kind: 'whole', prefix, key });
    expect(findKeyInText(key.slice(0, 40))).toEqual({ kind: 'part', prefix });
    expect(keysInText(`KEY=${key}, ${SAMPLE}`)).toEqual([key, SAMPLE]);
    expect(maskKeys(`The key ${key} and ${SAMPLE}.`)).toBe(`The key ${prefix}… and ${SAMPLE.slice(0, 17)}….`);
  },
);

test.each(['', 'EU1', '1eu', 'eu_1', 'eu-1', 'a234567890123'])('"%s" is no cell, so no key has it', (cell) => {
  const key = `charter_live_${cell}_${SAMPLE.slice(SECRET_START)}`;
  expect(inspectKey(key).kind).not.toBe('well-formed');
});

test('an issued key stays well-formed forever', () => {
  expect(inspectKey(SAMPLE)).toEqual({ kind: 'well-formed', environment: 'live', cell: null });
});

test('a key is found in pasted text, whole or in part, and never more than its prefix is given on', () => {
  const prefix = SAMPLE.slice(0, 17);
  const bare = SAMPLE.slice(SECRET_START);
  for (const text of [SAMPLE, ` "${SAMPLE}"\n`, `curl -H "Authorization: Bearer ${SAMPLE}" https://x.example`, bare])
    expect(findKeyInText(text)).toEqual({ kind: 'whole', prefix, key: SAMPLE });
  expect(findKeyInText(`${prefix} and ${SAMPLE}`)).toMatchObject({ kind: 'whole' });
  for (const text of [prefix, `${prefix}…`, SAMPLE.slice(0, 40), `${SAMPLE}0`])
    expect(findKeyInText(text)).toEqual({ kind: 'part', prefix });
  for (const text of [`${SAMPLE.slice(0, -1)}Y`, `${bare.slice(0, -1)}Y`])
    expect(findKeyInText(text)).toEqual({ kind: 'mistyped', prefix });
  expect(findKeyInText('a charter_test_ key')).toEqual({ kind: 'part', prefix: 'charter_test_' });
  for (const text of ['', 'Nightly import', 'charter_', 'mnCl', `${bare}0`]) expect(findKeyInText(text)).toBeNull();
});

test('a thousand keys are all different and use the whole alphabet', () => {
  const keys = Array.from({ length: 1000 }, () => mintKey('live').key);
  expect(new Set(keys).size).toBe(1000);
  expect(new Set(keys.flatMap((key) => [...key.slice(SECRET_START)])).size).toBe(ALPHABET.length);
});

test('the checksum detects every change of one character', () => {
  const accepted = [...SAMPLE.slice(SECRET_START)].flatMap((_, i) =>
    [...ALPHABET]
      .map((letter) => replaceAt(SAMPLE, SECRET_START + i, letter))
      .filter((typed) => typed !== SAMPLE && inspectKey(typed).kind !== 'mistyped'),
  );
  expect(accepted).toEqual([]);
});

test('the checksum detects every swap of two adjacent characters', () => {
  const swapped = Array.from({ length: SAMPLE.length - SECRET_START - 1 }, (_, i) => {
    const at = SECRET_START + i;
    return SAMPLE.slice(0, at) + SAMPLE.charAt(at + 1) + SAMPLE.charAt(at) + SAMPLE.slice(at + 2);
  });
  const accepted = swapped.filter((typed) => typed !== SAMPLE && inspectKey(typed).kind !== 'mistyped');
  expect(accepted).toEqual([]);
});

// The attack: disguising a test key as a live key by changing its prefix.
test('a key with an altered environment counts as mistyped', () => {
  expect(inspectKey(SAMPLE.replace('live', 'test'))).toEqual({ kind: 'mistyped' });
});

test.each([
  ['nothing', ''],
  ['a prefix cut short', 'charter_live'],
  ['another environment', SAMPLE.replace('live', 'prod')],
  ['capitals in the prefix', SAMPLE.replace('charter', 'Charter')],
  ['look-alike letters', SAMPLE.replace('m', 'м')],
])('%s is not a key', (_, text) => {
  expect(inspectKey(text)).toEqual({ kind: 'not-a-key' });
});

test.each([
  ['its last character', SAMPLE.slice(0, -1), 58],
  ['its last 23 characters', SAMPLE.slice(0, -23), 36],
  ['all after its prefix', SAMPLE.slice(0, -46), 13],
  ['a character in its middle', SAMPLE.slice(0, 30) + SAMPLE.slice(31), 58],
  ['the first character after its prefix', SAMPLE.slice(0, 13) + SAMPLE.slice(14), 58],
])('a key without %s is incomplete', (_, text, characters) => {
  expect(inspectKey(text)).toEqual({ kind: 'incomplete', characters, of: SAMPLE.length });
});

test.each([
  ['another character', `${SAMPLE}A`, 1],
  ['a line break', `${SAMPLE}\n`, 1],
  ['another line before it', `x\n${SAMPLE}`, 2],
])('a key with %s is too long', (_, text, extra) => {
  expect(inspectKey(text)).toEqual({ kind: 'too-long', extra });
});

test.each([
  [1, '2026-03-29T00:30:00.000Z'],
  [3650, '2036-03-25T00:30:00.000Z'],
])('a key for %i days expires after that many periods of 24 hours', (days, expected) => {
  expect(expiryOf(new Date('2026-03-28T00:30:00Z'), days)?.toISOString()).toBe(expected);
});

test('a key without a lifetime does not expire', () => {
  expect(expiryOf(new Date(), null)).toBeNull();
});

function replaceAt(text: string, at: number, letter: string): string {
  return text.slice(0, at) + letter + text.slice(at + 1);
}
