import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../servers/port.ts';

export type DatabaseProxy = {
  /** The database URL that leads through the proxy. */
  readonly url: string;
  /** Closes every connection and accepts no new one, as if PostgreSQL had been killed. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Resets every open connection, as a firewall does that loses its state. */
  reset(): void;
} & AsyncDisposable;

/**
 * Starts a proxy between a server and its database, so that one test can stop "the database" while other tests continue to use
 * the database. `join` forwards what one side sends to the other side.
 */
export async function proxyDatabase(
  databaseUrl: string,
  join: (inward: Socket, outward: Socket) => void = pipeBothWays,
): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect({ host: target.hostname, port: Number(target.port) });
    endTogether(inward, outward, open);
    endTogether(outward, inward, open);
    join(inward, outward);
  });
  const port = await freePort('127.0.0.1');
  const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen();
  const url = new URL(databaseUrl);
  url.port = String(port);
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  return {
    url: url.href,
    stop,
    [Symbol.asyncDispose]: stop,
    start: listen,
    reset() {
      for (const socket of open) socket.resetAndDestroy();
    },
  };
}

function pipeBothWays(inward: Socket, outward: Socket): void {
  inward.pipe(outward);
  outward.pipe(inward);
}

function endTogether(from: Socket, to: Socket, open: Set<Socket>): void {
  open.add(from);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    open.delete(from);
    to.destroy();
  });
}
