import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux and macOS give to outgoing connections. A server can listen on such a port later, and again after
 * a restart, because no client's connection takes it meanwhile.
 */
const PORTS = [10_000, 32_767] as const;

/** A port that nothing listens on. */
export async function freePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    if (await isFree(host, port)) return port;
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
