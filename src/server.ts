import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TimeLimits } from './api/unreadable-request.ts';
import { type Connections, serveConnections } from './connections.ts';
import type { UnreadableRequest } from './domain/request.ts';
import { MAX_PARSED_HEAD_BYTES } from './domain/request.ts';
import { listenOn, stopListening } from './listen-on.ts';
import { apiSecurityHeaders } from './security-headers.ts';

export const LIMITS: TimeLimits = { headersSeconds: 10, requestSeconds: 30 };
export const STALLED_SECONDS = 60;
/** How many times the connections are checked for timeouts within the time limit for headers. */
const CHECKS_PER_LIMIT = 5;
/** The maximum time between closing the listener and closing the last connection. */
export const STOP_SECONDS = 25;
const CLOSE_IDLE_MS = 50;

export type StopOptions = {
  /**
   * How long new connections are accepted after `stop` was called, because load balancers need time to notice the shutdown.
   * Default: 0.
   */
  readonly drainSeconds?: number;
  /**
   * How long idle connections are kept open after the server has stopped accepting connections, so that a client that is just
   * sending a request gets its response. Default: 0.
   */
  readonly idleSeconds?: number;
};

export type Listening = {
  readonly url: string;
  /**
   * Shuts down gracefully. Accepts connections for `drainSeconds`, during which every response has `Connection: close`. Then
   * accepts no more connections, waits at most 25 seconds for the requests in progress, and closes all connections.
   */
  stop(options?: StopOptions): Promise<void>;
};

export type Abortable = {
  /** Stops the server immediately, without waiting for clients. */
  abort(): Promise<void>;
};

export type ServeOptions = {
  /**
   * The URL at which people reach the server. If it begins with https, responses to unreadable requests also have the header
   * Strict-Transport-Security.
   */
  publicUrl?: string | undefined;
  /** The time limits for receiving a request. Default: 10 seconds for the headers, and 30 seconds for the whole request. */
  limits?: TimeLimits | undefined;
  /** How long a client may leave a response unread before the connection is closed. Default: 60. */
  stalledSeconds?: number | undefined;
  onUnreadable?: (seen: UnreadableRequest) => void;
};

export type ListenOptions = ServeOptions & {
  host: string;
  port: number;
  /** Called if a connection cannot be accepted, for example because too many files are open. */
  onAcceptError?: (error: Error) => void;
};

export async function listen(
  app: RequestListener,
  { host, port, onAcceptError = () => {}, ...options }: ListenOptions,
): Promise<Listening & Abortable> {
  const { server, connections } = createHttpServer(app, options);
  const url = await listenOn(server, { host, port }, { host: 'HOST', port: 'PORT' });
  server.on('error', onAcceptError);
  return {
    url,
    async stop({ drainSeconds = 0, idleSeconds = 0 } = {}) {
      if (drainSeconds > 0) {
        connections.drain();
        await delay(drainSeconds * 1000);
      }
      await stopListening(server);
      // Clients that get a response with `Connection: close` connect again, so without a drain time the listener must be closed
      // first.
      connections.drain();
      await finish(server, connections, idleSeconds);
    },
    async abort() {
      await stopListening(server);
      connections.destroy();
      await connections.allClosed();
      server.close();
    },
  };
}

/** The connections that another process accepts and hands over. */
export type HandedConnections = {
  onConnection(serve: (socket: Socket) => void): void;
  /** Tells the other process to hand over no more connections. Resolves when no more connections will come. */
  end(): Promise<void>;
};

/** Serves connections that another process accepts. That process decides how long connections are accepted during a shutdown. */
export function serveHanded(
  app: RequestListener,
  { handed, ...options }: ServeOptions & { handed: HandedConnections },
): Pick<Listening, 'stop'> {
  const { server, connections } = createHttpServer(app, options);
  // The event starts Node's check for timeouts, because this server has no listener of its own.
  server.emit('listening');
  handed.onConnection((socket) => server.emit('connection', socket));
  return {
    async stop({ idleSeconds = 0 } = {}) {
      connections.drain();
      await handed.end();
      await finish(server, connections, idleSeconds);
    },
  };
}

function createHttpServer(
  app: RequestListener,
  { publicUrl, limits = LIMITS, stalledSeconds = STALLED_SECONDS, onUnreadable = () => {} }: ServeOptions,
): { server: Server; connections: Connections } {
  // Without `requireHostHeader`, a request without a Host header gets a response of the contract instead of Node's. With
  // `optimizeEmptyRequests`, a request without a body emits no 'end' event, which makes a cached response 10% cheaper.
  const server = createServer({
    requestTimeout: limits.requestSeconds * 1000,
    headersTimeout: limits.headersSeconds * 1000,
    connectionsCheckingInterval: (limits.headersSeconds / CHECKS_PER_LIMIT) * 1000,
    requireHostHeader: false,
    optimizeEmptyRequests: true,
    maxHeaderSize: MAX_PARSED_HEAD_BYTES,
  });
  // By default, Node silently drops headers above a maximum number. The limit on the total size of the headers is sufficient.
  server.maxHeadersCount = 0;
  const securityHeaders = apiSecurityHeaders(publicUrl);
  const connections = serveConnections(server, { app, limits, stalledSeconds, securityHeaders, onUnreadable });
  return { server, connections };
}

/** Waits for the requests in progress, then closes all connections. */
async function finish(server: Server, connections: Connections, idleSeconds: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), STOP_SECONDS * 1000);
  const closeIdle = closeIdleFrom(performance.now() + idleSeconds * 1000, connections);
  await connections.allClosed();
  clearInterval(closeIdle);
  clearTimeout(deadline);
  // The close method of node:http is called last, because it stops the check for timeouts.
  server.close();
}

/** Closes idle connections repeatedly, because connections become idle whenever a response has been sent. */
function closeIdleFrom(startAt: number, connections: Connections): NodeJS.Timeout {
  const closeIdle = () => {
    // setImmediate lets Node first read the requests that have arrived in the meantime.
    if (performance.now() >= startAt) setImmediate(() => connections.closeIdle());
  };
  closeIdle();
  return setInterval(closeIdle, CLOSE_IDLE_MS);
}
