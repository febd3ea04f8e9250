import { isWholePrefix } from '../../domain/keys/api-key.ts';

/**
 * Text from a request, cut to the length of its column: a long header must not roll back an action. NUL, which
 * PostgreSQL refuses, is removed, and an API key, which a client may have put into a header, is shortened to its type. The
 * prefix of a key stays, also that of a key that names its cell.
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

/** The client of a request, in columns of these lengths. */
export function storableClient({ ip, userAgent }: { readonly ip: string; readonly userAgent: string }) {
  return { ip: storable(ip, 45), userAgent: storable(userAgent, 300) };
}

/** Converts PostgreSQL's text of a timestamptz in UTC ("2026-03-01 12:00:00.5+00"), or its JSON form, to "2026-03-01T12:00:00.500Z". */
export function rfc3339(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, text.indexOf('+')).padEnd(3, '0')}Z`;
}

/** The Date of a timestamp in PostgreSQL's JSON; null for null. */
export function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

const YEAR_2000 = Date.UTC(2000, 0);

/** PostgreSQL's binary format of an RFC 3339 timestamp with milliseconds: 64 bits, microseconds since 2000. */
export function bytesOfInstant(text: string): Buffer {
  return bytesOfMicroseconds(microsecondsOf(Date.parse(text)));
}

/** The last timestamp before an instant, in the same format. */
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
