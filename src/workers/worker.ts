import type { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import type { Metrics, Snapshot } from '../observability/metrics/metrics.ts';
import type { HandedConnections } from '../server.ts';

export type WorkerRole = {
  /** The number of the worker, starting at 1. A worker that replaces another worker gets the same number. */
  readonly number: number;
  /** The server's URL. */
  readonly url: string;
  /**
   * Whether this is the first worker to start, which warns about settings and prints the demonstration sign-ins on behalf of all
   * workers.
   */
  readonly isFirst: boolean;
};

const COMMAND = 'worker';
const FIRST = 'first';

/** Returns the command-line arguments of the worker process. */
export function argumentsOf({ number, url, isFirst }: WorkerRole): string[] {
  return [COMMAND, String(number), url, ...(isFirst ? [FIRST] : [])];
}

/** Returns the worker that this process is; `null` if the process was not started by a supervisor. */
export function readWorker([command, number, url = '', first]: readonly string[]): Worker | null {
  return command === COMMAND ? new Worker({ number: Number(number), url, isFirst: first === FIRST }) : null;
}

/** The channel to the supervisor, which is normally this process's IPC channel. */
type Channel = EventEmitter & Pick<NodeJS.Process, 'connected' | 'send'>;

/** The worker's side of the channel to its supervisor. */
export class Worker implements HandedConnections {
  readonly role: WorkerRole;
  /** Resolves with the reason when the supervisor requests this worker to stop. */
  readonly stopRequested: Promise<string>;
  readonly #channel: Channel;
  readonly #ended: Promise<void>;
  #serve: (socket: Socket) => void = (socket) => socket.destroy();
  #readMetrics: (id: number) => void = () => {};

  constructor(role: WorkerRole, channel: Channel = process) {
    this.role = role;
    this.#channel = channel;
    const [stop, end] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    this.stopRequested = stop.promise;
    this.#ended = end.promise;
    channel.on('message', (message: SupervisorMessage, handle: unknown) => {
      if (message.kind === 'connection') this.#receive(message.id, handle);
      if (message.kind === 'read metrics') this.#readMetrics(message.id);
      if (message.kind === 'stop') stop.resolve(message.reason);
      if (message.kind === 'no more connections') end.resolve();
    });
    channel.once('disconnect', () => end.resolve());
  }

  onConnection(serve: (socket: Socket) => void): void {
    this.#serve = serve;
  }

  end(): Promise<void> {
    this.#send({ kind: 'leaving' });
    return this.#ended;
  }

  /** Reports that this worker is ready, so that the supervisor hands connections to it. */
  reportReady(): void {
    this.#send({ kind: 'ready' });
  }

  /** Sends the metrics of this process to the supervisor whenever the supervisor asks for them. */
  reportMetrics(metrics: Metrics, onFailure: (error: unknown) => void): void {
    this.#readMetrics = (id) => {
      metrics.read().then((snapshot) => this.#send({ kind: 'metrics', id, snapshot }), onFailure);
    };
  }

  #receive(id: number, handle: unknown): void {
    // This message is sent first, because if this process ends, the supervisor hands every untaken connection to another worker.
    this.#send({ kind: 'taken', id });
    // The message contains no socket if the supervisor has closed the socket in the meantime.
    if (!(handle instanceof Socket)) return;
    // Node's HTTP server configures the connections that it accepts itself in the same way.
    handle.allowHalfOpen = true;
    handle.setNoDelay(true);
    this.#serve(handle);
  }

  /** Sends a message, or does nothing if the supervisor has ended. */
  #send(message: WorkerMessage): void {
    if (this.#channel.connected) this.#channel.send?.(message, undefined, undefined, () => {});
  }
}

/** A message from a worker to its supervisor. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  /** The worker begins to shut down. */
  | { readonly kind: 'leaving' }
  /** The worker has the connection, so the supervisor must close its own copy of the socket. */
  | { readonly kind: 'taken'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: Snapshot };

/** A message from the supervisor to a worker. Messages arrive in the order in which they were sent. */
export type SupervisorMessage =
  /** The socket is sent along with the message. */
  | { readonly kind: 'connection'; readonly id: number }
  | { readonly kind: 'read metrics'; readonly id: number }
  | { readonly kind: 'stop'; readonly reason: string }
  /** The response to `leaving`. In a shutdown of the whole server, it is sent after DRAIN_SECONDS. */
  | { readonly kind: 'no more connections' };
