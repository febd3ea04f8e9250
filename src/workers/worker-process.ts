import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Snapshot } from '../observability/metrics/metrics.ts';
import { argumentsOf, type SupervisorMessage, type WorkerMessage, type WorkerRole } from './worker.ts';

/** The program of a worker. A release starts the server with another file, whose commands do not include a worker. */
const PROGRAM = join(import.meta.dirname, '../main.ts');
/** The metrics of a worker that does not respond in this time are left out. Prometheus waits for ten seconds by default. */
const METRICS_MS = 3000;
/** Connections that a worker has not taken. A worker with so many of them is stuck, and gets no more. */
const MAX_UNTAKEN = 5000;

/** How a worker's process ended. */
export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly livedMs: number };

export type WorkerEvents = {
  /** The worker can serve connections. */
  onReady(): void;
  /** The worker has begun its own shutdown. */
  onLeaving(): void;
  /** The worker has taken a connection, and may get another one. */
  onTaken(): void;
  /** The connection did not reach the worker. */
  onReturned(socket: Socket): void;
};

/** A worker, as its supervisor sees it. */
export class WorkerProcess {
  readonly ready: Promise<void>;
  readonly ended: Promise<Ended>;
  /** Resolves after its end, when its last log lines and messages have been read. */
  readonly closed: Promise<void>;
  readonly #child: ChildProcess;
  readonly #events: WorkerEvents;
  #isReady = false;
  #hasEnded = false;
  /** Connections that were handed to the worker and that it has not taken, in the order in which they were sent. */
  readonly #untaken = new Map<number, Socket>();
  #lastConnection = 0;
  #lastMetricsRequest = 0;
  readonly #metricsRequests = new Map<number, (snapshot: Snapshot) => void>();

  constructor(role: WorkerRole, events: WorkerEvents) {
    // A terminal gets readable rows, which each worker writes by itself.
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
      // The process could not be started, for example because there are too many.
      if (child.pid !== undefined) return;
      onEnd(null, null);
      closed.resolve();
    });
    // The exit is too early: the last messages may still have to be read, and no two workers may read from one connection.
    child.once('close', () => {
      closed.resolve();
      for (const socket of this.#untaken.values()) events.onReturned(socket);
    });
  }

  /** `undefined` if the process could not be started. */
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
    // Node sends the next handle when the worker has received this one. If the worker ends first, Node neither calls back nor
    // closes the handles that it keeps, so the socket stays open here until the worker has taken the connection.
    this.#child.send(message, socket, { keepOpen: true }, () => {});
  }

  /** Does nothing if the worker has ended. */
  send(message: SupervisorMessage): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** No further connection is handed to the worker, which has been told so. */
  release(): void {
    this.#isReady = false;
    this.send({ kind: 'no more connections' });
  }

  /** `null` if it did not respond in time. */
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

  /** Messages can arrive after the end of the process. */
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

  /** Closing the copy does not end the connection. */
  #onTaken(taken: number): void {
    for (const [id, socket] of this.#untaken) {
      if (id > taken) break;
      this.#untaken.delete(id);
      if (id === taken) socket.destroy();
      // The worker had no file descriptor left for it.
      else this.#events.onReturned(socket);
    }
    this.#events.onTaken();
  }
}

/**
 * Passes on what arrives in pieces, but only whole lines: processes that write to one pipe at the same time would otherwise
 * tear each other's lines.
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

  /** Passes on a last line without an end. A killed process may leave one. */
  end(): void {
    if (this.#rest.length > 0) this.#write(Buffer.concat([this.#rest, Buffer.from('\n')]));
    this.#rest = Buffer.alloc(0);
  }
}
