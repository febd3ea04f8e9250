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
    // The workers join this PostgreSQL, too. It is started once, and goes on when they are replaced.
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
  // The stop is not requested earlier, because clients connect again after a response with `Connection: close`.
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

/** The wait before a worker is replaced. It doubles with each end soon after a start, so that a permanent fault costs little. */
const BACK_OFF_MS = { first: 100, most: 10_000 };
/** A worker that has lived for this time had no fault at its start. */
const STABLE_MS = 30_000;
/** Connections that wait for a worker while none is ready, or all are stuck. */
const MAX_WAITING = 5000;

type Slot = {
  /** The number of the workers, from 1. */
  readonly number: number;
  /** The latest worker of this number, which may have ended; `null` before the first one is started. */
  worker: WorkerProcess | null;
  /** Resolves when a worker of this number is ready for the first time. */
  readonly ready: PromiseWithResolvers<void>;
  /** Ends of workers of this number soon after their start, in a row. */
  earlyEnds: number;
};

/**
 * Processes that serve the connections which this process accepts. Each gets the next connection in turn, as with the cluster
 * module of Node. That module is not used, because a shutdown with it loses the connections on their way to the last worker, and its
 * workers exit at once when their supervisor has died.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #slots: readonly Slot[];
  /** Workers that run, or have ended with log lines that are still to be passed on. */
  readonly #open = new Set<WorkerProcess>();
  readonly #stopping = new AbortController();
  readonly #waiting: Socket[] = [];
  #turn = 0;
  /** No connection may be sent after `no more connections`. */
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
   * Resolves with true when all workers are ready, and with false if the first one ends instead, having said why. From then on,
   * a worker that ends is replaced, even if it was never ready: the settings and the database have served another one.
   */
  async start(): Promise<boolean> {
    const [first, ...others] = this.#slots;
    if (first === undefined) throw new Error('There must be at least one worker.');
    // The first worker starts alone, so that migrations run once, and a fault is reported once.
    const { ended } = this.#start(first, { isFirst: true });
    if (!(await Promise.race([first.ready.promise.then(() => true), ended.then(() => false)]))) return false;
    void this.#watch(first, ended);
    if (this.#stopping.signal.aborted) return false;
    for (const slot of others) void this.#watch(slot, this.#start(slot, { isFirst: false }).ended);
    await Promise.all(others.map(({ ready }) => ready.promise));
    return true;
  }

  /** Whether any worker takes connections. The others may still start, or have ended. */
  get areServing(): boolean {
    return this.#slots.some(({ worker }) => worker?.canTake === true);
  }

  /** Gives the connection to the next worker in turn. Nothing must have been read from it. */
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

  /** Begins the shutdown of all workers, which go on to accept connections. */
  requestStop(reason: string): void {
    this.#stopping.abort();
    this.#sendToAll({ kind: 'stop', reason });
  }

  /** To be called after `requestStop` and the last connection. Resolves when all workers have ended: with false if any has failed. */
  async end(): Promise<boolean> {
    this.#stopping.abort();
    this.#isEnding = true;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    this.#sendToAll({ kind: 'no more connections' });
    // Workers are closed when their last log lines have been passed on.
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

  /** The metrics of each worker that responds in time. */
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

  /** Starts another worker whenever one has ended, until the shutdown. */
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
        // A connection may wait because every worker had too many.
        onTaken: () => this.#handWaiting(1),
        onReturned: (socket) => this.hand(socket),
        // The worker leaves after an unexpected error. In a shutdown of the whole server, it still gets connections until `end`.
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
