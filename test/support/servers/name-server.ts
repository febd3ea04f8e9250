import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const TXT = 16;
const NOT_FOUND = 3;
const FAILURE = 2;

export type NameServer = {
  /** Such as "127.0.0.1:53000". */
  readonly address: string;
  /** The TXT records by name; null for a failure of the server. */
  readonly records: Map<string, readonly string[] | null>;
};

/** A name server (RFC 1035) for TXT records, closed after the tests of a file. */
export async function useNameServer(): Promise<NameServer> {
  const records: NameServer['records'] = new Map();
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let end = HEADER_BYTES;
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const found = query.readUInt16BE(end + 1) === TXT ? records.get(labels.join('.').toLowerCase()) : undefined;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 + (found === null ? FAILURE : found === undefined ? NOT_FOUND : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(found?.length ?? 0, 6);
    const answers = (found ?? []).map((text) => {
      const data = Buffer.from(text, 'latin1');
      const head = Buffer.from([0xc0, HEADER_BYTES, 0, TXT, 0, 1, 0, 0, 0, 0, 0, data.length + 1, data.length]);
      return Buffer.concat([head, data]);
    });
    server.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end + 5), ...answers]), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => server.close());
  return { address: `127.0.0.1:${server.address().port}`, records };
}
