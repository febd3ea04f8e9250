import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HttpError } from './api/exceptions.ts';
import {
  checkHead,
  type ParseError,
  type RefusalOptions,
  refusalOf,
  responseTextOf,
  type TimeLimits,
} from './api/unreadable-request.ts';
import type { UnreadableRequest } from './domain/request.ts';

export type Connections = {
  /** Makes the next response of each connection its last one, with the header `Connection: close`. */
  drain(): void;
  /**
   * Closes the connections without a request in progress. Call it repeatedly after `drain`, because more connections become idle.
   */
  closeIdle(): void;
  /** Closes all connections immediately, even if requests are in progress. */
  destroy(): void;
  allClosed(): Promise<void>;
};

export type ConnectionsOptions = {
  readonly app: RequestListener;
  readonly limits: TimeLimits;
  /**
   * The number of seconds after which a connection is closed if its client does not read a response. The check can be late by a
   * sixth of that time.
   */
  readonly stalledSeconds: number;
  /** The headers, by name, that are added to the responses to unreadable requests. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  readonly onUnreadable: (unreadable: UnreadableRequest) => void;
};

/** The number of checks within `stalledSeconds` for clients that do not read. */
const CHECKS_PER_STALL = 6;

/** Passes the requests of all connections to the app, answers unreadable requests, and closes connections without a TCP reset. */
export function serveConnections(
  server: Server,
  { app, stalledSeconds, ...refusing }: ConnectionsOptions,
): Connections {
  const connections = new Map<Duplex, Connection>();
  const closed = new EventEmitter();
  let isDraining = false;
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, app, refusing);
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      connection.drop();
      if (connections.size === 0) closed.emit('all');
    });
  });
  const serve: RequestListener = (req, res) => connections.get(req.socket)?.receive(req, res, { isDraining });
  server.on('request', serve);
  // A server may ignore an unknown expectation (RFC 9110 section 10.1.1). By default, Node responds with 417.
  server.on('checkExpectation', serve);
  server.on('clientError', (error: ParseError, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') connection.refuseUnlessArrived(error);
    else connection.refuse(error);
  });
  // Without a listener for CONNECT requests, Node closes the connection without a response.
  server.on('connect', (_req, socket) => connections.get(socket)?.refuseConnect());
  const stalledMs = stalledSeconds * 1000;
  // `server.timeout` is not used, because its timer would restart for each request, which takes 1% of the time of a cached
  // response.
  const checks = setInterval(() => {
    for (const connection of connections.values()) connection.watchIfUnread(stalledMs);
  }, stalledMs / CHECKS_PER_STALL).unref();
  // A client may close its sending side and still wait for responses. By default, Node would close the connection in that case.
  Object.assign(server, { httpAllowHalfOpen: true });
  return {
    drain() {
      isDraining = true;
      for (const connection of connections.values()) connection.drain();
    },
    closeIdle() {
      for (const connection of connections.values()) connection.closeIfIdle();
    },
    destroy() {
      for (const socket of connections.keys()) socket.destroy();
    },
    async allClosed() {
      if (connections.size > 0) await once(closed, 'all');
      clearInterval(checks);
    },
  };
}

/** How long the server reads from a connection after its last response, unless the client closes the connection earlier. */
export const LINGER_MS = 2000;
/**
 * How long a client that has closed its sending side may wait for its responses. The time is limited, because the server cannot
 * tell such a client from a client that is gone.
 */
const HALF_CLOSED_MS = 10_000;
/**
 * The maximum number of requests that a connection reads and discards after the last request that it serves, because each takes
 * memory.
 */
const MAX_IGNORED_REQUESTS = 100;
/**
 * The maximum number of requests of one connection that are processed at the same time. Few clients send a request before they
 * have the previous response, but without a limit one connection could use as many resources as a thousand.
 */
const MAX_CONCURRENT_REQUESTS = 4;

/** How a connection answers the requests that it refuses. */
export type Refusing = Omit<RefusalOptions, 'isBody'> & {
  readonly onUnreadable: (unreadable: UnreadableRequest) => void;
};

/** The refusal of a CONNECT request. Such a request has no path, so `Allow` lists the methods of the whole API. */
const CONNECT_REFUSED = new HttpError('method_not_allowed', 'CONNECT is not allowed: Charter is not a proxy.', {
  Allow: 'GET, HEAD, POST, PATCH, DELETE',
});

/**
 * Answers the requests of one connection in order, refuses input that is not valid HTTP, and closes the connection without a TCP
 * reset.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #app: RequestListener;
  readonly #refusing: Refusing;
  /** The responses, in the order of their requests. When a request arrives, the responses that have been sent are removed. */
  readonly #responses: ServerResponse[] = [];
  /**
   * The responses at the end of `#responses` whose requests are not being processed yet. While there are any, the connection is
   * not read.
   */
  readonly #waiting: ServerResponse[] = [];
  /** Whether a response has been chosen as the connection's last one. Later requests get no response. */
  #isLastChosen = false;
  #isClosing = false;
  /** Whether input has been refused. The connection is closed after the refusal. */
  #hasRefused = false;
  /** Whether reading is stopped, because the body of the refused request must not be read. */
  #isHeld = false;
  #ignoredRequests = 0;
  /** The number of requests whose head has arrived. */
  #receivedRequests = 0;
  /**
   * The number of bytes received at the previous check during a shutdown. If more bytes have arrived and no response is pending,
   * a request is arriving.
   */
  #knownBytes = 0;

  constructor(socket: Socket, app: RequestListener, refusing: Refusing) {
    this.#socket = socket;
    this.#app = app;
    this.#refusing = refusing;
    // Node calls this method after a response with `Connection: close`. Node's own method would reset the connection if more data
    // arrived.
    socket.destroySoon = () => this.#close();
    socket.once('end', () => {
      if (this.#pending().length === 0) return;
      if (!this.#hasRefused) this.#closeAfterLast();
      this.#destroyAfter(HALF_CLOSED_MS);
    });
  }

  receive(req: IncomingMessage, res: ServerResponse, { isDraining }: { isDraining: boolean }): void {
    this.#receivedRequests += 1;
    // The connection's last response has been chosen, so this later request must not be processed.
    if (this.#isLastChosen) return void this.#ignore(req);
    this.#removeSent();
    this.#responses.push(res);
    if (isDraining) this.#closeAfter(res);
    const flaw = checkHead(req);
    if (flaw !== null) return void this.#refuseHead(res, flaw);
    if (this.#responses.length > MAX_CONCURRENT_REQUESTS) this.#defer(res);
    else this.#app(req, res);
  }

  /** Forgets the waiting requests, because their client is gone or must not expect responses. */
  drop(): void {
    this.#waiting.length = 0;
    this.#socket.off('resume', this.#pause);
  }

  drain(): void {
    this.#closeAfterLast();
    // Until the first request has arrived completely, all received bytes belong to a request that is arriving.
    if (this.#responses.length > 0) this.#knownBytes = this.#socket.bytesRead;
  }

  /** Closes the connection if data wait to be read by the client, and the client reads nothing for `stalledMs` milliseconds. */
  watchIfUnread(stalledMs: number): void {
    const { writableLength, timeout } = this.#socket;
    // A second call would restart the timeout.
    if (writableLength > 0 && timeout !== stalledMs) this.#socket.setTimeout(stalledMs);
  }

  closeIfIdle(): void {
    const { bytesRead } = this.#socket;
    if (this.#pending().length > 0) this.#knownBytes = bytesRead;
    else if (bytesRead === this.#knownBytes) this.#close();
  }

  /**
   * Answers input that is not valid HTTP, then closes the connection. The response is an error of the contract. The response is
   * created here, because such input reaches no middleware, and Node's default response is not in the contract. Responses to
   * earlier requests are sent first, because the client would otherwise match the error to an earlier request.
   */
  refuse(error: ParseError | HttpError): void {
    if (error.code === 'ECONNRESET' || !this.#socket.writable) return void this.#socket.destroy();
    // While the connection closes, further input is discarded, so a parse error in it needs no response.
    if (this.#isClosing || this.#hasRefused) return;
    this.#hasRefused = true;
    const unread = this.#isBodyArriving() ? this.#responses.at(-1) : undefined;
    // If the rest of the body arrived, the request would be processed even though it has been refused.
    if (unread !== undefined) this.#stopReading(unread);
    const answer = () => {
      if (this.#isClosing || this.#socket.destroyed) return;
      // If the response to the request was sent before the body had arrived, there must not be a second response.
      if (unread?.headersSent) return void this.#close();
      const refusal = refusalOf(error, { ...this.#refusing, isBody: unread !== undefined });
      this.#refusing.onUnreadable(refusal.unreadable);
      this.#close(responseTextOf(refusal));
    };
    const awaited = this.#pending().filter((response) => response !== unread);
    const lastAwaited = awaited.at(-1);
    if (lastAwaited === undefined) answer();
    else lastAwaited.once('close', answer);
  }

  /**
   * Refuses a late request, unless the rest of it has arrived but has not been read yet. A process that gets no processor time
   * for a while checks for late requests before it reads what has arrived meanwhile.
   */
  refuseUnlessArrived(error: ParseError): void {
    const received = this.#receivedRequests;
    const isBody = this.#isBodyArriving();
    const check = (knownBytes: number) =>
      // Node reads from all connections before it calls an immediate.
      setImmediate(() => {
        const isArriving = this.#isBodyArriving() || (!isBody && this.#receivedRequests === received);
        if (!isArriving) return;
        const { bytesRead } = this.#socket;
        if (bytesRead > knownBytes) check(bytesRead);
        else this.refuse(error);
      });
    check(this.#socket.bytesRead);
  }

  #isBodyArriving(): boolean {
    return this.#responses.at(-1)?.req.complete === false;
  }

  refuseConnect(): void {
    // Node has removed its own listener, and an `error` event without a listener would end the process.
    this.#socket.on('error', () => {});
    this.refuse(CONNECT_REFUSED);
  }

  /**
   * Answers a request whose head is valid for Node's parser, but not for Charter. Node sends the responses in the order of the
   * requests.
   */
  #refuseHead(res: ServerResponse, flaw: HttpError): void {
    const { unreadable, headers, body } = refusalOf(flaw, { ...this.#refusing, isBody: false });
    this.#refusing.onUnreadable(unreadable);
    this.#isLastChosen = true;
    res.writeHead(unreadable.status, headers).end(body);
  }

  #stopReading(unread: ServerResponse): void {
    this.#isHeld = true;
    const place = this.#waiting.indexOf(unread);
    if (place >= 0) this.#waiting.splice(place, 1);
    // Node resumes the connection after each response.
    this.#socket.on('resume', this.#pause);
    this.#pause();
  }

  /** Forgets the responses that have been sent. Otherwise, a long connection could fill the memory. */
  #removeSent(): void {
    while (this.#responses[0]?.writableFinished === true) this.#responses.shift();
  }

  #defer(res: ServerResponse): void {
    if (this.#waiting.length === 0) {
      for (const earlier of this.#responses.slice(0, -1)) earlier.once('close', this.#processWaiting);
      // Node resumes the connection when a body is read, and after each response.
      this.#socket.on('resume', this.#pause);
      this.#pause();
    }
    this.#waiting.push(res);
    res.once('close', this.#processWaiting);
  }

  readonly #pause = (): void => {
    this.#socket.pause();
  };

  readonly #processWaiting = (): void => {
    if (this.#waiting.length === 0) return;
    this.#removeSent();
    while (this.#responses.length - this.#waiting.length < MAX_CONCURRENT_REQUESTS) {
      const res = this.#waiting.shift();
      if (res === undefined) break;
      this.#app(res.req, res);
    }
    if (this.#waiting.length > 0) return;
    this.drop();
    this.#socket.resume();
  };

  #pending(): ServerResponse[] {
    return this.#responses.filter(({ writableFinished }) => !writableFinished);
  }

  /** Closes the connection after the last pending response, so that every request that was accepted before is answered. */
  #closeAfterLast(): void {
    const last = this.#pending().at(-1);
    if (last !== undefined && !last.headersSent) this.#closeAfter(last);
  }

  /** Makes this response the connection's last one: later requests are not processed (RFC 9112 section 9.6). */
  #closeAfter(response: ServerResponse): void {
    response.setHeader('Connection', 'close');
    this.#isLastChosen = true;
  }

  #ignore(req: IncomingMessage): void {
    req.resume();
    this.#ignoredRequests += 1;
    if (this.#ignoredRequests > MAX_IGNORED_REQUESTS) this.#socket.destroy();
  }

  /**
   * Closes the connection in two stages (RFC 9112 section 9.6): first the sending side, then the rest when the client has closed
   * its sending side. If data arrived on a fully closed connection, TCP would reset the connection, and the client could lose the
   * last response.
   */
  #close(text = ''): void {
    if (this.#isClosing || this.#socket.destroyed) return;
    this.#isClosing = true;
    this.#isLastChosen = true;
    this.drop();
    this.#socket.end(text);
    if (!this.#isHeld) this.#socket.resume();
    this.#destroyAfter(LINGER_MS);
  }

  #destroyAfter(milliseconds: number): void {
    const timer = setTimeout(() => this.#socket.destroy(), milliseconds);
    this.#socket.once('close', () => clearTimeout(timer));
  }
}
