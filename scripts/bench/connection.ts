import { connect } from 'node:net';

export type Asking = {
  readonly origin: string;
  /** Sent in turn, over and over, as bytes. */
  readonly requests: readonly Buffer[];
  /** By performance.now(); no request is sent later. */
  readonly until: number;
  /** Told of each answer, and how long it took. */
  readonly onAnswer: (status: number, milliseconds: number) => void;
};

const PATIENCE_MS = 10_000;
const HEAD_END = '\r\n\r\n';

/**
 * Keeps one connection busy: a request, its answer, the next one. Reads no more of HTTP than that takes, which leaves most
 * of the machine to what is measured; so an answer's head must come in one piece and tell its length. Resolves once the
 * time is over and the last answer is there; rejects when the server ends the connection, or keeps it waiting for ten
 * seconds.
 */
export function keepAsking({ origin, requests, until, onAnswer }: Asking): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { hostname, port } = new URL(origin);
  let turn = 0;
  let sentAt = 0;
  let status = 0;
  /** Bytes of the answer that are still to come; null: none has come. */
  let missing: number | null = null;

  function ask(): void {
    sentAt = performance.now();
    missing = null;
    if (sentAt < until) socket.write(requests[turn++ % requests.length] ?? '');
    else socket.end(resolve);
  }

  function read(bytes: Buffer): void {
    missing = (missing ?? lengthOf(bytes)) - bytes.length;
    if (missing > 0) return;
    if (missing < 0) return void socket.destroy(new Error(`${origin} sends more than it announced.`));
    onAnswer(status, performance.now() - sentAt);
    ask();
  }

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
  socket.on('connect', ask);
  socket.on('error', reject);
  socket.on('close', () => reject(new Error(`${origin} ended a connection.`)));
  return promise;
}
