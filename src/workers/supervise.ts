import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { RELEASE_VERSION } from '../domain/release.ts';
import { listenOn, stopListening } from '../listen-on.ts';
import type { Logger } from '../observability/logs.ts';
import { counter, gauge, type Metric } from '../observability/metrics/metric.ts';
import type { Snapshot } from '../observability/metrics/metrics.ts';
import { joinEmbeddedPostgres } from '../postgres/embedded-postgres.ts';
import type { Shutdown } from '../shutdown.ts';
import type { SupervisorMessage } from './worker.ts';
import { WorkerProcess } from './worker-process.ts';

export type SuperviseOptions = { readonly config: Config; readonly logger: Logger; readonly shutdown: Shutdown };

/**
 * Runs the server in several processes until a shutdown is requested. Sets the exit code to 1 if a worker cannot start, or if a
 * worker fails during the shutdown.
 */
export async function supervise({ config, logger, shutdown }: SuperviseOptions): Promise<void> {
  const { databaseUrl, dataDir, host, port } = config;
  // Data on a connection must not be read before a worker has the connection.
  const listener = createServer({ pauseOnConnect: true });
  const url = await listenOn(listener, { host, port }, { host: 'HOST', port: 'PORT' });
  listener.on('error', (error) => logger.warn({ err: error }, 'could not accept a connection'));
  const workers = new Workers({ count: config.workers, url, logger });
  listener.on('connection', (socket) => workers.hand(socket));
  try {
    // The workers use this PostgreSQL, too. It is started once, and keeps running when workers are replaced.
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
  shutdown.markStarted();
  if (started === false) {
    // The worker has already printed the reason.
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
  // The stop is not requested earlier, because clients whose response has `Connection: close` connect again.
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

export type WorkersOptions = {
  readonly count: number;
  /** The server's URL. */
  readonly url: string;
  readonly logger: Logger;
};

/**
 * How long to wait before a worker is replaced. The time doubles each time a worker ends soon after its start, so that a
 * permanent fault costs little.
 */
const BACK_OFF_MS = { first: 100, most: 10_000 };
/** A worker that has run for this long did not have a fault at its start. */
const STABLE_MS = 30_000;
/** The maximum number of connections that wait because no worker can take them. */
const MAX_WAITING = 5000;

type Slot = {
  /** The number of the worker, starting at 1. */
  readonly number: number;
  /** The latest worker with this number, which may have ended; `null` until the first worker is started. */
  worker: WorkerProcess | null;
  /** Resolves when a worker with this number is ready for the first time. */
  readonly ready: PromiseWithResolvers<void>;
  /** The number of consecutive workers with this number that ended soon after their start. */
  earlyEnds: number;
};

/**
 * The worker processes, which serve the connections that this process accepts. Workers get connections in turn, as in Node's
 * cluster module. That module is not used, because it loses connections on their way to the last worker during a shutdown, and
 * its workers exit immediately if their supervisor has died.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #slots: readonly Slot[];
  /** The workers that are running, or that have ended with log lines still to be passed on. */
  readonly #open = new Set<WorkerProcess>();
  readonly #stopping = new AbortController();
  readonly #waiting: Socket[] = [];
  #turn = 0;
  /** Whether `no more connections` has been sent. After that message, no connection may be sent. */
  #isEnding = false;
  #ends = 0;
  #hasFailed = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, i) => ({
      number: i + 1,
      worker: null,
      ready: Promise.withResolvers<void>(),
      earlyEnds: 0,
    }));
  }

  /**
   * Starts the workers. Resolves with `true` when all workers are ready, or with `false` if the first worker ends instead, after
   * printing the reason. Later, a worker that ends is replaced, even if it was never ready, because another worker has run with
   * the same settings and database.
   */
  async start(): Promise<boolean> {
    const [first, ...others] = this.#slots;
    if (first === undefined) throw new Error('There must be at least one worker.');
    // The first worker starts alone, so that migrations run only once and a fault is reported only once.
    const { ended } = this.#start(first, { isFirst: true });
    if (!(await Promise.race([first.ready.promise.then(() => true), ended.then(() => false)]))) return false;
    void this.#watch(first, ended);
    if (this.#stopping.signal.aborted) return false;
    for (const slot of others) void this.#watch(slot, this.#start(slot, { isFirst: false }).ended);
    await Promise.all(others.map(({ ready }) => ready.promise));
    return true;
  }

  /** Whether any worker takes connections. Other workers may still be starting, or may have ended. */
  get areServing(): boolean {
    return this.#slots.some(({ worker }) => worker?.canTake === true);
  }

  /** Gives the connection to the next worker in turn. No data may have been read from the connection. */
  hand(socket: Socket): void {
    if (this.#isEnding) {
      socket.destroy();
      return;
    }
    for (let i = 0; i < this.#slots.length; i += 1) {
      this.#turn = (this.#turn + 1) % this.#slots.length;
      const worker = this.#slots[this.#turn]?.worker;
      if (worker?.canTake !== true) continue;
      worker.hand(socket);
      return;
    }
    if (this.#waiting.length >= MAX_WAITING || this.#stopping.signal.aborted) socket.destroy();
    else this.#waiting.push(socket);
  }

  /** Requests all workers to shut down. They still accept connections until `end` is called. */
  requestStop(reason: string): void {
    this.#stopping.abort();
    this.#sendToAll({ kind: 'stop', reason });
  }

  /**
   * Ends the workers. Call it after `requestStop`, when there are no more connections. Resolves when all workers have ended, with
   * `false` if any of them has failed.
   */
  async end(): Promise<boolean> {
    this.#stopping.abort();
    this.#isEnding = true;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    this.#sendToAll({ kind: 'no more connections' });
    // A worker is closed when its last log lines have been passed on.
    await Promise.all([...this.#open].map(({ closed }) => closed));
    return !this.#hasFailed;
  }

  metrics(): Metric[] {
    return [
      gauge({ name: 'charter_workers', help: 'Worker processes that run.' }, () => this.#running().length),
      counter(
        { name: 'charter_worker_ends_total', help: 'Workers that ended without being asked to, and were replaced.' },
        () => this.#ends,
      ),
    ];
  }

  /** Returns the metrics of each worker that responds in time. */
  async snapshots(): Promise<Snapshot[]> {
    const snapshots = await Promise.all(this.#running().map((worker) => worker.readMetrics()));
    return snapshots.filter((snapshot) => snapshot !== null);
  }

  #running(): WorkerProcess[] {
    return this.#slots.flatMap(({ worker }) => (worker?.isRunning === true ? [worker] : []));
  }

  #sendToAll(message: SupervisorMessage): void {
    for (const worker of this.#running()) worker.send(message);
  }

  /** Starts a new worker whenever a worker with this number has ended, until the shutdown. */
  async #watch(slot: Slot, firstEnd: WorkerProcess['ended']): Promise<void> {
    const { logger } = this.#options;
    const { signal: stopping } = this.#stopping;
    for (let end = firstEnd; ; ) {
      const { code, signal, livedMs } = await end;
      if (stopping.aborted) return;
      this.#ends += 1;
      slot.earlyEnds = livedMs < STABLE_MS ? slot.earlyEnds + 1 : 0;
      const waitMs = Math.min(BACK_OFF_MS.first * 2 ** slot.earlyEnds, BACK_OFF_MS.most);
      logger.error({ worker: slot.number, code, signal, waitMs }, 'a worker ended and will be replaced');
      await delay(waitMs, undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) return;
      end = this.#start(slot, { isFirst: false }).ended;
    }
  }

  #start(slot: Slot, { isFirst }: { isFirst: boolean }): WorkerProcess {
    const { url, logger } = this.#options;
    const worker = new WorkerProcess(
      { number: slot.number, url, isFirst },
      {
        onReady: () => {
          slot.ready.resolve();
          this.#handWaiting(this.#waiting.length);
        },
        // A connection may be waiting because every worker had too many untaken connections.
        onTaken: () => this.#handWaiting(1),
        onReturned: (socket) => this.hand(socket),
        // If only this worker is leaving, after an unexpected error, it gets no more connections. In a shutdown of the whole
        // server, workers still get connections until `end`.
        onLeaving: () => this.#stopping.signal.aborted || worker.release(),
      },
    );
    slot.worker = worker;
    logger.info({ worker: slot.number, workerPid: worker.pid }, 'a worker starts');
    this.#open.add(worker);
    void worker.closed.then(() => this.#open.delete(worker));
    void worker.ended.then(({ code }) => {
      if (this.#stopping.signal.aborted && code !== 0) this.#hasFailed = true;
    });
    return worker;
  }

  #handWaiting(count: number): void {
    for (const socket of this.#waiting.splice(0, count)) this.hand(socket);
  }
}
