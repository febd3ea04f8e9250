import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerUnreadable, type Unreadable } from './api/unreadable-request.ts';
import { StartUpError } from './domain/start-up-error.ts';
import { apiSecurityHeaders } from './security-headers.ts';

const REQUEST_SECONDS = 30;
const HEADERS_SECONDS = 10;
const CHECK_SECONDS = 2;
const STOP_SECONDS = 25;
const CLOSE_IDLE_MS = 50;

export type Listening = {
  readonly url: string;
  /** Graceful shutdown: accepts no new request and waits at most 25 seconds for those in flight, then closes all connections. */
  stop(): Promise<void>;
};

export type ListenOptions = {
  host: string;
  port: number;
  /** The URL under which people reach the server; with https, responses tell browsers to use only HTTPS. */
  publicUrl?: string | undefined;
  onUnreadable?: (seen: Unreadable) => void;
};

export async function listen(
  app: RequestListener,
  { host, port, publicUrl, onUnreadable = () => {} }: ListenOptions,
): Promise<Listening> {
  const timeouts = {
    requestTimeout: REQUEST_SECONDS * 1000,
    headersTimeout: HEADERS_SECONDS * 1000,
    connectionsCheckingInterval: CHECK_SECONDS * 1000,
  };
  // A missing Host gets a response of the contract. With optimizeEmptyRequests, a request without a body emits no 'end' event,
  // which makes a cached response a tenth cheaper.
  const server = createServer({ ...timeouts, requireHostHeader: false, optimizeEmptyRequests: true }, app);
  answerUnreadable(server, { securityHeaders: apiSecurityHeaders(publicUrl), onUnreadable });
  // An unknown expectation may be ignored (RFC 9110 section 10.1.1). By default Node responds with 417.
  server.on('checkExpectation', app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(unableToListen(error, host, port)));
    server.listen(port, host, resolve);
  });
  const { port: actualPort } = addressOf(server);
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const urlHost = reachable.includes(':') ? `[${reachable}]` : reachable;
  return { url: `http://${urlHost}:${actualPort}`, stop: () => stop(server) };
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Repeatedly, because a connection becomes idle, and is kept alive, after the response to its last request.
  const closeIdle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
  const deadline = setTimeout(() => server.closeAllConnections(), STOP_SECONDS * 1000);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(deadline);
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a port.');
  return address;
}

function unableToListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE')
    return new StartUpError(
      `Port ${port} of ${host} is in use.`,
      'Stop the program that uses it, or set PORT to another port.',
      {
        cause: error,
      },
    );
  if (error.code === 'EACCES')
    return new StartUpError(`This user may not listen on port ${port}.`, 'Set PORT to a port above 1023.', {
      cause: error,
    });
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new StartUpError(
      `HOST ${host} is not an address of this machine.`,
      'Set HOST to 127.0.0.1, or to 0.0.0.0 to listen on every address.',
      { cause: error },
    );
  }
  return error;
}
