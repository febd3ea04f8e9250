import { createServer, type RequestListener } from 'node:http';
import { portOf } from './port.ts';

export type Upstream = { readonly url: string; close(): Promise<void> };

/** A server that is not ours, for the duration of the work. */
export async function startUpstream(listener: RequestListener): Promise<Upstream> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
