import { hash, timingSafeEqual } from 'node:crypto';
import { invalidField } from '../domain/errors.ts';
import type { Position } from '../store/parent-program-pages.ts';

// A cursor is base64url of: 16 bytes of a keyed SHA-256, 16 bytes of the row's id, the row's sort value. The MAC's key is
// the organization's own and its text holds the list's order and filters, so that a cursor that was forged, or taken
// from another organization or another list, is refused rather than followed.

const MAC_BYTES = 16;
const ID_BYTES = 16;

/** `list` tells one list from another: its order and filters. */
export type CursorSeal = { readonly key: Buffer; readonly list: string };

export function sealCursor(seal: CursorSeal, { value, id }: Position): string {
  const payload = Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), Buffer.from(value)]);
  return Buffer.concat([macOf(seal, payload), payload]).toString('base64url');
}

export function openCursor(seal: CursorSeal, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(MAC_BYTES);
  const isOurs = payload.length >= ID_BYTES && timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(seal, payload));
  // Decoding forgives stray bits at the end of base64url; a cursor has one spelling only.
  if (!isOurs || bytes.toString('base64url') !== cursor) {
    throw invalidField(
      'cursor',
      'does not belong to this list. Repeat the sort and the filters that it came with, or start without a cursor.',
    );
  }
  // PostgreSQL reads a uuid without its hyphens, too.
  return { id: payload.toString('hex', 0, ID_BYTES), value: payload.toString('utf8', ID_BYTES) };
}

/** The next page as a relative reference (RFC 8288 section 3.1): behind a proxy, only the client knows the address that it called. */
export function nextPage(path: string, query: Readonly<Record<string, unknown>>, next: string): string {
  const { cursor: _, ...others } = query;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...others, cursor: next })) parameters.set(name, String(value));
  return `${path}?${parameters}`;
}

/** The half of the hash that is cut off keeps anybody from extending a text. HMAC would make a key object each time, at ten times the cost. */
function macOf({ key, list }: CursorSeal, payload: Buffer): Buffer {
  return hash('sha256', Buffer.concat([key, Buffer.from(`${list}\0`), payload]), 'buffer').subarray(0, MAC_BYTES);
}
