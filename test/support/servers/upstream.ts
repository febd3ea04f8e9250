import { createServer, type RequestListener } from 'node:http';
import { listenLocally } from './port.ts';

export type Upstream = { readonly url: string; close(): Promise<void> };

/** A server that is not ours, for the duration of the work. */
export async function startUpstream(listener: RequestListener): Promise<Upstream> {
  const server = createServer(listener);
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
