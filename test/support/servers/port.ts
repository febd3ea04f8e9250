import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('It does not listen on a port.');
  return address.port;
}

/** Lets the server listen on any free port of 127.0.0.1, and returns the port. */
export async function listenLocally(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return portOf(server.address());
}

/** Closes the server with its connections, and resolves when they are closed. */
export function closeNow(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

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
