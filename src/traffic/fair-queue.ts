import type { EventEmitter } from 'node:events';
import { AbandonedError, OverloadError, type Overloaded } from '../domain/errors.ts';

export type FairQueueOptions = {
  /** The name of the queue in its refusals. */
  readonly name: Overloaded;
  /** The number of tasks that may run at the same time, at least 1. */
  readonly permits: number;
  /**
   * The number of tasks of one tenant that may run at the same time if other tenants had tasks within the last second, 1 to
   * `permits`.
   */
  readonly permitsPerTenant: number;
  /** The number of tasks of one tenant that may run at the same time if no other tenant had tasks, 1 to `permits`. */
  readonly permitsAlone: number;
  /** The number of tasks of one tenant that may wait, which limits the memory. */
  readonly maxWaiting?: number;
  /** The time in milliseconds after which a waiting task is refused. */
  readonly maxWaitMs: number;
  /**
   * The recent tasks of all tenants. Queues whose tasks compete for the same processors share this object; tenants of the same
   * name count as one tenant. If the object is omitted, no tenant is paused.
   */
  readonly lightLoad?: LightLoad | undefined;
};

/** The connection of a client, such as a socket: it emits "end" when the client sends no more, and "close". */
export type ClientConnection = Pick<EventEmitter, 'once' | 'off'> & {
  readonly destroyed: boolean;
  readonly readableEnded: boolean;
};

type Tenant = {
  readonly name: string;
  running: number;
  /** Whether the tenant is paused. No task of the tenant begins during a pause. */
  isPaused: boolean;
  /** The end of the pause, on the clock of `performance.now()`. */
  pausedUntil: number;
  /** The number of turns that the tenant's last task took in advance. The other tenants now get these turns. */
  owedTurns: number;
  /** The waiting tasks, in order of arrival. */
  readonly waiting: Set<Waiting>;
};

type Waiting = { readonly tenant: Tenant; readonly since: number; readonly settle: (refusal?: Error) => void };

const ABANDONED = new AbandonedError();
const TIMER_MS = 50;
const ALONE_MS = 1000;
/** The number of changes of a batch that count as one turn, because they take as much time as a single request. */
const ITEMS_PER_TURN = 10;
/** The longest pause after a task. A task that takes longer probably waits for a lock or a slow disk, not for a processor. */
const MAX_PAUSE_MS = 25;

/**
 * Runs a limited number of tasks at the same time. The other tasks wait: the tasks of one tenant in order of arrival, while the
 * tenants take turns. A tenant with a thousand tasks therefore delays the tasks of other tenants no more than a tenant with one
 * task does. A task leaves the queue when its client closes the connection. If the client has closed only its sending side, it
 * may be gone or may still wait, so the task is refused. Turns do not protect a tenant that sends one task after another, because
 * its tasks compete for the processors with the running tasks of other tenants. While there is such a tenant, each tenant with
 * waiting tasks pauses after each task for as long as the task took, and so uses at most half of the time. Pauses must not cause
 * refusals, so a tenant does not pause if its oldest task has waited for half of the time limit, or if its newest task would wait
 * for the whole time limit. A task that cannot be run in time keeps its place until its time limit. An immediate refusal would be
 * better for a client that waits, but a client that immediately sends its request again would cost more processor time for
 * refusals than its tasks take.
 */
export class FairQueue {
  readonly #options: Required<Omit<FairQueueOptions, 'lightLoad'>>;
  readonly #lightLoad: LightLoad | undefined;
  readonly #refusal: OverloadError;
  readonly #tenants = new Map<string, Tenant>();
  /** The tenants whose next waiting task may run, in the order of their turns. */
  readonly #turns = new Set<Tenant>();
  /** The waiting tasks of all tenants, in order of arrival. */
  readonly #waiting = new Set<Waiting>();
  #running = 0;
  #lastTenant = '';
  /** The last time at which a task arrived from another tenant than the task before. */
  #lastChangeAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor({ lightLoad, ...options }: FairQueueOptions) {
    this.#options = { maxWaiting: 5000, ...options };
    this.#lightLoad = lightLoad;
    this.#refusal = new OverloadError(options.name);
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs the task immediately if there is a permit, otherwise in its turn. `extraItems` is the number of items of a batch other
   * than the first. For these items, the task takes additional turns, which the tenant gives back to the other tenants
   * afterwards. Throws an OverloadError if the task waits too long, and an AbandonedError if the client closes its connection or
   * its sending side before the task begins.
   */
  async run<T>(
    tenantName: string,
    connection: ClientConnection,
    task: () => T | Promise<T>,
    { extraItems = 0 }: { readonly extraItems?: number } = {},
  ): Promise<T> {
    if (connection.destroyed) throw ABANDONED;
    const tenant = this.#tenants.get(tenantName) ?? this.#add(tenantName);
    this.#noteArrival(tenantName);
    this.#lightLoad?.note(tenantName, tenant.waiting.size === 0 && tenant.running < this.#options.permitsPerTenant);
    const isNext = tenant.waiting.size === 0 && this.#running < this.#options.permits && this.#mayRun(tenant);
    if (isNext) this.#start(tenant);
    else await this.#wait(tenant, connection);
    tenant.owedTurns = Math.max(tenant.owedTurns, Math.floor(extraItems / ITEMS_PER_TURN));
    const startedAt = performance.now();
    try {
      return await task();
    } finally {
      this.#end(tenant, startedAt);
    }
  }

  #add(name: string): Tenant {
    const tenant = { name, running: 0, isPaused: false, pausedUntil: 0, owedTurns: 0, waiting: new Set<Waiting>() };
    this.#tenants.set(name, tenant);
    return tenant;
  }

  #noteArrival(tenantName: string): void {
    if (tenantName === this.#lastTenant) return;
    if (this.#lastTenant !== '') this.#lastChangeAt = performance.now();
    this.#lastTenant = tenantName;
  }

  #mayRun({ running, isPaused }: Tenant): boolean {
    const { permitsPerTenant, permitsAlone } = this.#options;
    if (isPaused) return false;
    if (running < permitsPerTenant) return true;
    return running < permitsAlone && performance.now() - this.#lastChangeAt > ALONE_MS;
  }

  #start(tenant: Tenant): void {
    tenant.running += 1;
    this.#running += 1;
  }

  #end(tenant: Tenant, startedAt: number): void {
    tenant.running -= 1;
    this.#running -= 1;
    const [oldest] = tenant.waiting;
    if (oldest !== undefined) {
      this.#pause(tenant, { oldest, startedAt });
      this.#turns.add(tenant);
    } else this.#removeIfIdle(tenant);
    this.#startNext();
  }

  /**
   * Pauses the tenant after a task if another tenant benefits and no task of this tenant is likely to be refused because of the
   * pause.
   */
  #pause(tenant: Tenant, { oldest, startedAt }: { oldest: Waiting; startedAt: number }): void {
    const now = performance.now();
    if (!this.#lightLoad?.hasOther(tenant.name, now)) return;
    const { maxWaitMs, permitsPerTenant } = this.#options;
    const tookMs = now - startedAt;
    const pauseMs = Math.min(MAX_PAUSE_MS, tookMs);
    const newestWaitsMs = (tenant.waiting.size * (tookMs + pauseMs)) / permitsPerTenant;
    if (now - oldest.since > maxWaitMs / 2 || newestWaitsMs > maxWaitMs) return;
    tenant.pausedUntil = Math.max(tenant.pausedUntil, now + pauseMs);
    if (!tenant.isPaused) this.#startPauseTimer(tenant, pauseMs);
    tenant.isPaused = true;
  }

  #startPauseTimer(tenant: Tenant, milliseconds: number): void {
    setTimeout(() => this.#endPause(tenant), Math.ceil(milliseconds)).unref();
  }

  /** Ends the pause. Starts the timer again if it fired early, or if another task has ended and extended the pause. */
  #endPause(tenant: Tenant): void {
    const pauseMs = tenant.pausedUntil - performance.now();
    if (pauseMs > 0) {
      this.#startPauseTimer(tenant, pauseMs);
      return;
    }
    tenant.isPaused = false;
    if (tenant.waiting.size > 0) this.#turns.add(tenant);
    this.#startNext();
  }

  #startNext(): void {
    for (const tenant of this.#turns) {
      if (this.#running >= this.#options.permits) return;
      this.#turns.delete(tenant);
      const [next] = tenant.waiting;
      if (next === undefined || !this.#mayRun(tenant)) continue;
      if (tenant.owedTurns > 0 && this.#turns.size > 0) {
        tenant.owedTurns -= 1;
        this.#turns.add(tenant);
        continue;
      }
      tenant.owedTurns = 0;
      this.#start(tenant);
      next.settle();
      // The tenant moves to the end of the set, so this loop reaches it again after the other tenants.
      if (tenant.waiting.size > 0) this.#turns.add(tenant);
    }
  }

  /** Waits until the task gets a permit. */
  #wait(tenant: Tenant, connection: ClientConnection): Promise<void> {
    if (tenant.waiting.size >= this.#options.maxWaiting || connection.readableEnded) {
      this.#removeIfIdle(tenant);
      throw connection.readableEnded ? ABANDONED : this.#refusal;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abandon = () => settle(ABANDONED);
    const settle = (refusal?: Error) => {
      this.#leave(waiting);
      connection.off('close', abandon);
      connection.off('end', abandon);
      if (refusal === undefined) resolve();
      else reject(refusal);
    };
    const waiting: Waiting = { tenant, since: performance.now(), settle };
    connection.once('close', abandon);
    connection.once('end', abandon);
    tenant.waiting.add(waiting);
    this.#waiting.add(waiting);
    if (this.#mayRun(tenant)) this.#turns.add(tenant);
    this.#timer ??= this.#startTimer(waiting);
    return promise;
  }

  #leave(waiting: Waiting): void {
    const { tenant } = waiting;
    this.#waiting.delete(waiting);
    tenant.waiting.delete(waiting);
    if (tenant.waiting.size > 0) return;
    this.#turns.delete(tenant);
    this.#removeIfIdle(tenant);
  }

  #removeIfIdle(tenant: Tenant): void {
    if (tenant.running === 0 && tenant.waiting.size === 0) this.#tenants.delete(tenant.name);
  }

  /** Starts the timer that all tasks share. The task that has waited longest is the first to reach the time limit. */
  #startTimer(oldest: Waiting): NodeJS.Timeout {
    const remainingMs = Math.max(TIMER_MS, oldest.since + this.#options.maxWaitMs - performance.now());
    return setTimeout(() => this.#refuseLate(), remainingMs).unref();
  }

  #refuseLate(): void {
    const latest = performance.now() - this.#options.maxWaitMs;
    this.#timer = undefined;
    for (const waiting of this.#waiting) {
      if (waiting.since > latest) {
        this.#timer = this.#startTimer(waiting);
        return;
      }
      waiting.settle(this.#refusal);
    }
  }
}

/** How long a tenant counts as active after its last task arrived. */
const RECENT_MS = 1000;

/** The tenants that had a task within the last second and used less than their share. */
export class LightLoad {
  /** The arrival of each tenant's last task, by the tenant's name, on the clock of `performance.now()`. The earliest is first. */
  readonly #arrivedAt = new Map<string, number>();

  /** Records that a task arrived. `isLight` says whether its tenant uses less than its share. */
  note(tenantName: string, isLight: boolean): void {
    const now = performance.now();
    this.#forgetOld(now);
    this.#arrivedAt.delete(tenantName);
    if (isLight) this.#arrivedAt.set(tenantName, now);
  }

  /**
   * Returns whether a tenant with another name had a task within the last second and used less than its share. `now` is on the
   * clock of `performance.now()`.
   */
  hasOther(tenantName: string, now: number): boolean {
    this.#forgetOld(now);
    return this.#arrivedAt.size > (this.#arrivedAt.has(tenantName) ? 1 : 0);
  }

  #forgetOld(now: number): void {
    for (const [tenantName, arrivedAt] of this.#arrivedAt) {
      if (now - arrivedAt <= RECENT_MS) return;
      this.#arrivedAt.delete(tenantName);
    }
  }
}

export type DatabaseQueues = {
  /** The queue of the API. Its tenants are organizations. */
  readonly api: FairQueue;
  /**
   * The queue of the dashboard. Its tenants are the networks of clients, because the organization of a request is known only
   * after a look-up.
   */
  readonly dashboard: FairQueue;
};

const API_SHARE = 0.6;
const DASHBOARD_SHARE = 0.2;
const API_WAIT_MS = 1200;
/**
 * The time limit of the dashboard's queue. It is longer than the API's, because people do not send their requests again
 * automatically.
 */
const DASHBOARD_WAIT_MS = 5000;

/**
 * Divides the connections of a pool: six tenths for the operations of the API and two tenths for the dashboard. The rest is for
 * look-ups of keys, which take one connection for all requests, for health checks and for background work. While other tenants
 * send requests, a tenant gets at most half of a share. Otherwise, it gets all connections of the share but one, so that another
 * tenant finds a free connection. A tenant with waiting requests pauses while a tenant of either queue sends less than its share,
 * because both queues use the same processors. In a small pool nothing is reserved, so further requests wait in the pool.
 */
export function createDatabaseQueues(
  connections: number,
  { maxWaitMs }: { maxWaitMs?: number | undefined } = {},
): DatabaseQueues {
  const lightLoad = new LightLoad();
  return {
    api: new FairQueue({
      name: 'api',
      maxWaitMs: maxWaitMs ?? API_WAIT_MS,
      lightLoad,
      ...permitsOf(connections * API_SHARE),
    }),
    dashboard: new FairQueue({
      name: 'dashboard',
      maxWaitMs: maxWaitMs ?? DASHBOARD_WAIT_MS,
      lightLoad,
      ...permitsOf(connections * DASHBOARD_SHARE),
    }),
  };
}

function permitsOf(share: number): Pick<FairQueueOptions, 'permits' | 'permitsPerTenant' | 'permitsAlone'> {
  const permits = Math.max(1, Math.floor(share));
  return { permits, permitsPerTenant: Math.max(1, Math.floor(permits / 2)), permitsAlone: Math.max(1, permits - 1) };
}
