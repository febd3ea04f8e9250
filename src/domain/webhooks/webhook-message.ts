import { createHmac } from 'node:crypto';
import { TEST_EVENT_TYPE } from './webhook-endpoint.ts';

/** What is sent as a test event, in the form of the events that `GET /api/events/{id}` returns. */
export function testEventBody({
  messageId,
  createdAt,
}: {
  readonly messageId: string;
  readonly createdAt: Date;
}): string {
  return JSON.stringify({ id: messageId, type: TEST_EVENT_TYPE, timestamp: createdAt.toISOString(), data: {} });
}

// The signature of Standard Webhooks (standardwebhooks.com), version 1: HMAC-SHA256 with the endpoint's secret.

/** The key of a signature. */
export const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';

/** The secret as people copy it: "whsec_" and the bytes in base64. */
export function secretText(secret: Uint8Array): string {
  return `${SECRET_PREFIX}${Buffer.from(secret).toString('base64')}`;
}

export type SignedMessage = {
  /** The webhook-id, the same for every attempt. */
  readonly id: string;
  /** The webhook-timestamp: the time of the attempt, in seconds since 1970. */
  readonly timestamp: number;
  /** The bytes that are sent, as text. */
  readonly body: string;
};

/** The webhook-signature: one signature for each secret, separated by spaces. */
export function signatureOf({ id, timestamp, body }: SignedMessage, secrets: readonly Uint8Array[]): string {
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ');
}
