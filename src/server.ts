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
/** How often the connections are checked within the time limit for headers. */
const CHECKS_PER_LIMIT = 5;
/** The longest time from the closing of the listener to the closing of all connections. */
export const STOP_SECONDS = 25;
const CLOSE_IDLE_MS = 50;

export type StopOptions = {
  /** How long new connections are accepted, because load balancers need time to notice; 0 if it is omitted. */
  readonly drainSeconds?: number;
  /** How long idle connections are kept open after that, so that a client that uses one gets its response; 0 if it is omitted. */
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
   * The URL by which people reach the server. If its scheme is https, responses to unreadable requests have
   * Strict-Transport-Security, too.
   */
  publicUrl?: string | undefined;
  /** The time limits of requests; 10 seconds for headers and 30 for the whole request if they are omitted. */
  limits?: TimeLimits | undefined;
  /** The time after which a connection is closed if its client does not read a response; 60 if it is omitted. */
  stalledSeconds?: number | undefined;
  onUnreadable?: (seen: UnreadableRequest) => void;
};

export type ListenOptions = ServeOptions & {
  host: string;
  port: number;
  /** Called when a connection could not be accepted, for example because too many files are open. */
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
      // After `Connection: close`, clients connect again. Without a drain time, the listener must therefore be closed by then.
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
  /** Asks that process to hand over no more connections. Resolves when there will be no more. */
  end(): Promise<void>;
};

/** Serves connections that another process accepts. That process decides how long it accepts connections during a shutdown. */
export function serveHanded(
  app: RequestListener,
  { handed, ...options }: ServeOptions & { handed: HandedConnections },
): Pick<Listening, 'stop'> {
  const { server, connections } = createHttpServer(app, options);
  // Starts Node's check for timeouts, which otherwise starts with the listener.
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
  // A request without a Host header gets a response of the contract, not Node's. With optimizeEmptyRequests, a request without a
  // body emits no 'end' event, which makes a cached response 10% cheaper.
  const server = createServer({
    requestTimeout: limits.requestSeconds * 1000,
    headersTimeout: limits.headersSeconds * 1000,
    connectionsCheckingInterval: (limits.headersSeconds / CHECKS_PER_LIMIT) * 1000,
    requireHostHeader: false,
    optimizeEmptyRequests: true,
    maxHeaderSize: MAX_PARSED_HEAD_BYTES,
  });
  // By default, Node silently drops all headers above a maximum number. The limit of their total size is enough.
  server.maxHeadersCount = 0;
  const securityHeaders = apiSecurityHeaders(publicUrl);
  const connections = serveConnections(server, { app, limits, stalledSeconds, securityHeaders, onUnreadable });
  return { server, connections };
}

/** Waits for the requests in progress, and closes all connections. */
async function finish(server: Server, connections: Connections, idleSeconds: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), STOP_SECONDS * 1000);
  const closeIdle = closeIdleFrom(performance.now() + idleSeconds * 1000, connections);
  await connections.allClosed();
  clearInterval(closeIdle);
  clearTimeout(deadline);
  // The close method of node:http is called last, because it stops the check for timeouts.
  server.close();
}

/** Closes idle connections repeatedly, because connections become idle after a response was sent. */
function closeIdleFrom(startAt: number, connections: Connections): NodeJS.Timeout {
  const closeIdle = () => {
    // Requests that have arrived meanwhile are read first.
    if (performance.now() >= startAt) setImmediate(() => connections.closeIdle());
  };
  closeIdle();
  return setInterval(closeIdle, CLOSE_IDLE_MS);
}
