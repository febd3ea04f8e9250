import { type AddressInfo, Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StartUpError } from './domain/errors.ts';

export type ListenAddress = {
  readonly host: string;
  /** The port; 0 for any free port. */
  readonly port: number;
};

/** The names of the environment variables that an operator must change if the address cannot be used. */
type Variables = { readonly host: string; readonly port: string };

/** Makes the server listen, and returns its URL. Throws a StartUpError if the address cannot be used. */
export async function listenOn(server: Server, address: ListenAddress, variables: Variables): Promise<string> {
  const { host } = address;
  await new Promise<void>((resolve, reject) => {
    const onError = (error: Error) => reject(unableToListen(error, address, variables));
    server.once('error', onError);
    server.listen({ ...address }, () => {
      server.off('error', onError);
      resolve();
    });
  });
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const urlHost = reachable.includes(':') ? `[${reachable}]` : reachable;
  return `http://${urlHost}:${addressOf(server).port}`;
}

/**
 * The maximum number of event loop turns in which stopListening accepts connections from the backlog. Without a limit, clients
 * that connect continually would keep the listener open.
 */
const MAX_TURNS = 1000;

/**
 * Closes the listener, but not its connections. Closing a listener resets the connections in its backlog, so these are accepted
 * first. Node accepts one connection in each turn of the event loop.
 */
export async function stopListening(server: Server): Promise<void> {
  let isBacklogEmpty = false;
  const onConnection = () => {
    isBacklogEmpty = false;
  };
  server.on('connection', onConnection);
  // The current turn of the event loop may already be past the check for new connections, for example after a signal.
  await nextTurn();
  for (let turn = 0; turn < MAX_TURNS && !isBacklogEmpty; turn += 1) {
    isBacklogEmpty = true;
    await nextTurn();
  }
  server.off('connection', onConnection);
  // The close method of node:http would also close idle connections, and reset connections on which a request is arriving.
  Server.prototype.close.call(server);
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a port.');
  return address;
}

function unableToListen(error: NodeJS.ErrnoException, { host, port }: ListenAddress, variables: Variables): Error {
  const refusal = (message: string, remedy: string) => new StartUpError(message, remedy, { cause: error });
  switch (error.code) {
    case 'EADDRINUSE':
      return refusal(
        `Port ${port} of ${host} is in use.`,
        `Stop the program that uses it, or set ${variables.port} to another port.`,
      );
    case 'EACCES':
      return refusal(`This user may not listen on port ${port}.`, `Set ${variables.port} to a port above 1023.`);
    case 'EADDRNOTAVAIL':
    // The machine does not support this address family, or a link-local address lacks its zone index.
    case 'EAFNOSUPPORT':
    case 'EINVAL':
    case 'ENOTFOUND':
      return refusal(
        `${variables.host} ${host} is not an address of this machine.`,
        `Set ${variables.host} to 127.0.0.1, or to 0.0.0.0 to listen on every address.`,
      );
    default:
      return error;
  }
}
