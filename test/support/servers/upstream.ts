import { createServer, type RequestListener } from 'node:http';
import { closeNow, listenLocally } from './port.ts';

export type Upstream = { readonly url: string; close(): Promise<void> } & AsyncDisposable;

/** A server that is not ours, for the duration of the work. */
export async function startUpstream(listener: RequestListener): Promise<Upstream> {
  const server = createServer(listener);
  const port = await listenLocally(server);
  const close = () => closeNow(server);
  return { url: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close };
}
