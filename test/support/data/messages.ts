import { randomBytes, randomUUID } from 'node:crypto';
import { SECRET_BYTES, secretText, signatureOf } from '../../../src/domain/webhooks/webhook-message.ts';

/** The secret of an endpoint: the bytes, and the text that people copy. */
type TestSecret = { readonly bytes: Uint8Array; readonly text: string };

export function newSecret(): TestSecret {
  const bytes = randomBytes(SECRET_BYTES);
  return { bytes, text: secretText(bytes) };
}

export type Message = { readonly headers: Record<string, string>; readonly body: string };

/**
 * Returns an event as Charter sends it, signed with each of the secrets. `ageSeconds` is how long ago Charter sent it, for a
 * message that is replayed.
 */
export function messageOf(
  event: { readonly id: string; readonly type: string; readonly data: object },
  secrets: readonly TestSecret[],
  { ageSeconds = 0 }: { ageSeconds?: number } = {},
): Message {
  const { id, type, data } = event;
  const body = JSON.stringify({ id, type, timestamp: '2026-03-19T09:02:51.341Z', data });
  const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
  const signature = signatureOf(
    { id, timestamp, body },
    secrets.map(({ bytes }) => bytes),
  );
  return {
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
    },
    body,
  };
}

/** Returns the event of an update of a parent program. By default, the name of the program is not ASCII. */
export function newEvent(name = 'Örebro – Nordic Scholars 🎓') {
  return { id: randomUUID(), type: 'parent_program.updated', data: { id: randomUUID(), name } };
}
