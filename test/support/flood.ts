import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type Flood = {
  /** How often each status was received so far. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly sockets: readonly Socket[];
  /** Closes the connections, whatever was answered. */
  stop(): Promise<void>;
};

/** Sends requests over several connections without waiting for responses: the text of each, so many times. */
export async function flood(
  url: string,
  { connections, requests, text }: { connections: number; requests: number; text: (connection: number) => string },
): Promise<Flood> {
  const statuses = new Map<number, number>();
  const port = Number(new URL(url).port);
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => {});
    let rest = '';
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\r\n');
      // A line may arrive in two pieces. The status line follows the body of the previous response.
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const status = Number(/HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? 0);
        if (status > 0) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
  }
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const [i, socket] of sockets.entries()) socket.write(text(i).repeat(requests));
  return {
    statuses,
    sockets,
    async stop() {
      await Promise.all(
        sockets.map((socket) => {
          const closed = socket.closed ? undefined : once(socket, 'close');
          socket.resetAndDestroy();
          return closed;
        }),
      );
    },
  };
}

/** A request without a body in HTTP/1.1 text, over a connection that stays open. */
export function keptRequest(line: string, headers: readonly string[] = []): string {
  return [`${line} HTTP/1.1`, 'Host: charter.test', ...headers, '', ''].join('\r\n');
}
