// What one part of the code writes, another part must read in every notation that the format allows.

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { TOTP } from 'otpauth';
import { readPreferences } from '../scripts/mock/prefer.ts';
import { parseQuery, requireAcceptable } from '../src/api/api-request.ts';
import { openCursor, sealCursor } from '../src/api/list-page.ts';
import { requireIfMatch, satisfiesIfNoneMatch } from '../src/api/response.ts';
import { waitMsAfter } from '../src/client/sending.ts';
import { parseEvent } from '../src/client/webhooks.ts';
import { csvLine } from '../src/dashboard/http/csv-file.ts';
import { isNetwork } from '../src/domain/forbidden-address.ts';
import { findKeyInText, formatKey, inspectKey } from '../src/domain/keys/api-key.ts';
import { networkOf } from '../src/domain/network.ts';
import { hashRecoveryCode, mintRecoveryCodes } from '../src/domain/people/ways-in.ts';
import { impossiblePartOf, parseInstant } from '../src/domain/resources/instant.ts';
import { secretText, signatureOf } from '../src/domain/webhooks/webhook-message.ts';
import { createAuthenticatorSecret, stepOfCode } from '../src/service/sign-in/second-factor-code.ts';
import { KEYRING } from './support/postgres/postgres.ts';

const blanks = fc.stringMatching(/^[ \t]{0,3}$/);
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
/** Generates the text with other characters inserted, and with letters in upper or lower case. */
const respelled = (text: string, between: fc.Arbitrary<string>) =>
  fc
    .array(fc.tuple(between, fc.boolean()), { minLength: text.length, maxLength: text.length })
    .map((parts) =>
      parts.map(([gap, isUpper], i) => gap + (isUpper ? text.charAt(i).toUpperCase() : text[i])).join(''),
    );

test('a recovery code is read with blanks, hyphens, any case, and letters in place of digits', () => {
  const [code = ''] = mintRecoveryCodes();
  const typed = respelled(code, fc.stringMatching(/^[ \t\u00a0-]{0,2}$/)).map((text) => text.replaceAll('1', 'l'));
  fc.assert(fc.property(typed, (text) => hashRecoveryCode(text)?.equals(hashRecoveryCode(code) ?? Buffer.alloc(0))));
  fc.assert(fc.property(typed, (text) => hashRecoveryCode(text.replaceAll('0', 'O')) !== null));
});

test('a code of the authenticator is read with blanks', () => {
  const user = { organizationId: crypto.randomUUID(), id: crypto.randomUUID(), email: 'ada@example.test' };
  const { encrypted, base32 } = createAuthenticatorSecret(KEYRING, user);
  const now = new Date('2026-05-04T12:00:00Z');
  const code = new TOTP({ secret: base32 }).generate({ timestamp: now.getTime() });
  const factor = { ...user, totpSecret: encrypted, totpLastStep: 0n };
  const typed = respelled(code, fc.stringMatching(/^[ \t\u00a0]{0,2}$/));
  fc.assert(fc.property(typed, (text) => stepOfCode(factor, { keyring: KEYRING, code: text, now }) !== null));
});

test('the cells of a CSV line are those that were written', () => {
  // Excludes the characters with which a formula begins, because the export changes them.
  const cell = fc.string({ unit: fc.constantFrom(...'aé"\',;\t\r\n 0😀') });
  fc.assert(fc.property(fc.array(cell, { minLength: 1 }), (cells) => expect(parse(csvLine(cells))).toEqual([cells])));
});

test('an event is accepted with any of its signatures and secrets, in one header or several', async () => {
  const body = JSON.stringify({ id: 'e', type: 't', timestamp: '2026-05-04T12:00:00Z', data: {} });
  const signed = { id: 'e', timestamp: Math.floor(Date.now() / 1000), body };
  const others = fc.array(
    fc.oneof(
      bytes(32).map((other) => signatureOf(signed, [other])),
      fc.constant('v1a,x'),
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      bytes(32),
      others,
      others,
      fc.constantFrom(' ', ', '),
      async (secret, before, after, separator) => {
        const header = [...before, signatureOf(signed, [secret]), ...after].join(separator);
        const headers = { 'Webhook-Id': 'e', 'webhook-timestamp': `${signed.timestamp}`, 'WEBHOOK-SIGNATURE': header };
        const event = await parseEvent(headers, body, [secretText(new Uint8Array(32)), secretText(secret)]);
        expect(event).toMatchObject({ id: 'e' });
      },
    ),
  );
});

test('a cursor gives its position back, and no other text is one', () => {
  const seal = { key: 'k', list: 'l' };
  const listed = { path: '/l', query: {}, choices: {}, parameters: '' };
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(), fc.base64String(), (position, place, other) => {
      const cursor = sealCursor(seal, Buffer.from(position));
      expect(openCursor(seal, cursor, listed).equals(position)).toBe(true);
      const at = place % cursor.length;
      const changed = [`${cursor.slice(0, at)}${other}${cursor.slice(at + 1)}`, cursor.slice(0, at), cursor + other];
      for (const each of changed)
        if (each !== cursor) expect(() => openCursor(seal, each, listed)).toThrow('is not a cursor');
    }),
  );
});

// Some bits of the last base64url character may belong to no byte. A lenient decoder ignores these bits.
test('a cursor with any other last character is none', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const cursor = sealCursor({ key: 'k', list: 'l' }, Buffer.from('x'));
  const positionOf = (text: string) => Buffer.from(text.slice(22), 'base64url').toString('hex');
  const others = [...alphabet].map((last) => cursor.slice(0, -1) + last).filter((other) => other !== cursor);
  expect(others.map(positionOf)).toContain(positionOf(cursor));
  const listed = { path: '/l', query: {}, choices: {}, parameters: '' };
  for (const other of others)
    expect(() => openCursor({ key: 'k', list: 'l' }, other, listed)).toThrow('is not a cursor');
});

test('a conditional header holds its tag among others, with any blanks', () => {
  const tag = '"current"';
  const tags = fc.array(fc.constantFrom('"other"', 'W/"other"', '"current, not"', '""'));
  fc.assert(
    fc.property(tags, tags, blanks, (before, after, blank) => {
      const listOf = (each: readonly string[]) => each.join(`${blank},${blank}`);
      const header = listOf([...before, tag, ...after]);
      expect(satisfiesIfNoneMatch(header, tag)).toBe(false);
      requireIfMatch(header, (each) => each === tag, '');
      expect(satisfiesIfNoneMatch(listOf([...before, ...after]), tag)).toBe(true);
      expect(() => requireIfMatch(listOf([...before, ...after]), (each) => each === tag, 'stale')).toThrow();
    }),
  );
});

test('Accept is met by JSON, its range or any range, among others and with any blanks and parameters', () => {
  const others = fc.array(fc.constantFrom('text/html', 'image/*;q=0.5', 'application/xml', 'application/json-seq'));
  const met = fc.constantFrom(
    'application/json',
    'Application/JSON',
    'application/*',
    '*/*',
    'application/json;q=0.001',
  );
  const refuse = (accept: string) =>
    requireAcceptable(Object.assign(new IncomingMessage(new Socket()), { headers: { accept } }));
  fc.assert(
    fc.property(others, met, others, blanks, (before, one, after, blank) => {
      const listOf = (each: readonly string[]) => each.join(`${blank},${blank}`).replaceAll(';', `${blank};${blank}`);
      refuse(listOf([...before, one, ...after]));
      const rest = [...before, ...after];
      if (rest.length > 0) expect(() => refuse(listOf(rest))).toThrow('Accept');
    }),
  );
});

test('a key is found in any text, and one changed character is a mistake', () => {
  const alphabet = 'abcXYZ019';
  const random = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 40, maxLength: 40 });
  const cell = fc.constantFrom(null, 'eu1', 'a');
  const around = fc.stringMatching(/^([^\w]{0,5}|.* )$/);
  fc.assert(
    fc.property(
      random,
      around,
      fc.nat(45),
      fc.constantFrom(...alphabet),
      cell,
      (text, other, place, character, cell) => {
        const key = formatKey('test', text, cell);
        expect(inspectKey(key)).toEqual({ kind: 'well-formed', environment: 'test', cell });
        expect(findKeyInText(`${other}${key}${[...other].toReversed().join('')}`)).toMatchObject({
          kind: 'whole',
          key,
        });
        const at = key.length - 46 + place;
        const changed = `${key.slice(0, at)}${character}${key.slice(at + 1)}`;
        if (changed !== key) expect(inspectKey(changed)).toEqual({ kind: 'mistyped' });
      },
    ),
  );
});

test('an address has one network, however it is spelled, and is an allowed network with as many bits as it may have', () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(groups, fc.nat(4), fc.boolean(), (all, zeros, isUpper) => {
      const address = all.map((group, i) => (i < 4 && i >= 4 - zeros ? 0 : group));
      const short = new URL(`http://[${address.map((group) => group.toString(16)).join(':')}]`).hostname.slice(1, -1);
      const long = address.map((group) => group.toString(16).padStart(4, '0')).join(':');
      const spelled = isUpper ? long.toUpperCase() : long;
      // Excludes IPv4-mapped addresses, because they count as IPv4.
      fc.pre(!/^::(ffff:)?[^:]+:[^:]+$/.test(short));
      expect(networkOf(spelled)).toBe(networkOf(short));
      expect(networkOf(`[${short}]:443`)).toBe(networkOf(short));
      for (const bits of ['', '/0', '/64', '/128']) expect(isNetwork(short + bits)).toBe(true);
      for (const bits of ['/129', '/', '/x', '/8/8']) expect(isNetwork(short + bits)).toBe(false);
    }),
  );
  fc.assert(
    fc.property(fc.ipV4(), fc.nat(65_535), (ip, port) => {
      for (const spelled of [`${ip}:${port}`, `::ffff:${ip}`, `::FFFF:${ip}`, `[::ffff:${ip}]:${port}`])
        expect(networkOf(spelled)).toBe(ip);
      expect([isNetwork(`${ip}/32`), isNetwork(`${ip}/33`)]).toEqual([true, false]);
    }),
  );
});

test('an instant is read with any offset and any number of digits', () => {
  const offset = fc.integer({ min: -23 * 60, max: 23 * 60 });
  const time = fc.date({
    min: new Date('1000-01-02T00:00:00Z'),
    max: new Date('9990-01-01T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(time, offset, fc.nat(6), (at, minutes, zeros) => {
      const local = new Date(at.getTime() + minutes * 60_000).toISOString().slice(0, -1) + '0'.repeat(zeros);
      const [hour, minute] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
      const suffix = `${minutes < 0 ? '-' : '+'}${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
      expect(parseInstant(local + suffix)).toEqual(at);
      expect(parseInstant(`${local}1${suffix}`)).toEqual(new Date(at.getTime() + 1));
    }),
  );
});

test.each([
  ['2026-02-30T00:00:00Z', 'day 30: this month has 28 days'],
  ['2028-02-30T00:00:00Z', 'day 30: this month has 29 days'],
  ['2026-06-31T23:59:59.999Z', 'day 31: this month has 30 days'],
  ['2026-03-00T00:00:00Z', 'day 0: this month has 31 days'],
  ['2026-13-01T00:00:00Z', 'month 13'],
  ['2026-00-01T00:00:00Z', 'month 0'],
  ['2026-03-01T24:00:00Z', 'hour 24'],
  ['2026-03-01T00:60:00Z', 'minute 60'],
  ['2026-03-01T00:00:61Z', 'second 61'],
  ['2026-03-01T00:00:60Z', 'second 60 here: a leap second is the last second of a day in UTC'],
  ['2026-03-01T00:00:00+25:00', 'offset +25:00'],
  ['2026-03-01T00:00:00-00:60', 'offset -00:60'],
])('of the instant %s, %s does not exist', (text, part) => {
  expect(impossiblePartOf(text)).toBe(part);
});

test('a client waits for the seconds or until the date of Retry-After, with any blanks', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), blanks, (seconds, blank) => {
      const wait = (value: string) =>
        waitMsAfter({ tries: 1, headers: new Headers({ 'Retry-After': `${blank}${value}${blank}` }), random: 0 });
      expect(wait(`${seconds}`)).toBe(seconds * 1000);
      const before = Date.now();
      const ms = wait(new Date(before + seconds * 1000).toUTCString());
      expect(ms).toBeGreaterThan(seconds * 1000 - 1001 - (Date.now() - before));
      expect(ms).toBeLessThanOrEqual(seconds * 1000);
    }),
  );
});

test('Prefer is read in any order, case, quotes and blanks, in one header or several', () => {
  const given = fc.record({ code: fc.integer({ min: 100, max: 599 }), delay: fc.nat(30), isQuoted: fc.boolean() });
  fc.assert(
    fc.property(given, blanks, fc.constantFrom(', ', ';', null), ({ code, delay, isQuoted }, blank, separator) => {
      const quote = isQuoted ? '"' : '';
      const all = [`CODE${blank}=${blank}${quote}${code}${quote}`, `delay=${delay}s`, `example=${quote}taken${quote}`];
      for (const each of [all, all.toReversed()])
        expect(readPreferences(separator === null ? each : each.join(separator))).toMatchObject({
          code: String(code),
          example: 'taken',
          delayMs: delay * 1000,
          warnings: [],
        });
    }),
  );
});

const PARAMETERS = new Map([
  ['is_active', { type: 'boolean', normalForm: undefined }],
  ['limit', { type: 'integer', normalForm: undefined }],
  ['country', { type: 'string', normalForm: undefined }],
  ['search', { type: 'string', normalForm: 'NFC' }],
]);

test.each([
  ['is_active=true', { is_active: true }],
  ['is_active=false&limit=5', { is_active: false, limit: 5 }],
  ['is_active=True', { is_active: 'True' }],
  ['is_active=1', { is_active: '1' }],
  ['is_active=', { is_active: '' }],
  ['is_active=+true', { is_active: ' true' }],
  ['limit=true', { limit: 'true' }],
  ['country=true', { country: 'true' }],
  ['country=e%CC%81&search=e%CC%81', { country: 'e\u0301', search: '\u00e9' }],
  ['search=two+words&country=two%20words', { search: 'two words', country: 'two words' }],
  ['&&limit=5&', { limit: 5 }],
  ['', {}],
])('%s is read by the types of the contract, and what is not of the type stays text', (text, values) => {
  expect(parseQuery(text, PARAMETERS)).toEqual({ values, repeated: [] });
});

test('a boolean that is given twice is repeated', () => {
  expect(parseQuery('is_active=true&is_active=false', PARAMETERS)).toEqual({
    values: { is_active: [true, false] },
    repeated: ['is_active'],
  });
});
