import { connect } from 'node:net';

export type Asking = {
  readonly origin: string;
  /** Sent in turn, over and over: requests as bytes. */
  readonly requests: readonly Buffer[];
  /** No request is sent later, by performance.now(). */
  readonly until: number;
  /** The status of each answer, and how long it took. */
  readonly onAnswer: (status: number, milliseconds: number) => void;
};

const PATIENCE_MS = 10_000;
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Keeps one connection busy: a request, its answer, the next one. Understands no more of HTTP than that, so that most of the
 * machine is left to what is measured; an answer must tell its length. Rejects when the server ends the connection.
 */
export function keepAsking({ origin, requests, until, onAnswer }: Asking): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { hostname, port } = new URL(origin);
  let turn = 0;
  let sentAt = 0;
  let status = 0;
  let head = '';
  let missing = 0;

  function next(): void {
    sentAt = performance.now();
    if (sentAt >= until) {
      socket.end();
      resolve();
      return;
    }
    head = '';
    missing = -1;
    socket.write(requests[turn++ % requests.length] ?? '');
  }

  function read(bytes: Buffer): void {
    if (missing >= 0) missing -= bytes.length;
    else readHead(bytes);
    if (missing !== 0) return;
    onAnswer(status, performance.now() - sentAt);
    next();
  }

  function readHead(bytes: Buffer): void {
    const end = bytes.indexOf(HEAD_END);
    head += bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
    if (end < 0) return;
    status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    const length = status === 304 ? 0 : Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1]);
    if (Number.isNaN(length)) socket.destroy(new Error(`${origin} answers ${status} without a Content-Length.`));
    missing = length - (bytes.length - end - HEAD_END.length);
  }

  const socket = connect({
    ...{ host: hostname, port: Number(port), noDelay: true },
    onread: {
      buffer: Buffer.allocUnsafe(64 * 1024),
      callback(size, buffer) {
        read(Buffer.from(buffer.buffer, buffer.byteOffset, size));
        return true;
      },
    },
  });
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`${origin} has not answered for 10 seconds.`)));
  socket.on('connect', next);
  socket.on('error', reject);
  socket.on('close', () => reject(new Error(`${origin} ended a connection.`)));
  return promise;
}
