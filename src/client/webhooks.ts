// The entry point `charter-client/webhooks`, for programs that receive events. It needs no API key and sends nothing.
import type { webhooks } from '../../generated/openapi.d.ts';
import { InvalidEventError } from './webhook-errors.ts';
import { hasSignature, keysOf } from './webhook-signature.ts';

export { InvalidEventError, type InvalidEventReason } from './webhook-errors.ts';

/** Every event that Charter sends, discriminated by `type`. A newer server may send a type that is not among them. */
export type WebhookEvent = {
  [Name in keyof webhooks]: webhooks[Name]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

/** The `headers` of a `Request`, or of a request in Node. */
export type EventHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How much `webhook-timestamp` may differ from the clock. */
export const TOLERANCE_SECONDS = 300;

/**
 * The event in a request that Charter has signed. `body` is the body as it was received, before any JSON parser. `secret` is
 * that of the endpoint, or a list of secrets: one of them must have signed. Throws an `InvalidEventError` for every other
 * request, and a TypeError if `body` or `secret` cannot be right, whatever the request.
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
  checkTimestamp(timestamp);
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

/** Frameworks differ in the case of the names. */
function valueIn(headers: Readonly<Record<string, unknown>>, name: string): unknown {
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(' ') : value;
}

function checkTimestamp(timestamp: string): void {
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
  const value = parsed(bytes);
  // The signature proves that the server sent it, and the types are those of its contract.
  if (isEvent(value)) return value as WebhookEvent;
  throw new InvalidEventError('invalid_body', 'The request is signed, but its body is not an event.');
}

/** Undefined if the bytes are not JSON in UTF-8. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Whether it has what every event of the contract has. */
function isEvent(value: unknown): boolean {
  const { id, type, timestamp, data } = Object(value);
  return [id, type, timestamp].every((each) => typeof each === 'string') && typeof data === 'object' && data !== null;
}
