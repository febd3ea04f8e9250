import { createServer } from 'node:http';
import { type ListenAddress, listenOn } from './listen-on.ts';
import type { Logger } from './observability/logs.ts';
import { CONTENT_TYPE, formatSnapshots, type Snapshot } from './observability/metrics/metrics.ts';

export type MetricsServer = { close(): Promise<void> };

export type MetricsServerOptions = {
  /** Reads the metrics of each process of the server. */
  readonly read: () => Promise<readonly Snapshot[]>;
  readonly logger: Logger;
};

/**
 * Serves the metrics at /metrics on a separate address, because the metrics show how busy an installation is, and everybody can
 * reach the public port.
 */
export async function startMetricsServer(
  address: ListenAddress,
  { read, logger }: MetricsServerOptions,
): Promise<MetricsServer> {
  const server = createServer(async (req, res) => {
    const path = req.url?.split('?', 1)[0];
    if (path !== '/metrics' || (req.method !== 'GET' && req.method !== 'HEAD')) return void res.writeHead(404).end();
    try {
      const text = await formatSnapshots(await read());
      res.writeHead(200, { 'Content-Type': CONTENT_TYPE, 'Cache-Control': 'no-store' }).end(text);
    } catch (error) {
      logger.warn({ err: error }, 'could not read the metrics');
      res.writeHead(500).end();
    }
  });
  const origin = await listenOn(server, address, { host: 'METRICS_HOST', port: 'METRICS_PORT' });
  logger.info({ url: `${origin}/metrics` }, 'metrics are served');
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
