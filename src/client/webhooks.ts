import type { webhooks } from '../../generated/openapi.d.ts';
import { CharterError } from './errors.ts';

// The entry point `charter-client/webhooks`, for programs that receive events. It needs no API key and sends nothing.

/** The events that Charter sends, discriminated by `type`. A newer server may send other types, too. */
export type WebhookEvent = {
  [Name in keyof webhooks]: webhooks[Name]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

/** The `headers` of a `Request`, or of a request in Node. */
export type EventHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The maximum difference between `webhook-timestamp` and the clock. */
export const TOLERANCE_SECONDS = 300;

/**
 * Returns the event in a request that Charter has signed. `body` is the body as it was received, not parsed. `secret` is the
 * secret of the endpoint, or a list of secrets, one of which must match. Throws an `InvalidEventError` for every other request.
 * Throws a TypeError if `body` or `secret` has the wrong type or form.
 */
export async function parseEvent(
  headers: EventHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string | readonly string[] | undefined,
): Promise<WebhookEvent> {
  const keys = keysOf(secret);
  const bytes = bytesOf(body);
  const id = headerIn(headers, 'webhook-id');
  const timestamp = headerIn(headers, 'webhook-timestamp');
  const signatures = headerIn(headers, 'webhook-signature');
  requireRecent(timestamp);
  if (!(await hasSignature({ id, timestamp, body: bytes }, { signatures, keys })))
    throw new InvalidEventError(
      'wrong_signature',
      'The request is not signed with this secret. Is it the secret of this endpoint, and the body exactly as received?',
    );
  return eventIn(bytes);
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError('body must be the text or the bytes of the request, before any JSON parser has read them.');
}

function headerIn(headers: EventHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : valueIn(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidEventError('missing_header', `The request has no header ${name}.`);
}

function isHeaders(headers: EventHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

/** Returns the value of a header. Frameworks differ in the letter case of header names. */
function valueIn(headers: Readonly<Record<string, unknown>>, name: string): unknown {
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(' ') : value;
}

function requireRecent(timestamp: string): void {
  if (!/^\d{1,10}$/.test(timestamp))
    throw new InvalidEventError('invalid_timestamp', 'The header webhook-timestamp is not a number of seconds.');
  const ageSeconds = Math.floor(Date.now() / 1000) - Number(timestamp);
  if (Math.abs(ageSeconds) <= TOLERANCE_SECONDS) return;
  const [reason, where] =
    ageSeconds > 0 ? (['timestamp_too_old', 'ago'] as const) : (['timestamp_too_new', 'in the future'] as const);
  throw new InvalidEventError(
    reason,
    `The request was sent ${Math.abs(ageSeconds)} seconds ${where}; at most ${TOLERANCE_SECONDS} are allowed. Is the clock right?`,
  );
}

function eventIn(bytes: Uint8Array): WebhookEvent {
  const value = parseOrUndefined(bytes);
  // The assertion relies on the signature, which proves that the server sent the body.
  if (isEvent(value)) return value as WebhookEvent;
  throw new InvalidEventError('invalid_body', 'The request is signed, but its body is not an event.');
}

/** Returns the parsed JSON, or `undefined` if the bytes are not JSON in UTF-8. */
function parseOrUndefined(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Returns whether the value looks like an event of the contract. */
function isEvent(value: unknown): boolean {
  const { id, type, timestamp, data } = Object(value);
  return [id, type, timestamp].every((each) => typeof each === 'string') && typeof data === 'object' && data !== null;
}

/** Why a request is not accepted as an event. */
export type InvalidEventReason =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'wrong_signature'
  | 'invalid_body';

/**
 * The request does not come from Charter, or is not recent. Respond with 400. No message contains a secret or a part of the body.
 */
export class InvalidEventError extends CharterError {
  readonly reason: InvalidEventReason;

  constructor(reason: InvalidEventReason, message: string) {
    super('InvalidEventError', message);
    this.reason = reason;
  }
}

// The version of the signatures in Standard Webhooks (standardwebhooks.com).

const SIGNATURE_VERSION = 'v1';
const SECRET = /^whsec_([A-Za-z0-9+/]{32,})={0,2}$/;

/** The parts of a message that are signed. */
type Signed = { readonly id: string; readonly timestamp: string; readonly body: Uint8Array };

/**
 * Returns the bytes of each secret. Throws a TypeError for a value that cannot be a secret. The message does not contain the
 * value.
 */
function keysOf(secret: unknown): readonly Uint8Array<ArrayBuffer>[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw new TypeError('secret is an empty list. Give the secret of the endpoint.');
  return secrets.map((each) => {
    if (typeof each !== 'string' || each === '')
      throw new TypeError('secret is missing or empty. Give the secret of the endpoint, which begins with whsec_.');
    if (each.trim() !== each)
      throw new TypeError('secret begins or ends with a blank or a line break. Remove it, such as with trim().');
    const [, base64] = SECRET.exec(each) ?? [];
    if (base64 === undefined || base64.length % 4 === 1)
      throw new TypeError('secret is not the secret of an endpoint, which is whsec_ and base64. Copy it whole.');
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  });
}

/** Returns whether a signature in the header was made with one of the keys. Ignores signatures of other versions. */
async function hasSignature(
  message: Signed,
  { signatures, keys }: { signatures: string; keys: readonly Uint8Array<ArrayBuffer>[] },
): Promise<boolean> {
  // Several headers with the same name are joined with a comma and a space.
  const given = signatures.split(/,? +/);
  const expected = await Promise.all(keys.map((key) => signatureOf(message, key)));
  return expected.some((right) => given.some((signature) => isSame(signature, right)));
}

async function signatureOf({ id, timestamp, body }: Signed, secret: Uint8Array<ArrayBuffer>): Promise<string> {
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const bytes = new Uint8Array(start.length + body.length);
  bytes.set(start);
  bytes.set(body, start.length);
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
  return `${SIGNATURE_VERSION},${btoa(String.fromCharCode(...mac))}`;
}

/**
 * Compares in constant time. The attack: if the time depended on the number of right characters, an attacker could guess the
 * signature one character after the other.
 */
function isSame(given: string, right: string): boolean {
  if (given.length !== right.length) return false;
  let difference = 0;
  for (let i = 0; i < right.length; i += 1) difference |= given.charCodeAt(i) ^ right.charCodeAt(i);
  return difference === 0;
}
