import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

type Flood = {
  /** How often each status was received so far. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly sockets: readonly Socket[];
  /** Resets all connections, even those that wait for responses. */
  stop(): Promise<void>;
} & AsyncDisposable;

/**
 * The number of connections that are opened at the same time. The kernel resets connections if more than 511 wait for a listener.
 */
const OPENED_AT_ONCE = 100;

type FloodOptions = {
  readonly connections: number;
  /** The number of requests that each connection sends without waiting for responses. */
  readonly requests: number;
  /** Returns the text of one request. `number` differs for each request. */
  readonly text: (number: number) => string;
  /** Whether each response is followed by another request, until the flood is stopped. */
  readonly isEndless?: boolean;
};

export async function flood(
  url: string,
  { connections, requests, text, isEndless = false }: FloodOptions,
): Promise<Flood> {
  const statuses = new Map<number, number>();
  let number = 0;
  const next = () => text(number++);
  const port = Number(new URL(url).port);
  const sockets: Socket[] = [];
  while (sockets.length < connections) {
    const batch = Array.from({ length: Math.min(OPENED_AT_ONCE, connections - sockets.length) }, () =>
      connect(port, '127.0.0.1').on('error', () => {}),
    );
    await Promise.all(batch.map((socket) => once(socket, 'connect')));
    sockets.push(...batch);
  }
  for (const socket of sockets) {
    let rest = '';
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\r\n');
      // Keeps an incomplete line for the next chunk. A status line directly follows the body of the previous response.
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const status = Number(/HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? 0);
        if (status === 0) continue;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (isEndless) socket.write(next());
      }
    });
  }
  for (const socket of sockets) socket.write(Array.from({ length: requests }, next).join(''));
  const stop = async () => {
    await Promise.all(
      sockets.map((socket) => {
        const closed = socket.closed ? undefined : once(socket, 'close');
        socket.resetAndDestroy();
        return closed;
      }),
    );
  };
  return { statuses, sockets, stop, [Symbol.asyncDispose]: stop };
}

/** Returns a request without a body as HTTP/1.1 text. The connection stays open. */
export function keptRequest(line: string, headers: readonly string[] = []): string {
  return [`${line} HTTP/1.1`, 'Host: charter.test', ...headers, '', ''].join('\r\n');
}
