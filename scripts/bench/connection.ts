import { once } from 'node:events';
import { connect } from 'node:net';

export type SendOptions = {
  /** Returns the next request. */
  readonly next: () => Buffer;
  /** The time after which no request is sent, from `performance.now()`. */
  readonly until: number;
  /** Ends it earlier. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the status and duration of each response. */
  readonly onResponse: (status: number, milliseconds: number, isInTime: boolean) => void;
};

export type Connection = {
  /** Resolves when the time is over, or the signal has come, and the last response has arrived. */
  sendUntil(options: SendOptions): Promise<void>;
  close(): Promise<void>;
};

const TIMEOUT_MS = 10_000;
const HEAD_END = '\r\n\r\n';

/**
 * A keep-alive connection that sends the next request as soon as it has the response. It parses as little HTTP as possible,
 * to leave the processor to the servers; so the head of a response must arrive in one piece and contain `Content-Length`.
 * Rejects if the server closes the connection or sends nothing for ten seconds.
 */
export async function openConnection(origin: string): Promise<Connection> {
  const { hostname, port } = new URL(origin);
  const closed = Promise.withResolvers<never>();
  let read: (bytes: Buffer) => void = () => undefined;
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(64 * 1024),
      callback(size, { buffer, byteOffset }) {
        read(Buffer.from(buffer, byteOffset, size));
        return true;
      },
    },
  });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`${origin} sent nothing for ten seconds.`)));
  socket.on('error', closed.reject);
  socket.on('close', () => closed.reject(new Error(`${origin} closed a connection.`)));
  closed.promise.catch(() => undefined); // Those who wait for it handle the rejection.
  await Promise.race([once(socket, 'connect'), closed.promise]);

  function sendUntil({ next, until, signal, onResponse }: SendOptions): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sentAt = 0;
    let status = 0;
    /** Bytes of the response that have not arrived; null before the first. */
    let missing: number | null = null;

    function send(now: number): void {
      sentAt = now;
      missing = null;
      if (now < until && signal?.aborted !== true) socket.write(next());
      else resolve();
    }

    read = (bytes) => {
      missing = (missing ?? lengthOf(bytes)) - bytes.length;
      if (missing > 0) return;
      if (missing < 0) return void socket.destroy(new Error(`${origin} sent more than its Content-Length.`));
      const now = performance.now();
      onResponse(status, now - sentAt, now < until);
      send(now);
    };

    /** The length of the whole response, from its head. */
    function lengthOf(bytes: Buffer): number {
      const headLength = bytes.indexOf(HEAD_END) + HEAD_END.length;
      const head = bytes.toString('latin1', 0, headLength);
      status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      const length = status === 304 ? '0' : /\r\nContent-Length: (\d+)/i.exec(head)?.[1];
      if (length !== undefined) return headLength + Number(length);
      socket.destroy(
        new Error(`The response of ${origin} (${status || 'head in several pieces'}) has no Content-Length.`),
      );
      return Number.POSITIVE_INFINITY;
    }

    send(performance.now());
    return Promise.race([promise, closed.promise]);
  }

  async function close(): Promise<void> {
    const closing = once(socket, 'close');
    socket.end();
    await closing;
  }

  return { sendUntil, close };
}
