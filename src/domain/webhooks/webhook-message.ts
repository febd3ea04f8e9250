import { createHmac } from 'node:crypto';
import { TEST_EVENT_TYPE } from './webhook-endpoint.ts';

/** Returns the body of a test event, in the form of the events that `GET /api/events/{id}` returns. */
export function testEventBody({
  messageId,
  createdAt,
}: {
  readonly messageId: string;
  readonly createdAt: Date;
}): string {
  return JSON.stringify({ id: messageId, type: TEST_EVENT_TYPE, timestamp: createdAt.toISOString(), data: {} });
}

// Signatures follow version 1 of Standard Webhooks (standardwebhooks.com): HMAC-SHA256 with the endpoint's secret.

/** The length of a signing secret. */
export const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';

/** Returns the secret as people copy it: "whsec_" and the bytes in base64. */
export function secretText(secret: Uint8Array): string {
  return `${SECRET_PREFIX}${Buffer.from(secret).toString('base64')}`;
}

export type SignedMessage = {
  /** The value of the header webhook-id, which is the same for every attempt. */
  readonly id: string;
  /** The value of the header webhook-timestamp: the time of the attempt in seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
};

/** Returns the value of the header webhook-signature: one signature for each secret, separated by spaces. */
export function signatureOf({ id, timestamp, body }: SignedMessage, secrets: readonly Uint8Array[]): string {
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ');
}
