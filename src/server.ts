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
/** How many times the connections are checked within the limit for headers. */
const CHECKS_PER_LIMIT = 5;
/** The longest time from the end of the listener to the end of all connections. */
export const STOP_SECONDS = 25;
const CLOSE_IDLE_MS = 50;

export type StopOptions = {
  /** How long new connections are accepted, as load balancers need it; 0 by default. */
  readonly drainSeconds?: number;
  /** How long idle connections are kept after that, so that a client that uses one gets its response; 0 by default. */
  readonly idleSeconds?: number;
};

export type Listening = {
  readonly url: string;
  /**
   * Graceful shutdown: accepts connections for `drainSeconds`, in which every response says `Connection: close`. Then accepts no
   * new connection, waits at most 25 seconds for the requests in progress, and closes all connections.
   */
  stop(options?: StopOptions): Promise<void>;
};

export type Abortable = {
  /** Ends the server at once, without waiting for any client. */
  abort(): Promise<void>;
};

export type ServeOptions = {
  /** The URL under which people reach the server; with https, responses to unreadable requests have Strict-Transport-Security, too. */
  publicUrl?: string | undefined;
  /** The time limits of requests: 10 and 30 seconds by default. */
  limits?: TimeLimits | undefined;
  /** A connection is closed whose client does not read a response for this time; 60 by default. */
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
      // A client connects anew after Connection: close, so without a drain time, the listener has to be closed by then.
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

/** Connections that another process accepts. */
export type HandedConnections = {
  onConnection(serve: (socket: Socket) => void): void;
  /** Asks that process to hand no more of them over. Resolves when there will be no more. */
  end(): Promise<void>;
};

/** Serves connections that another process accepts, which decides how long it does so during a shutdown. */
export function serveHanded(
  app: RequestListener,
  { handed, ...options }: ServeOptions & { handed: HandedConnections },
): Pick<Listening, 'stop'> {
  const { server, connections } = createHttpServer(app, options);
  // Starts Node's check for time-outs, which otherwise starts with the listener.
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
  // A missing Host gets a response of the contract. With optimizeEmptyRequests, a request without a body emits no 'end' event,
  // which makes a cached response a tenth cheaper.
  const server = createServer({
    requestTimeout: limits.requestSeconds * 1000,
    headersTimeout: limits.headersSeconds * 1000,
    connectionsCheckingInterval: (limits.headersSeconds / CHECKS_PER_LIMIT) * 1000,
    requireHostHeader: false,
    optimizeEmptyRequests: true,
    maxHeaderSize: MAX_PARSED_HEAD_BYTES,
  });
  // Node would drop headers after these without a word. Their size limits their number.
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
  // The close() of node:http comes last, because it stops the check for time-outs.
  server.close();
}

/** Closes idle connections again and again, because others become idle after the response that was being sent. */
function closeIdleFrom(startAt: number, connections: Connections): NodeJS.Timeout {
  const closeIdle = () => {
    // The requests that have arrived in the meantime are read first.
    if (performance.now() >= startAt) setImmediate(() => connections.closeIdle());
  };
  closeIdle();
  return setInterval(closeIdle, CLOSE_IDLE_MS);
}
