import { DomainError } from '../../../src/domain/errors.ts';
import type { WebhookTargets } from '../../../src/domain/forbidden-address.ts';
import { EVENT_TYPES } from '../../../src/domain/resources/events.ts';
import { parseEndpointUrl, parseEventTypes } from '../../../src/domain/webhooks/webhook-endpoint.ts';

const STRICT: WebhookTargets = { allowHttp: false, allowedNetworks: [] };
const OPEN: WebhookTargets = { allowHttp: true, allowedNetworks: ['0.0.0.0/0', '::/0'] };

/** Returns the normal form of the URL, or the message of the refusal. */
function judge(text: string, rules = STRICT): string {
  try {
    return parseEndpointUrl(text, rules);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.message;
  }
}

test.each([
  ['https://example.org/webhooks', 'https://example.org/webhooks'],
  ['  https://example.org  ', 'https://example.org/'],
  ['HTTPS://Example.ORG:443/A?b=c', 'https://example.org/A?b=c'],
  ['https://example.org:8443/', 'https://example.org:8443/'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://198.41.0.4/', 'https://198.41.0.4/'],
  ['https://localhost.example.org/', 'https://localhost.example.org/'],
])('%j is accepted as %j', (text, normal) => {
  expect(judge(text)).toBe(normal);
});

test.each([
  ['', /whole URL, such as https:/],
  ['example.org/webhooks', /whole URL/],
  ['/webhooks', /whole URL/],
  ['https://', /whole URL/],
  ['mailto:ada@example.org', /whole URL/],
  ['http://127.0.0.1:8000/', /begin with https:\/\/.*WEBHOOKS_ALLOW_HTTP.*WEBHOOKS_ALLOWED_NETWORKS/],
  ['https://localhost/', /this machine.*WEBHOOKS_ALLOW_HTTP.*WEBHOOKS_ALLOWED_NETWORKS/],
  ['ftp://example.org/', /begin with https:/],
  ['https://user@example.org/', /user name or a password\. Verify the signature/],
  ['https://:secret@example.org/', /user name or a password/],
  ['https://example.org/#part', /fragment.*Remove/],
  ['https://example.org/#', /fragment/],
  [`https://example.org/${'x'.repeat(1981)}`, /at most 2000 characters; it has 2001/],
])('%j is refused with the remedy', (text, message) => {
  expect(judge(text)).toMatch(message);
});

// The attack: a URL that makes Charter send requests to itself or to its network, in any notation.
test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://①②⑦.0.0.1/',
  'https://localhost/',
  'https://LOCALHOST.:8443/',
  'https://any.localhost/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[0:0:0:0:0:0:0:1]/',
])('%s is refused early, because its address is forbidden', (text) => {
  expect(judge(text)).toMatch(/private or reserved network.*WEBHOOKS_ALLOWED_NETWORKS/);
  expect(judge(text, OPEN)).toMatch(/^https:/);
});

test('http is accepted where the operator allows it, and other schemes never', () => {
  expect(judge('http://127.0.0.1:9000/', OPEN)).toBe('http://127.0.0.1:9000/');
  expect(judge('ftp://example.org/', OPEN)).toMatch(/begin with https/);
});

test('the longest URL has 2,000 characters, as the column', () => {
  const longest = `https://example.org/${'x'.repeat(1980)}`;
  expect(judge(longest)).toBe(longest);
});

test('event types are taken once each and in one order; none and unknown ones are refused', () => {
  expect(parseEventTypes([...EVENT_TYPES, ...EVENT_TYPES].toReversed())).toEqual(EVENT_TYPES);
  expect(() => parseEventTypes([])).toThrow('at least one');
  for (const wrong of ['webhook.test', 'parent_program.*', '', 'toString'])
    expect(() => parseEventTypes(['parent_program.created', wrong])).toThrow('among the events');
});
