import { invalidField } from '../errors.ts';
import { isForbiddenAddress, type WebhookTargets } from '../forbidden-address.ts';
import { EVENT_TYPES, type EventType } from '../resources/events.ts';

// A webhook endpoint has the URL to which an organization's events are sent.

export const MAX_ENDPOINTS = 10;
export const MAX_URL_CHARACTERS = 2000;
/** How long deliveries are also signed with the previous secret after a rotation. */
export const PREVIOUS_SECRET_HOURS = 24;
/** An endpoint is disabled after this number of days without a successful attempt. */
export const MAX_FAILING_DAYS = 5;
/** The number of bytes of a receiver's response that are read and stored. */
export const MAX_RECEIVER_BODY_BYTES = 1024;

/** The type of the event that people send to test an endpoint. It is not caused by a change, and is not in the feed. */
export const TEST_EVENT_TYPE = 'webhook.test';

/**
 * Why an endpoint is disabled. "user": by a user. "gone": its receiver responded with 410. "failing": all attempts failed for
 * days.
 */
export type DisabledReason = 'user' | 'gone' | 'failing';

/**
 * Returns the normal form of the URL. Throws an error for the field "url". Only an IP address in the URL itself is checked here.
 * The addresses of a host name can change, so they are checked when each connection is made.
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

/** A hint for people who test with a receiver on this machine, for which both settings are usually necessary. */
const FOR_A_TEST =
  'For a test, an operator of Charter can allow http:// with WEBHOOKS_ALLOW_HTTP, and addresses of this machine and of ' +
  'private networks with WEBHOOKS_ALLOWED_NETWORKS.';
const NOT_HTTPS = `must begin with https://, so that nobody can read or change what is sent. ${FOR_A_TEST}`;
const FORBIDDEN_ADDRESS =
  'must not have an address of this machine or of a private or reserved network. Use a host that the internet can reach. ' +
  FOR_A_TEST;

/** Returns the IP address in the URL, in its normal form; `null` if the URL contains a host name. */
function addressIn({ hostname }: URL): string | null {
  // Every name under "localhost" stands for the loopback address (RFC 6761 section 6.3).
  if (/(^|\.)localhost\.?$/.test(hostname)) return '127.0.0.1';
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+(\.\d+){3}$/.test(hostname) ? hostname : null;
}

/** Returns the distinct types, in the order of EVENT_TYPES. Throws an error for the field "event_types". */
export function parseEventTypes(texts: readonly string[]): EventType[] {
  if (texts.length === 0) throw invalidField('event_types', 'must have at least one event chosen.');
  if (!texts.every((text) => EVENT_TYPES.some((type) => type === text)))
    throw invalidField('event_types', 'must be among the events that the form offers.');
  return EVENT_TYPES.filter((type) => texts.includes(type));
}
