import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Snapshot } from '../observability/metrics/metrics.ts';
import { argumentsOf, type SupervisorMessage, type WorkerMessage, type WorkerRole } from './worker.ts';

/** The program of a worker. A release starts the server with another file, which has no command for workers. */
const PROGRAM = join(import.meta.dirname, '../main.ts');
/**
 * How long to wait for the metrics of a worker. The metrics of a slower worker are omitted. By default, Prometheus waits for ten
 * seconds.
 */
const METRICS_MS = 3000;
/**
 * The maximum number of connections that a worker has been handed but has not taken. A worker with so many connections is stuck,
 * and gets no more.
 */
const MAX_UNTAKEN = 5000;

/** How a worker process ended. */
export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly livedMs: number };

export type WorkerEvents = {
  /** Called when the worker can serve connections. */
  onReady(): void;
  /** Called when the worker has begun to shut down by itself. */
  onLeaving(): void;
  /** Called when the worker has taken a connection, and can be handed another connection. */
  onTaken(): void;
  /** Called when a connection did not reach the worker. */
  onReturned(socket: Socket): void;
};

/** A worker process, from the supervisor's point of view. */
export class WorkerProcess {
  readonly ready: Promise<void>;
  readonly ended: Promise<Ended>;
  /** Resolves after the worker has ended and its last log lines and messages have been read. */
  readonly closed: Promise<void>;
  readonly #child: ChildProcess;
  readonly #events: WorkerEvents;
  #isReady = false;
  #hasEnded = false;
  /** The connections that were handed to the worker but that it has not taken, in the order in which they were sent. */
  readonly #untaken = new Map<number, Socket>();
  #lastConnection = 0;
  #lastMetricsRequest = 0;
  readonly #metricsRequests = new Map<number, (snapshot: Snapshot) => void>();

  constructor(role: WorkerRole, events: WorkerEvents) {
    // On a terminal, each worker writes readable rows by itself.
    const output = process.stdout.isTTY ? 'inherit' : 'pipe';
    const startedAt = performance.now();
    const child = fork(PROGRAM, argumentsOf(role), { stdio: ['ignore', output, 'inherit', 'ipc'] });
    const [ready, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<Ended>()];
    const closed = Promise.withResolvers<void>();
    this.#child = child;
    this.#events = events;
    [this.ready, this.ended, this.closed] = [ready.promise, ended.promise, closed.promise];
    const lines = new WholeLines((text) => process.stdout.write(text));
    child.stdout?.on('data', (piece: Buffer) => lines.push(piece)).on('end', () => lines.end());
    child.on('message', (message: WorkerMessage) => this.#receive(message, ready.resolve));
    const onEnd = (code: number | null, signal: NodeJS.Signals | null) => {
      this.#hasEnded = true;
      ended.resolve({ code, signal, livedMs: performance.now() - startedAt });
    };
    child.once('exit', onEnd);
    child.on('error', () => {
      // The process could not be started, for example because there are too many processes.
      if (child.pid !== undefined) return;
      onEnd(null, null);
      closed.resolve();
    });
    // Untaken connections are returned only at `close`, because two workers must not read from one connection. At `exit`, the
    // last messages about taken connections may not have been read yet.
    child.once('close', () => {
      closed.resolve();
      for (const socket of this.#untaken.values()) events.onReturned(socket);
    });
  }

  /** The process id; `undefined` if the process could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return !this.#hasEnded;
  }

  get canTake(): boolean {
    return this.#isReady && !this.#hasEnded && this.#child.connected && this.#untaken.size < MAX_UNTAKEN;
  }

  hand(socket: Socket): void {
    this.#lastConnection += 1;
    const message: SupervisorMessage = { kind: 'connection', id: this.#lastConnection };
    this.#untaken.set(message.id, socket);
    // Node sends the next handle only when the worker has received this handle. If the worker ends first, Node neither calls back
    // nor closes the handles that it keeps, so the socket stays open here until the worker has taken the connection.
    this.#child.send(message, socket, { keepOpen: true }, () => {});
  }

  /** Sends a message, or does nothing if the worker has ended. */
  send(message: SupervisorMessage): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Tells the worker that it will get no more connections. */
  release(): void {
    this.#isReady = false;
    this.send({ kind: 'no more connections' });
  }

  /** Reads the worker's metrics; returns `null` if the worker does not respond in time. */
  async readMetrics(): Promise<Snapshot | null> {
    this.#lastMetricsRequest += 1;
    const request: SupervisorMessage = { kind: 'read metrics', id: this.#lastMetricsRequest };
    const { promise, resolve } = Promise.withResolvers<Snapshot | null>();
    const timer = setTimeout(resolve, METRICS_MS, null);
    this.#metricsRequests.set(request.id, resolve);
    this.#child.send(request, (error) => error !== null && resolve(null));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#metricsRequests.delete(request.id);
    }
  }

  /** Handles a message from the worker. Messages can arrive after the process has ended. */
  #receive(message: WorkerMessage, resolveReady: () => void): void {
    if (message.kind === 'metrics') this.#metricsRequests.get(message.id)?.(message.snapshot);
    if (message.kind === 'taken') this.#onTaken(message.id);
    if (message.kind === 'leaving' && !this.#hasEnded) this.#events.onLeaving();
    if (message.kind === 'ready' && !this.#hasEnded) {
      this.#isReady = true;
      resolveReady();
      this.#events.onReady();
    }
  }

  /**
   * Closes this process's copy of a socket that the worker has taken. The connection stays open in the worker. Sockets that were
   * sent to the worker earlier are given back, because the worker could not take them.
   */
  #onTaken(taken: number): void {
    for (const [id, socket] of this.#untaken) {
      if (id > taken) break;
      this.#untaken.delete(id);
      if (id === taken) socket.destroy();
      // The worker had no free file descriptor for this connection.
      else this.#events.onReturned(socket);
    }
    this.#events.onTaken();
  }
}

/**
 * Passes on a worker's output in whole lines, because processes that write to the same pipe at the same time would otherwise mix
 * up their lines.
 */
class WholeLines {
  readonly #write: (lines: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(write: (lines: Buffer) => void) {
    this.#write = write;
  }

  push(piece: Buffer): void {
    const end = piece.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#rest = Buffer.concat([this.#rest, piece]);
      return;
    }
    this.#write(Buffer.concat([this.#rest, piece.subarray(0, end)]));
    this.#rest = piece.subarray(end);
  }

  /** Passes on a last line without a line break, which a killed process may leave. */
  end(): void {
    if (this.#rest.length > 0) this.#write(Buffer.concat([this.#rest, Buffer.from('\n')]));
    this.#rest = Buffer.alloc(0);
  }
}
