// `parseEvent` of `charter-client/webhooks`, tested with the server's signatures and with the reference library.
import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { CharterError } from '../../src/client/errors.ts';
import { InvalidEventError, parseEvent, TOLERANCE_SECONDS } from '../../src/client/webhooks.ts';
import { type Message, messageOf, newEvent, newSecret } from '../support/data/messages.ts';

const secret = newSecret();
const event = newEvent();
const message = messageOf(event, [secret]);

/** Returns the reason why the message is refused, or "accepted". */
async function reasonOf({ headers, body }: Message, given: string | readonly string[] = secret.text): Promise<string> {
  const error: unknown = await parseEvent(headers, body, given).then(
    () => 'accepted',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof InvalidEventError)) return String(error);
  return error.reason;
}

function withHeader(name: string, value: string): Message {
  return { ...message, headers: { ...message.headers, [name]: value } };
}

test('the reference library accepts what Charter signs', () => {
  expect(new Webhook(secret.text).verify(message.body, message.headers)).toMatchObject(event);
  expect(() => new Webhook(newSecret().text).verify(message.body, message.headers)).toThrow();
});

test('parseEvent accepts what the reference library signs', async () => {
  const now = new Date();
  const headers = {
    'webhook-id': event.id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret.text).sign(event.id, now, message.body),
  };
  expect(await parseEvent(headers, message.body, secret.text)).toMatchObject(event);
});

test('for the time of a rotation, Charter signs twice, and either secret verifies', async () => {
  const next = newSecret();
  const twice = messageOf(event, [next, secret]);
  expect(twice.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const each of [next, secret]) {
    expect(new Webhook(each.text).verify(twice.body, twice.headers)).toMatchObject(event);
    expect(await parseEvent(twice.headers, twice.body, each.text)).toMatchObject(event);
  }
  expect(await reasonOf(twice, newSecret().text)).toBe('wrong_signature');
});

test('of several secrets, one must have signed', async () => {
  expect(await parseEvent(message.headers, message.body, [newSecret().text, secret.text])).toMatchObject(event);
  expect(await reasonOf(message, [newSecret().text, newSecret().text])).toBe('wrong_signature');
});

test('headers and bodies are accepted in the form of each platform', async () => {
  const bytes = new TextEncoder().encode(message.body);
  const upper = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name.toUpperCase(), value]));
  const lists = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, [value]]));
  for (const headers of [message.headers, new Headers(message.headers), upper, lists]) {
    for (const body of [
      message.body,
      bytes,
      Buffer.from(bytes),
      Uint8Array.from(bytes).buffer,
      Buffer.from(`x${message.body}`).subarray(1),
    ]) {
      expect(await parseEvent(headers, body, secret.text)).toEqual(JSON.parse(message.body));
    }
  }
});

test('a secret is accepted without its padding, and with too much of it', async () => {
  const bare = secret.text.replace(/=+$/, '');
  for (const padding of ['', '=', '==']) expect(await reasonOf(message, `${bare}${padding}`)).toBe('accepted');
});

describe('a request that Charter did not send is refused', () => {
  // The attacks: changing what is signed, signing with a key that everybody knows, and omitting the signature.
  test.each([
    ['another body', { ...message, body: message.body.replace('Nordic', 'Arctic') }],
    ['a body with an additional space', { ...message, body: `${message.body} ` }],
    ['no body', { ...message, body: '' }],
    ['another id', withHeader('webhook-id', newEvent().id)],
    ['another time', withHeader('webhook-timestamp', String(Number(message.headers['webhook-timestamp']) + 1))],
    [
      'a part of the signature',
      withHeader('webhook-signature', message.headers['webhook-signature']?.slice(0, -1) ?? ''),
    ],
    [
      'a signature without its version',
      withHeader('webhook-signature', message.headers['webhook-signature']?.slice(3) ?? ''),
    ],
    ['another version', withHeader('webhook-signature', `v2${message.headers['webhook-signature']?.slice(2)}`)],
    ['an empty signature of the version', withHeader('webhook-signature', 'v1,')],
    ['only spaces', withHeader('webhook-signature', '   ')],
    ['another secret', messageOf(event, [newSecret()])],
  ])('%s', async (_, changed) => {
    expect(await reasonOf(changed)).toBe('wrong_signature');
    expect(() => new Webhook(secret.text).verify(changed.body, changed.headers)).toThrow();
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('no %s', async (name) => {
    const { [name]: _, ...headers } = message.headers;
    expect(await reasonOf({ ...message, headers })).toBe('missing_header');
    expect(await reasonOf(withHeader(name, ''))).toBe('missing_header');
  });

  test.each(['x', '1e9', '-1', '1.5', ' ', '99999999999', 'NaN'])('the time %j', async (text) => {
    expect(await reasonOf(withHeader('webhook-timestamp', text))).toBe('invalid_timestamp');
  });
});

// The attack: a recorded message is sent again with its valid signature.
test('a message is refused if its time differs from the clock by more than five minutes', async () => {
  expect(TOLERANCE_SECONDS).toBe(300);
  const slack = 60;
  for (const [ageSeconds, reason] of [
    [TOLERANCE_SECONDS - slack, 'accepted'],
    [TOLERANCE_SECONDS + 1, 'timestamp_too_old'],
    [-TOLERANCE_SECONDS + slack, 'accepted'],
    [-TOLERANCE_SECONDS - slack, 'timestamp_too_new'],
  ] as const)
    expect({ ageSeconds, reason: await reasonOf(messageOf(event, [secret], { ageSeconds })) }).toEqual({
      ageSeconds,
      reason,
    });
});

test('among signatures of other versions and of unknown secrets, the right one is found', async () => {
  const others = Array.from({ length: 5 }, () => messageOf(event, [newSecret()]).headers['webhook-signature']);
  const all = ['v2,abc', 'v1a,abc', ...others, message.headers['webhook-signature'], 'v1,'].join(' ');
  expect(await reasonOf(withHeader('webhook-signature', all))).toBe('accepted');
});

test.each(['', 'null', '[]', '{}', '{"id":"x"}', '{"id":1,"type":"x","timestamp":"x","data":{}}', 'x', '"x"'])(
  'the signed body %j is not an event',
  async (body) => {
    const now = new Date();
    const headers = {
      ...message.headers,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret.text).sign(event.id, now, body),
    };
    expect(await reasonOf({ headers, body })).toBe('invalid_body');
  },
);

test('an event of a type that this version does not know is returned', async () => {
  const later = messageOf({ ...event, type: 'child_program.created' }, [secret]);
  expect((await parseEvent(later.headers, later.body, secret.text)).type).toBe('child_program.created');
});

// A wrong secret or body is a mistake in the program. Without an error, the program would refuse, or accept, every message.
describe('a secret or a body that cannot be right throws a TypeError that does not hold the secret', () => {
  test.each([
    ['undefined', undefined],
    ['an empty text', ''],
    ['an empty list', []],
    ['a list with an empty text', [secret.text, '']],
    ['no prefix', secret.text.slice('whsec_'.length)],
    ['the prefix alone', 'whsec_'],
    ['a short secret', 'whsec_c2VjcmV0'],
    ['padding and no whole bytes', `whsec_${'A'.repeat(45)}==`],
    ['a line break', `${secret.text}\n`],
    ['an API key', 'charter_live_0123456789012345678901234567890123456789000000'],
  ])('%s', async (_, given) => {
    const error: unknown = await parseEvent(message.headers, message.body, given).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    for (const text of [secret.text, secret.text.slice(10, 30), 'charter_live_'])
      expect(inspect(error)).not.toContain(text);
  });

  test.each([`${secret.text}\n`, `${secret.text}\r\n`, [`\t${secret.text}`]])(
    'the blank in %j is named',
    async (given) => {
      await expect(parseEvent(message.headers, message.body, given)).rejects.toThrow(
        'secret begins or ends with a blank or a line break. Remove it, such as with trim().',
      );
    },
  );

  test('a body that was already parsed', async () => {
    const parsed = JSON.parse(message.body);
    await expect(parseEvent(message.headers, parsed, secret.text)).rejects.toThrow(
      new TypeError('body must be the text or the bytes of the request, before any JSON parser has read them.'),
    );
  });
});

test('the error is an error of the client, says what to check, and holds neither the secret nor the body', async () => {
  const other = newSecret();
  const error: unknown = await parseEvent(message.headers, message.body, other.text).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CharterError);
  expect(error).toMatchObject({
    name: 'InvalidEventError',
    reason: 'wrong_signature',
    message:
      'The request is not signed with this secret. Is it the secret of this endpoint, and the body exactly as received?',
  });
  for (const text of [other.text.slice(6), 'Nordic']) expect(inspect(error)).not.toContain(text);
});
