import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../observability/logs.ts';
import { counter, gauge, type Metric } from '../observability/metrics/metric.ts';
import type { Snapshot } from '../observability/metrics/metrics.ts';
import type { SupervisorMessage, WorkerMessage } from './messages.ts';
import { WholeLines } from './whole-lines.ts';
import { argumentsOf } from './worker.ts';

export type WorkersOptions = {
  readonly count: number;
  /** Of the server. */
  readonly url: string;
  readonly logger: Logger;
};

/** The wait before a worker is replaced. It doubles with each end soon after a start, so that a permanent fault costs little. */
const BACK_OFF_MS = { first: 100, most: 10_000 };
/** A worker that has lived for this time had no fault at its start. */
const STABLE_MS = 30_000;
/** The metrics of a worker that does not respond in this time are left out. Prometheus waits for ten seconds by default. */
const METRICS_MS = 3000;
/** The program of a worker. A release starts the server with another file, whose commands do not include a worker. */
const PROGRAM = join(import.meta.dirname, '../main.ts');
/** Connections that wait for a worker while none is ready, or all are stuck. */
const MAX_WAITING = 5000;
/** Connections that a worker has not taken. A worker with so many of them is stuck, and gets no more. */
const MAX_UNTAKEN = 5000;

type Slot = {
  /** From 1. */
  readonly number: number;
  /** Null: it has ended, and the next one has not been started. */
  child: ChildProcess | null;
  isReady: boolean;
  /** Connections that were handed to the child and that it has not taken, by id and in the order in which they were sent. */
  untaken: Map<number, Socket>;
  /** Ends of workers of this number soon after their start, in a row. */
  earlyEnds: number;
};

type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly livedMs: number };

/**
 * Processes that serve the connections which this process accepts. Each gets the next connection in turn, as with the cluster
 * module of Node. That module is not used, because a shutdown with it loses the connections on their way to the last worker, and its
 * workers exit at once when their supervisor has died.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #slots: readonly Slot[];
  /** Workers that run, or have ended with log lines that are still to be passed on. */
  readonly #open = new Set<ChildProcess>();
  readonly #stopping = new AbortController();
  readonly #waiting: Socket[] = [];
  #turn = 0;
  #lastConnection = 0;
  /** No connection may be sent after `no more connections`. */
  #isEnding = false;
  #ends = 0;
  #hasFailed = false;
  #lastMetricsRequest = 0;
  readonly #metricsRequests = new Map<number, (snapshot: Snapshot) => void>();

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, i) => ({
      number: i + 1,
      child: null,
      isReady: false,
      untaken: new Map(),
      earlyEnds: 0,
    }));
  }

  /** Resolves with true when all workers are ready; false: one has ended instead, and has said why. */
  async start(): Promise<boolean> {
    const [first, ...others] = this.#slots;
    if (first === undefined) throw new Error('There must be at least one worker.');
    // The first one alone, so that migrations run once, and a fault is reported once.
    if (!(await this.#startFirst(first, { isFirst: true }))) return false;
    if (this.#stopping.signal.aborted) return false;
    const areReady = await Promise.all(others.map((slot) => this.#startFirst(slot, { isFirst: false })));
    return !areReady.includes(false);
  }

  /** Gives the connection to the next worker in turn. Nothing must have been read from it. */
  hand(socket: Socket): void {
    if (this.#isEnding) {
      socket.destroy();
      return;
    }
    for (let i = 0; i < this.#slots.length; i += 1) {
      this.#turn = (this.#turn + 1) % this.#slots.length;
      const slot = this.#slots[this.#turn];
      if (slot?.child?.connected !== true || !slot.isReady || slot.untaken.size >= MAX_UNTAKEN) continue;
      this.#lastConnection += 1;
      const message: SupervisorMessage = { kind: 'connection', id: this.#lastConnection };
      slot.untaken.set(message.id, socket);
      // Node sends the next handle when the worker has received this one. If the worker ends first, Node neither calls back nor
      // closes the handles that it keeps, so the socket stays open here until the worker has taken the connection.
      slot.child.send(message, socket, { keepOpen: true }, () => {});
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

  /** After `requestStop` and the last connection. Resolves when all workers have ended: with false if any has failed. */
  async end(): Promise<boolean> {
    this.#stopping.abort();
    this.#isEnding = true;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    this.#sendToAll({ kind: 'no more connections' });
    // After their last log lines have been passed on.
    await Promise.all([...this.#open].map((child) => new Promise((resolve) => child.once('close', resolve))));
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
    const snapshots = await Promise.all(this.#running().map((child) => this.#requestMetrics(child)));
    return snapshots.filter((snapshot) => snapshot !== null);
  }

  #running(): ChildProcess[] {
    return this.#slots.flatMap(({ child }) => (child === null ? [] : [child]));
  }

  #sendToAll(message: SupervisorMessage): void {
    for (const child of this.#running()) if (child.connected) child.send(message, () => {});
  }

  /** Resolves with true when the worker is ready; false: it has ended instead. Once ready, it is replaced whenever it ends. */
  async #startFirst(slot: Slot, { isFirst }: { isFirst: boolean }): Promise<boolean> {
    const { ready, ended } = this.#spawn(slot, { isFirst });
    const isReady = await Promise.race([ready.then(() => true), ended.then(() => false)]);
    if (isReady) void this.#watch(slot, ended);
    return isReady;
  }

  /** Starts another worker whenever one has ended, until the shutdown. */
  async #watch(slot: Slot, firstEnd: Promise<Ended>): Promise<void> {
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
      end = this.#spawn(slot, { isFirst: false }).ended;
    }
  }

  #spawn(slot: Slot, { isFirst }: { isFirst: boolean }): { ready: Promise<void>; ended: Promise<Ended> } {
    const { url, logger } = this.#options;
    // A terminal gets readable rows, which each worker writes by itself.
    const output = process.stdout.isTTY ? 'inherit' : 'pipe';
    const startedAt = performance.now();
    const child = fork(PROGRAM, argumentsOf({ number: slot.number, url, isFirst }), {
      stdio: ['ignore', output, 'inherit', 'ipc'],
    });
    const untaken = new Map<number, Socket>();
    slot.child = child;
    slot.untaken = untaken;
    logger.info({ worker: slot.number, workerPid: child.pid }, 'a worker starts');
    const lines = new WholeLines((text) => process.stdout.write(text));
    child.stdout?.on('data', (piece: Buffer) => lines.push(piece)).on('end', () => lines.end());
    const [ready, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<Ended>()];
    child.on('message', (message: WorkerMessage) => {
      if (message.kind === 'metrics') this.#metricsRequests.get(message.id)?.(message.snapshot);
      // Messages of a worker can arrive after its end, when the slot has no worker or the next one.
      if (message.kind === 'ready' && slot.child === child) this.#onReady(slot, ready.resolve);
      if (message.kind === 'leaving' && slot.child === child) this.#onLeaving(slot);
      if (message.kind === 'taken') this.#onTaken(untaken, message.id);
    });
    const onEnd = (code: number | null, signal: NodeJS.Signals | null) => {
      slot.child = null;
      slot.isReady = false;
      if (this.#stopping.signal.aborted && code !== 0) this.#hasFailed = true;
      ended.resolve({ code, signal, livedMs: performance.now() - startedAt });
    };
    child.once('exit', onEnd);
    // It could not be started, for example because there are too many processes.
    child.on('error', () => child.pid === undefined && onEnd(null, null));
    if (child.pid !== undefined) this.#open.add(child);
    // Not at its exit, when its last messages may still have to be read: no two workers may read from one connection.
    child.once('close', () => {
      this.#open.delete(child);
      for (const socket of untaken.values()) this.hand(socket);
    });
    return { ready: ready.promise, ended: ended.promise };
  }

  #onReady(slot: Slot, resolve: () => void): void {
    slot.isReady = true;
    resolve();
    for (const socket of this.#waiting.splice(0)) this.hand(socket);
  }

  /** Closing the copy does not end the connection. */
  #onTaken(untaken: Map<number, Socket>, taken: number): void {
    for (const [id, socket] of untaken) {
      if (id > taken) break;
      untaken.delete(id);
      if (id === taken) socket.destroy();
      // It did not reach the worker, which had no file descriptor left for it.
      else this.hand(socket);
    }
    // It may have waited because every worker had too many.
    const next = this.#waiting.shift();
    if (next !== undefined) this.hand(next);
  }

  /** After an unexpected error. In a shutdown of the whole server, it still gets connections until `end`. */
  #onLeaving(slot: Slot): void {
    if (this.#stopping.signal.aborted) return;
    slot.isReady = false;
    slot.child?.send({ kind: 'no more connections' } satisfies SupervisorMessage, () => {});
  }

  async #requestMetrics(child: ChildProcess): Promise<Snapshot | null> {
    this.#lastMetricsRequest += 1;
    const request: SupervisorMessage = { kind: 'read metrics', id: this.#lastMetricsRequest };
    const { promise, resolve } = Promise.withResolvers<Snapshot | null>();
    const timer = setTimeout(resolve, METRICS_MS, null);
    this.#metricsRequests.set(request.id, resolve);
    child.send(request, (error) => error !== null && resolve(null));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#metricsRequests.delete(request.id);
    }
  }
}
