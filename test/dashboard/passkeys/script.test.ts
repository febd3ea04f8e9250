import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { parseAssertion, parseRegistration } from '../../../src/service/sign-in/passkeys/ceremony.ts';
import { Authenticator } from '../../support/dashboard/passkeys.ts';

// The script for passkeys, run for a page without forms, with credentials as password managers provide them.

const page = createContext({ document: { querySelectorAll: () => [] }, window: {}, btoa, AbortController });
const script = new URL('../../../src/dashboard/assets/passkeys.js', import.meta.url);
runInContext(readFileSync(script, 'utf8'), page);
/** Returns what the script would send for the credential. */
const sentFor = (credential: object): string => JSON.stringify(runInContext('toJson', page)(credential));

const authenticator = new Authenticator('https://charter.example.org', { counter: 1 });
const challenge = 'c'.repeat(43);
const rp = { id: 'charter.example.org' };
const created: string = authenticator.create({
  challenge,
  rp,
  user: { id: 'dXNlcg' },
});
const used: string = authenticator.get({ challenge, rpId: rp.id });

/** Returns the credential as a browser gives it to scripts: with buffers, and with a function that returns the transports. */
function withBuffers(text: string, toJSON: (() => unknown) | undefined) {
  const { id, type, response } = JSON.parse(text);
  const { transports, ...buffers } = response;
  const bytes = Object.entries(buffers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, Uint8Array.from(Buffer.from(value, 'base64url')).buffer]] : [],
  );
  const getTransports = transports === undefined ? undefined : () => transports;
  const rawId = Uint8Array.from(Buffer.from(id, 'base64url')).buffer;
  return { id, rawId, type, response: { ...Object.fromEntries(bytes), getTransports }, toJSON };
}

test.each<[string, (() => unknown) | undefined]>([
  ['is missing', undefined],
  [
    'throws',
    () => {
      throw new TypeError('Illegal invocation');
    },
  ],
  ['returns nothing', () => undefined],
  ['returns the buffers, which are empty objects in JSON', () => ({ id: 'x', response: { clientDataJSON: {} } })],
])('a passkey whose toJSON %s is sent as one of a browser', (_, toJSON) => {
  expect(parseRegistration(created)).not.toBeNull();
  expect(parseRegistration(sentFor(withBuffers(created, toJSON)))).toEqual(parseRegistration(created));
  expect(parseAssertion(used)).not.toBeNull();
  expect(parseAssertion(sentFor(withBuffers(used, toJSON)))).toEqual(parseAssertion(used));
});

test('what toJSON returns is sent as it is', () => {
  expect(sentFor(withBuffers(created, () => JSON.parse(created)))).toBe(JSON.stringify(JSON.parse(created)));
});
