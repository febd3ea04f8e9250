import { EventEmitter, once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TimeLimits } from './api/unreadable-request.ts';
import { Connection } from './connection.ts';
import type { UnreadableRequest } from './domain/unreadable-request.ts';

export type Connections = {
  /** From now on, each connection is closed after its next response, which says so with `Connection: close`. */
  drain(): void;
  /** Closes the connections without a request. To be called repeatedly after `drain`, because others become idle. */
  closeIdle(): void;
  /** Closes all connections at once, whatever is in progress on them. */
  destroy(): void;
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>;
};

export type ConnectionsOptions = {
  readonly app: RequestListener;
  readonly limits: TimeLimits;
  /** A connection whose client does not read a response for this time, or a sixth more, is closed. */
  readonly stalledSeconds: number;
  /** By name; sent with the responses to unreadable requests. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  readonly onUnreadable: (unreadable: UnreadableRequest) => void;
};

/** How many times within `stalledSeconds` the connections are checked for clients that do not read. */
const CHECKS_PER_STALL = 6;

/** Passes the requests of all connections to the app, answers unreadable ones, and closes connections without a reset. */
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
  // An unknown expectation may be ignored (RFC 9110 section 10.1.1). By default Node responds with 417.
  server.on('checkExpectation', serve);
  server.on('clientError', (error, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else connection.refuse(error);
  });
  // Without a listener, Node closes the connection in silence.
  server.on('connect', (_req, socket) => connections.get(socket)?.refuseConnect());
  const stalledMs = stalledSeconds * 1000;
  // Not server.timeout, which starts a timer for each request: one per cent of the time of a cached response.
  const checks = setInterval(() => {
    for (const connection of connections.values()) connection.watchIfUnread(stalledMs);
  }, stalledMs / CHECKS_PER_STALL).unref();
  // A client may close its sending side and wait for its responses. By default Node closes the connection at once.
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
