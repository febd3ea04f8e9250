import { isWholePrefix } from '../../domain/keys/api-key.ts';

/**
 * Returns a text of a request in a form that can be stored. The text is cut to the length of its column, because a long header
 * must not roll back an action. NUL, which PostgreSQL refuses, is removed. An API key, which a client may have put into a header,
 * is replaced by "charter_live_…" or "charter_test_…". A text that is only the prefix of a key is kept.
 */
export function storable(text: string, characters: number): string {
  const clean = text
    .toWellFormed()
    .replaceAll('\0', '')
    .replace(/charter_(live|test)_\w{5,}/g, (found, environment) =>
      isWholePrefix(found) ? found : `charter_${environment}_…`,
    );
  return [...clean.slice(0, 2 * characters)].slice(0, characters).join('').toWellFormed();
}

/** Returns a client's address and user agent, cut to the lengths of their columns. */
export function storableClient({ ip, userAgent }: { readonly ip: string; readonly userAgent: string }) {
  return { ip: storable(ip, 45), userAgent: storable(userAgent, 300) };
}

/** Converts PostgreSQL's text of a timestamptz in UTC ("2026-03-01 12:00:00.5+00"), or its JSON form, to "2026-03-01T12:00:00.500Z". */
export function rfc3339(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, text.indexOf('+')).padEnd(3, '0')}Z`;
}

/** Returns the Date of a timestamp in PostgreSQL's JSON; `null` for `null`. */
export function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

const YEAR_2000 = Date.UTC(2000, 0);

/**
 * Converts an RFC 3339 timestamp with milliseconds to PostgreSQL's binary format: the microseconds since 2000-01-01 in 64 bits.
 */
export function bytesOfInstant(text: string): Buffer {
  return bytesOfMicroseconds(microsecondsOf(Date.parse(text)));
}

/** Returns the last timestamp before an instant, in the same binary format as `bytesOfInstant`. */
export function bytesBefore(instant: Date): Buffer {
  return bytesOfMicroseconds(microsecondsOf(instant.getTime()) - 1n);
}

function microsecondsOf(milliseconds: number): bigint {
  return BigInt(milliseconds - YEAR_2000) * 1000n;
}

function bytesOfMicroseconds(microseconds: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(microseconds);
  return bytes;
}
