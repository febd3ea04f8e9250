import { Secret } from 'otpauth';
import { sealCursor } from '../../src/api/list-page.ts';
import { entityTagOf } from '../../src/api/response.ts';
import { newFormId } from '../../src/dashboard/forms/one-time-form.ts';
import { newFormSecret } from '../../src/dashboard/http/cookies.ts';
import { mintEncryptionKey } from '../../src/domain/keyring.ts';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { hashToken, mintToken } from '../../src/domain/people/session.ts';
import { mintRecoveryCodes } from '../../src/domain/people/ways-in.ts';
import { createAuthenticatorSecret } from '../../src/service/sign-in/second-factor-code.ts';
import { mintEndpointSecret } from '../../src/service/webhooks/endpoints.ts';
import { NOBODY } from '../support/data/actors.ts';
import { KEYRING } from '../support/postgres/postgres.ts';

// The attack: guessing. Values that nobody may guess, or that must differ for different contents, have at least this many bits.
const BITS = 128;
const BASE64URL_BITS = 6;
const BASE62_BITS = Math.log2(62);
const SAMPLES = 4000;

const POSITION = Buffer.from('a position');
const macOf = (list: string) =>
  sealCursor({ key: 'a key', list }, POSITION).slice(0, -POSITION.toString('base64url').length);

/** Returns how many bits of the texts vary. A character counts only if it takes nearly every value of its alphabet. */
function bitsOf(texts: readonly string[], bitsEach: number): number {
  const length = Math.min(...texts.map((text) => text.length));
  const varying = Array.from({ length }, (_, i) => new Set(texts.map((text) => text[i])).size);
  return varying.filter((characters) => characters >= 2 ** bitsEach - 1).length * bitsEach;
}

const samples = (make: (i: number) => string) => Array.from({ length: SAMPLES }, (_, i) => make(i));

test('the MAC of a cursor has at least 128 bits, and each of its characters takes every value', () => {
  const macs = samples((i) => macOf(`list ${i}`));
  expect(macs[0]).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(bitsOf(macs, BASE64URL_BITS)).toBeGreaterThanOrEqual(BITS);
  expect(new Set(macs).size).toBe(SAMPLES);
});

test('the MAC of a cursor depends on the key, the list and the position', () => {
  const sealed = (key: string, list: string, position: string) =>
    sealCursor({ key, list }, Buffer.from(position)).slice(0, 22);
  const macs = [sealed('k', 'l', 'p'), sealed('K', 'l', 'p'), sealed('k', 'L', 'p'), sealed('k', 'l', 'P')];
  expect(new Set(macs).size).toBe(4);
});

test('an entity tag has at least 128 bits, and differs for different contents', () => {
  const tags = samples((i) => entityTagOf(`content ${i}`).slice(1, -1));
  expect(tags[0]).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(bitsOf(tags, BASE64URL_BITS)).toBeGreaterThanOrEqual(BITS);
  expect(new Set(tags).size).toBe(SAMPLES);
});

test('a key has at least 128 random bits, beside its checksum', () => {
  const keys = samples(() => mintKey('live').key.slice('charter_live_'.length, -6));
  expect(bitsOf(keys, Math.floor(BASE62_BITS))).toBeGreaterThanOrEqual(BITS);
  expect(new Set(keys).size).toBe(SAMPLES);
});

test('the token of a session or a link has at least 128 random bits', () => {
  const tokens = samples(() => mintToken());
  expect(bitsOf(tokens, BASE64URL_BITS)).toBeGreaterThanOrEqual(BITS);
  expect(hashToken(tokens[0] ?? '')).toHaveLength(32);
});

const ROW = { organizationId: NOBODY, id: NOBODY, email: 'ada@acme.example' };
const ofBase64url = (text: string) => Buffer.from(text, 'base64url');

test.each<[name: string, mint: () => Uint8Array]>([
  ['id of a form that shows a secret', () => ofBase64url(newFormId({ token: 'a token' }).split('.')[0] ?? '')],
  ['secret of the forms before the sign-in', () => ofBase64url(newFormSecret())],
  ['key that encrypts secrets', () => Buffer.from(mintEncryptionKey(), 'base64')],
  [
    'secret of a webhook endpoint',
    () => Buffer.from(mintEndpointSecret({ keyring: KEYRING }, ROW).text.slice('whsec_'.length), 'base64'),
  ],
  ['secret of a second factor', () => Secret.fromBase32(createAuthenticatorSecret(KEYRING, ROW).base32).bytes],
])('the %s has at least 128 random bits', (_, mint) => {
  const minted = Array.from({ length: 200 }, mint);
  expect(varyingBits(minted)).toBeGreaterThanOrEqual(BITS);
  expect(new Set(minted.map((bytes) => Buffer.from(bytes).toString('hex'))).size).toBe(minted.length);
});

test('a recovery code has 80 random bits: people type it, and attempts are limited', () => {
  const codes = Array.from({ length: 200 }, mintRecoveryCodes).flat();
  expect(
    bitsOf(
      codes.map((code) => code.replaceAll('-', '')),
      5,
    ),
  ).toBe(80);
  expect(new Set(codes).size).toBe(codes.length);
});

/** Returns the number of bits that are set in some samples and not in others. All samples have the same length. */
function varyingBits(samples: readonly Uint8Array[]): number {
  const [first = new Uint8Array()] = samples;
  const places = Array.from({ length: first.length * 8 }, (_, i) => i);
  const bitAt = (bytes: Uint8Array, i: number) => ((bytes[i >> 3] ?? 0) >> (i & 7)) & 1;
  return places.filter((i) => samples.some((bytes) => bitAt(bytes, i) !== bitAt(first, i))).length;
}
