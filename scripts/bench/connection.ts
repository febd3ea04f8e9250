import { once } from 'node:events';
import { connect } from 'node:net';

export type Asking = {
  /** The next request, as bytes. */
  readonly next: () => Buffer;
  /** By performance.now(); no request is sent later. */
  readonly until: number;
  /** Told of each answer, and how long it took. */
  readonly onAnswer: (status: number, milliseconds: number, isInTime: boolean) => void;
};

export type Connection = {
  /** Resolves once the time is over and the last answer is there. */
  keepAsking(asking: Asking): Promise<void>;
  close(): Promise<void>;
};

const PATIENCE_MS = 10_000;
const HEAD_END = '\r\n\r\n';

/**
 * One that is kept busy: a request, its answer, the next one. Reads no more of HTTP than that takes, which leaves most of
 * the machine to what is measured; so an answer's head must come in one piece and tell its length. Rejects when the server
 * ends the connection, or keeps it waiting for ten seconds.
 */
export async function openConnection(origin: string): Promise<Connection> {
  const { hostname, port } = new URL(origin);
  const ended = Promise.withResolvers<never>();
  let read: (bytes: Buffer) => void = () => undefined;
  const socket = connect({
    ...{ host: hostname, port: Number(port), noDelay: true },
    onread: {
      buffer: Buffer.allocUnsafe(64 * 1024),
      callback(size, { buffer, byteOffset }) {
        read(Buffer.from(buffer, byteOffset, size));
        return true;
      },
    },
  });
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`${origin} has not answered for ten seconds.`)));
  socket.on('error', ended.reject);
  socket.on('close', () => ended.reject(new Error(`${origin} ended a connection.`)));
  ended.promise.catch(() => undefined); // It is heard of where somebody waits.
  await Promise.race([once(socket, 'connect'), ended.promise]);

  function keepAsking({ next, until, onAnswer }: Asking): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sentAt = 0;
    let status = 0;
    /** Bytes of the answer that are still to come; null: none has come. */
    let missing: number | null = null;

    function ask(now: number): void {
      sentAt = now;
      missing = null;
      if (now < until) socket.write(next());
      else resolve();
    }

    read = (bytes) => {
      missing = (missing ?? lengthOf(bytes)) - bytes.length;
      if (missing > 0) return;
      if (missing < 0) return void socket.destroy(new Error(`${origin} sends more than it announced.`));
      const now = performance.now();
      onAnswer(status, now - sentAt, now < until);
      ask(now);
    };

    /** Of the whole answer, by what comes of it first. */
    function lengthOf(bytes: Buffer): number {
      const headLength = bytes.indexOf(HEAD_END) + HEAD_END.length;
      const head = bytes.toString('latin1', 0, headLength);
      status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      const length = status === 304 ? '0' : /\r\nContent-Length: (\d+)/i.exec(head)?.[1];
      if (length !== undefined) return headLength + Number(length);
      socket.destroy(new Error(`${origin} answers ${status || 'in pieces'} without a Content-Length.`));
      return Number.POSITIVE_INFINITY;
    }

    ask(performance.now());
    return Promise.race([promise, ended.promise]);
  }

  async function close(): Promise<void> {
    const closed = once(socket, 'close');
    socket.end();
    await closed;
  }

  return { keepAsking, close };
}
