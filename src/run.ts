import { type App, createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { readDocument } from './contract/contract.ts';
import { startDeliveries } from './delivery/deliveries.ts';
import { startKeyNotices } from './delivery/key-notices.ts';
import { createSender } from './delivery/sender.ts';
import { StartUpError } from './domain/errors.ts';
import { RELEASE_VERSION } from './domain/release.ts';
import { HOUSEKEEPING_TASKS, startHousekeeping } from './observability/housekeeping.ts';
import { DeliveryMeasures, Tally } from './observability/instruments/measures.ts';
import { createLogger, describeError, type Logger } from './observability/logs.ts';
import {
  type CellRowCount,
  cellMetrics,
  deliveryMetrics,
  housekeepingMetric,
  startCountingRows,
} from './observability/metrics/app-metrics.ts';
import type { Metrics } from './observability/metrics/metrics.ts';
import type { Traces } from './observability/open-telemetry.ts';
import { createUnreadableLog, type Observers } from './observability/reporter.ts';
import { type Connected, connect } from './postgres/connect.ts';
import { isHttps } from './security-headers.ts';
import { listen, STOP_SECONDS, serveHanded } from './server.ts';
import { readDomainMap } from './service/cells/domain-map.ts';
import { type Shutdown, watchForShutdown } from './shutdown.ts';
import type { Database } from './store/sql/database.ts';
import { traceStatements } from './store/sql/trace-statements.ts';
import { readWorker, type Worker } from './workers/worker.ts';

/**
 * How long idle connections are kept open during a shutdown, so that a client that is just sending a request gets its response.
 */
export const SHUTDOWN_IDLE_SECONDS = 1;
/**
 * The delay before background preparation starts, so that requests that waited for the start are served first. A process that
 * ends earlier prepares nothing.
 */
const PREPARE_AFTER_MS = 5000;
/**
 * The time limit for the work after the last response of a shutdown: storing the uses of keys, sending mails, and closing the
 * database.
 */
const LEAVE_SECONDS = 60;
/** The number of seconds that the supervisor's shutdown may take longer than the shutdown of its workers. */
const SUPERVISOR_SECONDS = 10;

/** Runs the server until a shutdown is requested. Then resolves with the process's exit code set. */
export async function run(): Promise<void> {
  // Signal handlers are installed first, so that a signal during the start does not leave PostgreSQL running.
  const worker = readWorker(process.argv.slice(2));
  const shutdown = watchForShutdown(worker?.stopRequested);
  try {
    await startAndServe(shutdown, worker);
  } catch (error) {
    if (!(error instanceof StartUpError)) throw error;
    // Ctrl-C in a terminal also interrupts initdb, so a failure after a request to shut down is expected.
    if (!shutdown.isRequested()) {
      process.stderr.write(`\nCharter cannot start. ${error.message}\n  ${error.remedy}\n`);
      process.exitCode = 1;
    }
  } finally {
    // An open IPC channel to the parent process would keep this process alive.
    process.channel?.unref();
  }
}

async function startAndServe(shutdown: Shutdown, worker: Worker | null): Promise<void> {
  const config = readConfig(process.env);
  const logger = createLogger(config.logLevel, worker === null ? {} : { base: { worker: worker.role.number } });
  if (worker === null) await warnAboutDomainMap(config, logger);
  endOnUnexpectedError(logger, shutdown);
  const isSupervisor = worker === null && config.workers > 1;
  const stopSeconds = config.drainSeconds + STOP_SECONDS + LEAVE_SECONDS;
  void limitShutdown(shutdown, isSupervisor ? stopSeconds + SUPERVISOR_SECONDS : stopSeconds);
  if (isSupervisor) {
    const { supervise } = await import('./workers/supervise.ts');
    await supervise({ config, logger, shutdown });
  } else {
    const tracing = await startTracing(config, logger);
    const measuring = await startMetrics(config, { logger, worker });
    const observers = { logger, metrics: measuring?.metrics, tracing };
    try {
      await connectAndServe({ config, shutdown, worker, observers });
    } finally {
      await tracing?.close();
      await measuring?.close();
    }
  }
  logger.info({ reason: await shutdown.reason }, 'stopped');
}

const UNEXPECTED = `
Charter is stopping because of an unexpected error, after the requests in progress. The log line with level 60 (fatal)
describes it.
  Start Charter again (npm start), unless a supervisor does so. If it happens again, report that log line.
`;

/**
 * Shuts down with exit code 1 after an uncaught error, because the process is then in an undefined state according to Node's
 * documentation. A supervisor starts a new process. Later errors are ignored.
 */
function endOnUnexpectedError(logger: Logger, shutdown: Shutdown): void {
  let isStopping = false;
  // Node also emits this event for unhandled rejections.
  process.on('uncaughtException', (error: unknown, origin) => {
    if (isStopping) return;
    isStopping = true;
    process.exitCode = 1;
    logger.fatal({ origin, error: describeError(error) }, 'unexpected error, the process stops');
    process.stderr.write(UNEXPECTED);
    shutdown.request('an unexpected error');
  });
}

/**
 * Warns if the domain map has an invalid line. Such a line does not prevent the start, because it affects only a few people, who
 * must then choose their cell themselves.
 */
async function warnAboutDomainMap({ cellDomainsFile: domainsFile, cells }: Config, logger: Logger): Promise<void> {
  if (domainsFile === undefined) return;
  const { problem } = await readDomainMap({ domainsFile, cells }).catch(({ message }: Error) => {
    throw new StartUpError(
      message,
      'Set it to the path of the map of e-mail domains, or unset it. The command "cell-domains" makes the part of a cell.',
    );
  });
  if (problem !== null) logger.warn(problem);
}

type Measuring = { readonly metrics: Metrics; close(): Promise<void> };

/**
 * Starts measuring, and imports the code for metrics only if metrics are configured. If the server has worker processes, the
 * supervisor serves their metrics.
 */
async function startMetrics(
  { metrics: address }: Config,
  { logger, worker }: { readonly logger: Logger; readonly worker: Worker | null },
): Promise<Measuring | undefined> {
  if (address === null) return undefined;
  const { Metrics } = await import('./observability/metrics/metrics.ts');
  if (worker !== null) {
    const metrics = new Metrics({ worker: String(worker.role.number) });
    worker.reportMetrics(metrics, (error) => logger.warn({ err: error }, 'could not read the metrics'));
    return { metrics, close: async () => {} };
  }
  const { startMetricsServer } = await import('./metrics-server.ts');
  const metrics = new Metrics();
  const { close } = await startMetricsServer(address, { logger, read: async () => [await metrics.read()] });
  return { metrics, close };
}

/** Starts tracing, and imports OpenTelemetry only if traces are configured. Each worker process exports its own traces. */
async function startTracing({ traces }: Config, logger: Logger): Promise<Traces | null> {
  if (traces === null) return null;
  const { startTraces } = await import('./observability/open-telemetry.ts');
  return startTraces({ ...traces, logger });
}

type Running = {
  readonly config: Config;
  readonly shutdown: Shutdown;
  /** The connection to the supervisor; `null` if this process is the whole server. */
  readonly worker: Worker | null;
  readonly observers: Observers;
};

async function connectAndServe(running: Running): Promise<void> {
  const { config, shutdown } = running;
  const { logger, tracing } = running.observers;
  const { db, pooler, problems, migrated, leave } = await connect(config, (error) =>
    logger.warn({ err: error }, 'an idle database connection failed'),
  );
  logMigrations(migrated, logger);
  for (const problem of problems) logger.warn(problem);
  if (pooler !== null) logger.info(pooler, 'the database is behind a connection pooler');
  if (tracing !== null) traceStatements(db, tracing);
  try {
    if (!shutdown.isRequested()) await createAppAndServe(running, db);
  } finally {
    await leave();
  }
}

function logMigrations({ applied, isNew }: Connected['migrated'], logger: Logger): void {
  const milliseconds = applied.reduce((sum, each) => sum + each.milliseconds, 0);
  if (isNew) logger.info({ migrations: applied.length, milliseconds }, 'created the tables');
  else
    for (const { name, milliseconds } of applied) logger.info({ migration: name, milliseconds }, 'applied a migration');
}

async function createAppAndServe(running: Running, db: Database): Promise<void> {
  const { config, observers } = running;
  const app = await createApp({ config, db, observers });
  await serve(running, { db, app });
  await app.close();
}

async function serve(
  { config, shutdown, worker, observers }: Running,
  { db, app }: { readonly db: Database; readonly app: App },
): Promise<void> {
  const { environment, publicUrl } = config;
  const { logger, metrics, tracing } = observers;
  const demonstration = config.nodeEnv === 'production' ? undefined : await import('./welcome.ts');
  await demonstration?.seed(db, environment);
  if (shutdown.isRequested()) return;
  const unreadable = createUnreadableLog(logger);
  const options = {
    publicUrl,
    onUnreadable: unreadable.log,
  };
  const onAcceptError = (error: Error) => logger.warn({ err: error }, 'could not accept a connection');
  const server =
    worker === null
      ? await listen(app.listener, { ...options, host: config.host, port: config.port, onAcceptError })
      : { ...serveHanded(app.listener, { ...options, handed: worker }), url: worker.role.url };
  shutdown.markStarted();
  const speaksForAll = worker === null || worker.role.isFirst;
  if (speaksForAll) warnAboutSettings(config, logger);
  const failures = new Tally(HOUSEKEEPING_TASKS);
  metrics?.add([housekeepingMetric(failures)]);
  const stopHousekeeping = startHousekeeping(db, logger, {
    retention: { eventDays: config.eventRetentionDays },
    failures,
  });
  const measures = new DeliveryMeasures();
  metrics?.add(deliveryMetrics(measures));
  const cell = measureCell(config, { db, logger, metrics, worker });
  const deliveries = startDeliveries(db, {
    measures,
    tracing,
    logger,
    sender: createSender({ targets: config.webhooks }),
    outbox: app.outbox,
    publicUrl,
    userAgent: `Charter/${(await readDocument()).info.version}`,
  });
  const notices = startKeyNotices(db, { logger, outbox: app.outbox, publicUrl, flushUses: app.keyUses.flush });
  if (worker === null) logger.info({ url: server.url, environment, version: RELEASE_VERSION }, 'Charter is listening');
  else worker.reportReady();
  const preparing = setTimeout(() => void app.prepare(server.url), PREPARE_AFTER_MS);
  // An error in the welcome message must not stop the server.
  const welcome = !speaksForAll
    ? undefined
    : demonstration
        ?.welcome(db, { url: server.url, publicUrl, environment, cell: config.cell })
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'could not print the demonstration sign-ins');
        });
  process.stdout.write((await welcome) ?? '');
  const reason = await shutdown.reason;
  app.announceShutdown();
  clearTimeout(preparing);
  logger.info({ reason }, 'shutting down, finishing requests in flight');
  const stopped = Promise.all([stopHousekeeping(), deliveries.stop(), notices.stop(), cell?.stop()]);
  await server.stop({ drainSeconds: config.drainSeconds, idleSeconds: SHUTDOWN_IDLE_SECONDS });
  unreadable.stop();
  await stopped;
}

/** Counts the rows of the cell for the metrics, in only one of the workers. */
function measureCell(
  { cell: name }: Config,
  { db, logger, metrics, worker }: { db: Database; worker: Worker | null } & Pick<Observers, 'logger' | 'metrics'>,
): CellRowCount | undefined {
  if (name === null || metrics === undefined || (worker !== null && worker.role.number !== 1)) return undefined;
  const count = startCountingRows(db, logger);
  metrics.add(cellMetrics({ name, version: RELEASE_VERSION, rows: count.last }));
  return count;
}

/**
 * Ends the process if its shutdown takes longer than `seconds`, because the shutdown may wait for something that never happens.
 */
async function limitShutdown({ reason }: Shutdown, seconds: number): Promise<void> {
  await reason;
  setTimeout(() => process.exit(1), seconds * 1000).unref();
}

/** Warns about settings that are probably mistakes. */
function warnAboutSettings({ nodeEnv, publicUrl, trustedProxies, acceptsNewerDatabase }: Config, logger: Logger): void {
  if (acceptsNewerDatabase)
    logger.warn('NEWER_DATABASE is "accept": unset it when this version is no longer a roll-back from a newer one');
  if (isHttps(publicUrl) && trustedProxies.length === 0) {
    logger.warn(
      'PUBLIC_URL is https, but TRUSTED_PROXIES is not set: everyone behind the proxy shares the rate limits of its address',
    );
  }
  if (publicUrl === undefined && nodeEnv === 'production')
    logger.warn('PUBLIC_URL is not set, so cookies are not Secure: set it before people use Charter through a proxy');
}
