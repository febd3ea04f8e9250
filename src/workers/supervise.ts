import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { RELEASE_VERSION } from '../domain/release.ts';
import { listenOn, stopListening } from '../listen-on.ts';
import type { Logger } from '../observability/logs.ts';
import { joinEmbeddedPostgres } from '../postgres/embedded-postgres.ts';
import type { Shutdown } from '../shutdown.ts';
import { Workers } from './workers.ts';

export type SuperviseOptions = { readonly config: Config; readonly logger: Logger; readonly shutdown: Shutdown };

/**
 * Serves with several processes until a shutdown is requested. Sets the exit code to 1 if a worker cannot start, or fails during
 * the shutdown.
 */
export async function supervise({ config, logger, shutdown }: SuperviseOptions): Promise<void> {
  const { databaseUrl, dataDir, host, port } = config;
  // Nothing is read before a worker has the connection.
  const listener = createServer({ pauseOnConnect: true });
  const url = await listenOn(listener, { host, port }, { host: 'HOST', port: 'PORT' });
  listener.on('error', (error) => logger.warn({ err: error }, 'could not accept a connection'));
  const workers = new Workers({ count: config.workers, url, logger });
  listener.on('connection', (socket) => workers.hand(socket));
  try {
    // The workers join it, too. It is started once, and goes on when they are replaced.
    const embedded = databaseUrl === undefined ? await joinEmbeddedPostgres({ dataDir }) : undefined;
    try {
      const metricsServer = await serveMetricsOf(workers, { config, logger });
      try {
        if (!shutdown.isRequested()) await run(workers, { config, logger, shutdown, listener, url });
      } finally {
        listener.close();
        if (!(await workers.end())) process.exitCode = 1;
        await metricsServer?.close();
      }
    } finally {
      await embedded?.leave();
    }
  } finally {
    listener.close();
  }
}

async function run(
  workers: Workers,
  { config, logger, shutdown, listener, url }: SuperviseOptions & { readonly listener: Server; readonly url: string },
): Promise<void> {
  const started = await Promise.race([workers.start(), shutdown.reason.then(() => 'interrupted' as const)]);
  shutdown.started();
  if (started === false) {
    // The worker has said why.
    process.exitCode = 1;
    shutdown.request('a worker could not start');
  } else if (started === true) {
    logger.info(
      { url, environment: config.environment, version: RELEASE_VERSION, workers: config.workers },
      'Charter is listening',
    );
  }
  const reason = await shutdown.reason;
  logger.info({ reason }, 'shutting down, finishing requests in flight');
  if (workers.areServing && config.drainSeconds > 0) {
    workers.requestStop(reason);
    await delay(config.drainSeconds * 1000);
  }
  await stopListening(listener);
  // Not earlier: clients connect again after a response with `Connection: close`.
  workers.requestStop(reason);
}

async function serveMetricsOf(workers: Workers, { config, logger }: Pick<SuperviseOptions, 'config' | 'logger'>) {
  if (config.metrics === null) return undefined;
  const { startMetricsServer } = await import('../metrics-server.ts');
  return startMetricsServer(config.metrics, {
    logger,
    read: async () => [workers.metrics().map((read) => read()), ...(await workers.snapshots())],
  });
}
