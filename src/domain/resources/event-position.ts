// The position of a reader in the feed is an id: the reader has all events up to this id. The ids of events are created by SQL,
// in the migration that creates the table of events. An id contains the time of the organization's version after the change: the
// milliseconds in its first 48 bits, and the microseconds in the 12 bits after the UUID's version.

/** The position before all events. */
export const FEED_START = '00000000-0000-0000-0000-000000000000';

/** Returns the position after every event up to this version (in decimal digits), and before every later event. */
export function positionAt(version: string): string {
  const microseconds = BigInt(version);
  return idOf({ milliseconds: microseconds / 1000n, microseconds: microseconds % 1000n, rest: 'bfff-ffffffffffff' });
}

/** Returns a position from which a reader gets every event with a timestamp at or after the instant. */
export function positionBefore(instant: Date): string {
  // The timestamp of an event is the time of its version, rounded up.
  const microseconds = BigInt(Math.max(instant.getTime(), 1) - 1) * 1000n;
  return idOf({ milliseconds: microseconds / 1000n, microseconds: 0n, rest: 'bfff-ffffffffffff' });
}

export function bytesOfPosition(position: string): Buffer {
  return Buffer.from(position.replaceAll('-', ''), 'hex');
}

export function positionIn(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

type Parts = { readonly milliseconds: bigint; readonly microseconds: bigint; readonly rest: string };

function idOf({ milliseconds, microseconds, rest }: Parts): string {
  const time = milliseconds.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${microseconds.toString(16).padStart(3, '0')}-${rest}`;
}
