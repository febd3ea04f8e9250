/** An instant as PostgreSQL prints it in UTC, alone ("2026-03-01 12:00:00.5+00") or in JSON, to "2026-03-01T12:00:00.500Z". */
export function rfc3339(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, text.indexOf('+')).padEnd(3, '0')}Z`;
}

const YEAR_2000 = Date.UTC(2000, 0);

/** An RFC 3339 instant, to the millisecond, in PostgreSQL's binary format: 64 bits of microseconds since 2000. */
export function bytesOfInstant(text: string): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(Date.parse(text) - YEAR_2000) * 1000n);
  return bytes;
}
