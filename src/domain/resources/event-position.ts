// The position of a reader in the feed is an id: the reader has every event up to it. The migration that creates the table of
// events has the SQL that makes their ids. The first 48 bits of an id are the milliseconds and the 12 bits after the UUID's
// version are the microseconds of the organization's version after the change.

/** Before every event. */
export const FEED_START = '00000000-0000-0000-0000-000000000000';

/** After every event up to this version (decimal digits), and before every later event. */
export function positionAt(version: string): string {
  const microseconds = BigInt(version);
  return idOf({ milliseconds: microseconds / 1000n, microseconds: microseconds % 1000n, rest: 'bfff-ffffffffffff' });
}

/** Before every event whose timestamp is at or after the instant. */
export function positionBefore(instant: Date): string {
  // A timestamp is the version's time, rounded up.
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
