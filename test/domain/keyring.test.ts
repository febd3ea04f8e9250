import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { Keyring, mintEncryptionKey, parseKeyring } from '../../src/domain/keyring.ts';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const SECRET = Buffer.from('a secret of 20 bytes');
const PLACE = { column: 'users.totp_secret', ids: ['organization-1', 'user-1'] };

const keyring = new Keyring([OLD]);
const encrypted = keyring.encrypt(SECRET, PLACE);

test('a secret is decrypted to what it was, and does not appear in what is stored', () => {
  expect(keyring.decrypt(encrypted, PLACE)).toEqual(SECRET);
  expect(encrypted).toHaveLength(SECRET.length + 37);
  expect(encrypted.includes(SECRET)).toBe(false);
});

test('the same secret is encrypted differently each time', () => {
  // The attack: equal bytes in a dump reveal users who share an authenticator.
  expect(keyring.encrypt(SECRET, PLACE)).not.toEqual(encrypted);
});

// The attack: with write access to the database, giving another user a secret that the attacker knows.
test.each([
  ['another user', { ...PLACE, ids: ['organization-1', 'user-2'] }],
  ['another organization', { ...PLACE, ids: ['organization-2', 'user-1'] }],
  ['another column', { ...PLACE, column: 'organizations.cursor_key' }],
  ['a row whose ids join to the same text', { ...PLACE, ids: ['organization-1user-1'] }],
])('a secret cannot be moved to %s', (_, place) => {
  expect(() => keyring.decrypt(encrypted, place)).toThrow(/authenticate/);
});

test('an encrypted secret is refused after a change of any byte', () => {
  for (let i = 0; i < encrypted.length; i += 1) {
    const changed = Buffer.from(encrypted);
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
    expect(() => keyring.decrypt(changed, PLACE)).toThrow();
  }
  for (const length of [0, 1, 9, 21, 37, 56]) {
    expect(() => keyring.decrypt(encrypted.subarray(0, length), PLACE)).toThrow();
  }
});

test('the first key encrypts and all decrypt, so that the key can be changed', () => {
  const both = new Keyring([NEW, OLD]);
  expect(both.decrypt(encrypted, PLACE)).toEqual(SECRET);
  const renewed = both.encrypt(SECRET, PLACE);
  expect(new Keyring([NEW]).decrypt(renewed, PLACE)).toEqual(SECRET);
  expect(() => keyring.decrypt(renewed, PLACE)).toThrow(
    `encrypted with the key ${both.currentId}, which this process does not have`,
  );
  expect([both.has(keyring.currentId), keyring.has(both.currentId)]).toEqual([true, false]);
});

test('the key is in nothing that can be printed', () => {
  const printed = [inspect(keyring, { depth: 9, showHidden: true }), JSON.stringify({ keyring }), String(keyring)];
  const forms = (['base64', 'base64url', 'hex', 'latin1'] as const).map((encoding) => OLD.toString(encoding));
  for (const text of [...printed, keyring.currentId]) for (const form of forms) expect(text).not.toContain(form);
});

test.each([
  ['base64', OLD.toString('base64')],
  ['base64 without padding', OLD.toString('base64').replace('=', '')],
  ['base64url', OLD.toString('base64url')],
  ['several: the first one encrypts', `${OLD.toString('base64')}, ${NEW.toString('base64url')}`],
  ['lines, as in a file', `${OLD.toString('base64')}\n${NEW.toString('base64')}\n`],
])('a key can be written as %s', (_, text) => {
  expect(parseKeyring(text)?.currentId).toBe(keyring.currentId);
});

test.each([
  '',
  ' , ',
  'secret',
  OLD.toString('hex'),
  randomBytes(31).toString('base64'),
  randomBytes(33).toString('base64'),
  `${OLD.toString('base64')},short`,
  `${OLD.toString('base64').slice(0, -2)}*=`,
])('%j is not a key', (text) => {
  expect(parseKeyring(text)).toBeNull();
});

test('each new key is another one', () => {
  const [one, other] = [mintEncryptionKey(), mintEncryptionKey()];
  expect(parseKeyring(one)?.currentId).not.toBe(parseKeyring(other)?.currentId);
});
