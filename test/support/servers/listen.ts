import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type HandedConnections,
  type Listening,
  listen as listenItself,
  type ServeOptions,
  serveHanded,
} from '../../../src/server.ts';
import { Worker } from '../../../src/workers/worker.ts';

const ACCEPTOR = join(import.meta.dirname, 'acceptor.ts');

/**
 * Listens on `port`, or on a free port. With CHARTER_TEST_TRANSPORT=workers and without `port`, another process accepts the
 * connections, as with WORKERS.
 */
export async function listen(
  app: RequestListener,
  { port, ...options }: ServeOptions & { port?: number | undefined } = {},
): Promise<Listening & AsyncDisposable> {
  if (port !== undefined || process.env['CHARTER_TEST_TRANSPORT'] !== 'workers')
    return disposable(await listenItself(app, { ...options, host: '127.0.0.1', port: port ?? 0 }));
  const acceptor = fork(ACCEPTOR);
  const worker = new Worker({ number: 1, url: '', isFirst: true }, acceptor);
  const [{ url }] = await once(acceptor, 'message');
  let drainMs = 0;
  const handed: HandedConnections = {
    onConnection: (serve) => worker.onConnection(serve),
    end: () => delay(drainMs).then(() => worker.end()),
  };
  const served = serveHanded(app, { ...options, handed });
  return disposable({
    url,
    async stop({ drainSeconds = 0, ...rest } = {}) {
      drainMs = drainSeconds * 1000;
      await served.stop(rest);
      acceptor.kill();
    },
  });
}

function disposable(listening: Listening): Listening & AsyncDisposable {
  return { ...listening, [Symbol.asyncDispose]: () => listening.stop() };
}
