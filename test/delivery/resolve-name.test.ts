import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { resolveName } from '../../src/delivery/resolve-name.ts';

const A = 1;
const AAAA = 28;
const HEADER_BYTES = 12;
const NOT_FOUND = 3;

const RECORDS: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>> = {
  'both.example': { [A]: [93, 184, 215, 14], [AAAA]: [0x26, 6, 0x28, 0, ...Array<number>(11).fill(0), 1] },
  'old.example': { [A]: [127, 0, 0, 1] },
};

/** A name server (RFC 1035) with these records. */
const server = createSocket('udp4');
server.on('message', (query, { port, address }) => {
  const labels: string[] = [];
  let end = HEADER_BYTES;
  for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
    labels.push(query.toString('latin1', end + 1, end + 1 + length));
    end += 1 + length;
  }
  const type = query.readUInt16BE(end + 1);
  const records = RECORDS[labels.join('.')];
  const data = records?.[type];
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 + (records === undefined ? NOT_FOUND : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(data === undefined ? 0 : 1, 6);
  const answer = data === undefined ? [] : [0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data];
  server.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end + 5), Buffer.from(answer)]), port, address);
});

server.bind(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => server.close());

const resolve = (name: string) => resolveName(name, [`127.0.0.1:${server.address().port}`]);

test('the addresses of a name are those of IPv4 first, then those of IPv6', async () => {
  expect(await resolve('both.example')).toEqual(['93.184.215.14', '2606:2800::1']);
  expect(await resolve('old.example')).toEqual(['127.0.0.1']);
});

test('a name without an address is an error', async () => {
  await expect(resolve('nowhere.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('localhost, and every name under it, is the loopback address, whatever DNS says', async () => {
  for (const name of ['localhost', 'localhost.', 'hook.localhost'])
    expect(await resolve(name)).toEqual(['127.0.0.1', '::1']);
});
