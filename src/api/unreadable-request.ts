import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Exception, exceptionOf, HttpError } from './exceptions.ts';
import { MAX_URL_BYTES, urlTooLong } from './request-target.ts';

export type UnreadableOptions = {
  /** By name; sent with every response. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  readonly onUnreadable: (unreadable: Unreadable) => void;
};

export type Unreadable = { readonly requestId: string; readonly status: number; readonly code: string | undefined };

/**
 * Answers input that is not readable HTTP with the contract's exception, and closes the connection: such input reaches no
 * middleware, and Node's own response is not in the contract. It sends nothing while an earlier request of the connection
 * still waits for its response, because the client would take this response for that one.
 */
export function answerUnreadable(server: Server, { securityHeaders, onUnreadable }: UnreadableOptions): void {
  const responses = new WeakMap<Duplex, ServerResponse[]>();
  const remember = ({ socket }: IncomingMessage, res: ServerResponse) => {
    const before = responses.get(socket);
    if (before === undefined) return void responses.set(socket, [res]);
    // Responses leave in the order of their requests. Without this, one connection could fill the memory.
    while (before[0]?.writableFinished === true) before.shift();
    before.push(res);
  };
  server.on('request', remember);
  server.on('checkExpectation', remember);
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    const isAwaited =
      responses.get(socket)?.some(({ writableFinished, req }) => !writableFinished && req.complete) === true;
    const isAnswerable = error.code !== 'ECONNRESET' && socket.writable && !isAwaited;
    if (!isAnswerable) return void socket.destroy();
    const requestId = randomUUID();
    const exception = exceptionOf(reasonOf(error));
    onUnreadable({ requestId, status: exception.status, code: error.code });
    socket.end(messageOf(exception, { 'X-Request-Id': requestId, ...securityHeaders }));
  });
}

function reasonOf({ code, rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new HttpError('bad_request', 'The request did not arrive within 30 seconds.');
  if (code !== 'HPE_HEADER_OVERFLOW') return new HttpError('bad_request', 'The request is not readable HTTP/1.1.');
  const firstLineBytes = rawPacket?.indexOf('\r\n') ?? 0;
  if (firstLineBytes < 0 || firstLineBytes > MAX_URL_BYTES) {
    return urlTooLong();
  }
  return new HttpError(
    'bad_request',
    'The URL and the headers are larger than 16 KiB together. Send fewer or shorter headers.',
  );
}

function messageOf({ status, body }: Exception, ownHeaders: Readonly<Record<string, string>>): string {
  const text = JSON.stringify(body);
  const headers = {
    ...ownHeaders,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
}
