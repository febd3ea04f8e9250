import { createServer } from 'node:net';
import { portOf } from './port.ts';

/** A port that nothing listens on. */
export async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const port = portOf(server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}
