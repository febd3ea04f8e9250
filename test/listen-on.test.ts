import { createServer } from 'node:net';
import { listenOn } from '../src/listen-on.ts';
import { listenLocally } from './support/servers/port.ts';

const VARIABLES = { host: 'HOST', port: 'PORT' };

test("a port in use and another machine's address are refused with the variable to change", async () => {
  const other = createServer();
  const port = await listenLocally(other);
  await expect(listenOn(createServer(), { host: '127.0.0.1', port }, VARIABLES)).rejects.toMatchObject({
    message: `Port ${port} of 127.0.0.1 is in use.`,
    remedy: 'Stop the program that uses it, or set PORT to another port.',
  });
  other.close();
  await expect(listenOn(createServer(), { host: '192.0.2.1', port: 0 }, VARIABLES)).rejects.toMatchObject({
    message: 'HOST 192.0.2.1 is not an address of this machine.',
    remedy: expect.stringContaining('Set HOST to 127.0.0.1'),
  });
});
