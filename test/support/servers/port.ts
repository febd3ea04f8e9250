import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('It does not listen on a port.');
  return address.port;
}

/** Makes the server listen on a free port of 127.0.0.1, and returns the port. */
export async function listenLocally(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return portOf(server.address());
}

/** Closes the server and its connections, and resolves when all are closed. */
export function closeNow(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/**
 * The range of ports for servers, below those that Linux and macOS use for outgoing connections. So no client takes such a port
 * before the server listens on it, or while the server restarts.
 */
const PORTS = [10_000, 32_767] as const;

/** Returns a port that nothing listens on. */
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
