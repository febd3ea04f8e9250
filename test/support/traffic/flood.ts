import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

type Flood = {
  /** How often each status was received so far. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly sockets: readonly Socket[];
  /** Resets all connections, including those that wait for responses. */
  stop(): Promise<void>;
} & AsyncDisposable;

/** The kernel resets connections of a listener that has more than 511 waiting. */
const OPENED_AT_ONCE = 100;

type FloodOptions = {
  readonly connections: number;
  /** Requests of each connection that are sent without waiting for responses. */
  readonly requests: number;
  /** The text of one request; `number` is another one each time. */
  readonly text: (number: number) => string;
  /** Sends another request for each response, until the flood is stopped. */
  readonly isEndless?: boolean;
};

/** Sends many requests over several connections. */
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
      // A line may arrive in two pieces. The status line follows the body of the previous response.
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

/** A request without a body in HTTP/1.1 text, over a connection that stays open. */
export function keptRequest(line: string, headers: readonly string[] = []): string {
  return [`${line} HTTP/1.1`, 'Host: charter.test', ...headers, '', ''].join('\r\n');
}
