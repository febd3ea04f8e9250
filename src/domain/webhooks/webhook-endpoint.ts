import { invalidField } from '../errors.ts';
import { EVENT_TYPES, type EventType } from '../resources/events.ts';
import { isForbiddenAddress, type WebhookTargets } from './forbidden-address.ts';

// A webhook endpoint: the URL to which an organization has its events sent.

/** The maximum number of endpoints of an organization. */
export const MAX_ENDPOINTS = 10;
export const MAX_URL_CHARACTERS = 2000;
/** How long the previous secret also signs after a rotation. */
export const PREVIOUS_SECRET_HOURS = 24;
/** An endpoint is disabled after this number of days without a successful attempt. */
export const MAX_FAILING_DAYS = 5;
/** The bytes of a receiver's response that are read and stored. */
export const MAX_RECEIVER_BODY_BYTES = 1024;

/** The type of the event that people send to try an endpoint. It is no change, and not in the feed. */
export const TEST_EVENT_TYPE = 'webhook.test';

/** Why an endpoint is disabled: by a user, because its receiver responded with 410, or after days of failures alone. */
export type DisabledReason = 'user' | 'gone' | 'failing';

/**
 * The URL in its normal form. Throws an error for the field "url". The address that the name of a host stands for is checked
 * with each connection, because it can change; here only an address that the URL itself contains is refused.
 */
export function parseEndpointUrl(text: string, { allowHttp, allowedNetworks }: WebhookTargets): string {
  const url = URL.parse(text.trim());
  if (url === null || url.hostname === '')
    throw invalidField('url', 'must be a whole URL, such as https://example.org/webhooks.');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowHttp)) throw invalidField('url', NOT_HTTPS);
  if (url.username !== '' || url.password !== '')
    throw invalidField(
      'url',
      'must not contain a user name or a password. Verify the signature of each event instead.',
    );
  if (url.href.includes('#'))
    throw invalidField('url', 'must not contain a fragment, which is never sent. Remove the "#" and what follows it.');
  const address = addressIn(url);
  if (address !== null && isForbiddenAddress(address, allowedNetworks)) throw invalidField('url', FORBIDDEN_ADDRESS);
  if (url.href.length > MAX_URL_CHARACTERS)
    throw invalidField('url', `must have at most ${MAX_URL_CHARACTERS} characters; it has ${url.href.length}.`);
  return url.href;
}

/** A receiver on this machine usually needs both. */
const FOR_A_TEST =
  'For a test, an operator of Charter can allow http:// with WEBHOOKS_ALLOW_HTTP, and addresses of this machine and of ' +
  'private networks with WEBHOOKS_ALLOWED_NETWORKS.';
const NOT_HTTPS = `must begin with https://, so that nobody can read or change what is sent. ${FOR_A_TEST}`;
const FORBIDDEN_ADDRESS =
  'must not have an address of this machine or of a private or reserved network. Use a host that the internet can reach. ' +
  FOR_A_TEST;

/** The IP address that the URL contains, in its normal form; `null` if it contains a name. */
function addressIn({ hostname }: URL): string | null {
  // RFC 6761 section 6.3: every name under "localhost" stands for the loopback address.
  if (/(^|\.)localhost\.?$/.test(hostname)) return '127.0.0.1';
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+(\.\d+){3}$/.test(hostname) ? hostname : null;
}

/** The types, each once and in the order of EVENT_TYPES. Throws an error for the field "event_types". */
export function parseEventTypes(texts: readonly string[]): EventType[] {
  if (texts.length === 0) throw invalidField('event_types', 'must have at least one event chosen.');
  if (!texts.every((text) => EVENT_TYPES.some((type) => type === text)))
    throw invalidField('event_types', 'must be among the events that the form offers.');
  return EVENT_TYPES.filter((type) => texts.includes(type));
}
