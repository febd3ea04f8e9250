import { setTimeout as delay } from 'node:timers/promises';
import { OverloadError } from '../domain/errors.ts';
import type { RequestLimits } from '../domain/keys/request-limits.ts';
import { leaseTokens } from '../store/keys/rate-limits.ts';
import type { Database } from '../store/sql/database.ts';
import { LookUpMeasures } from './batch-look-ups.ts';
import { FairQueue, type FairQueueOptions, LightLoad } from './fair-queue.ts';
import { type KeyUseWriter, startKeyUses } from './last-used.ts';
import { RequestLimiter } from './request-limiter.ts';

/** What all requests of this process share: limits, queues and counts of use. */
export type Traffic = {
  readonly limiter: RequestLimiter;
  readonly queues: DatabaseQueues;
  readonly keyUses: KeyUseWriter;
  /** What is measured of the look-ups of keys, and how long a request waits for one. */
  readonly lookUps: { readonly measures: LookUpMeasures; readonly waitMs: number | undefined };
  /** Waits before a refusal of an address that sends too many requests without a valid key. */
  readonly pause: () => Promise<void>;
  /** Delays a request from this address if the address sends too many requests without a valid key. */
  readonly throttle: (ip: string) => Promise<void>;
};

export type TrafficOptions = {
  readonly requestLimits: RequestLimits;
  /**
   * How long a request may wait for its turn, and for the look-up of its key. By default, 1,200 ms for the turn of one to the
   * API, 5,000 for one to the dashboard, and 1,500 for the look-up.
   */
  readonly maxWaitMs?: number | undefined;
  /** How long a refusal waits at most if its address sends too many requests without a valid key; 100 ms by default. */
  readonly refusalPauseMs?: number | undefined;
};

type OnTrafficFailure = {
  /** Called when requests can no longer be counted in the database. */
  readonly onLeaseFailure: (error: unknown) => void;
  /** Called when the uses of keys could not be written. */
  readonly onUseFailure: (error: unknown) => void;
};

export function createTraffic(
  db: Database,
  { requestLimits, maxWaitMs, refusalPauseMs = REFUSAL_PAUSE_MS }: TrafficOptions,
  { onLeaseFailure, onUseFailure }: OnTrafficFailure,
): Traffic {
  const limiter = new RequestLimiter({
    limits: requestLimits,
    lease: (requests) => leaseTokens(db, requests),
    onFailure: onLeaseFailure,
  });
  const pause = createPause(refusalPauseMs);
  return {
    limiter,
    queues: createDatabaseQueues(db.poolSize, { maxWaitMs }),
    keyUses: startKeyUses(db, { onFailure: onUseFailure }),
    lookUps: { measures: new LookUpMeasures(), waitMs: maxWaitMs },
    pause,
    throttle: createThrottle(limiter, pause),
  };
}

/** Returns a function that waits for at most this time. All calls during one wait end with it and share its timer. */
export function createPause(milliseconds: number): () => Promise<void> {
  let current: Promise<void> | undefined;
  const wait = async () => {
    await delay(milliseconds, undefined, { ref: false });
    current = undefined;
  };
  return () => {
    current ??= wait();
    return current;
  };
}

/** The processor time for refusals would otherwise have no limit: a client can send the next request as soon as it is refused. */
export const REFUSAL_PAUSE_MS = 100;

/**
 * Returns a function that delays a request that needs no key, such as one for the sign-in page, by at most this pause if its
 * address sends too many requests without a valid key. It never waits longer than that for PostgreSQL, which may be down.
 */
export function createThrottle(limiter: Pick<RequestLimiter, 'admitAddress'>, pause: () => Promise<void>) {
  return async (ip: string): Promise<void> => {
    const admitted = admit(limiter, ip);
    if (admitted === true) return;
    const end = pause();
    if (!(await Promise.race([admitted, end.then(() => true)]))) await end;
  };
}

/** Too many requests that wait for PostgreSQL are a reason for a delay, not for a refusal. */
function admit(limiter: Pick<RequestLimiter, 'admitAddress'>, ip: string): boolean | Promise<boolean> {
  try {
    return limiter.admitAddress(ip);
  } catch (error) {
    if (error instanceof OverloadError) return false;
    throw error;
  }
}

export type DatabaseQueues = {
  /** The tenants are organizations. */
  readonly api: FairQueue;
  /** The tenants are the networks of the clients, because a request shows its organization only after a look-up. */
  readonly dashboard: FairQueue;
};

const API_SHARE = 0.6;
const DASHBOARD_SHARE = 0.2;
const API_WAIT_MS = 1200;
/** The dashboard waits longer, because people do not send their requests again. */
const DASHBOARD_WAIT_MS = 5000;

/**
 * Divides the connections of a pool: six tenths for the operations of the API, two tenths for the dashboard. The rest is for
 * look-ups of keys, which take one connection for all requests, for health checks and for work in the background. A tenant
 * takes at most half of a share while others send requests too, and all but one connection while it is alone, so that another
 * one finds a free connection. A tenant with waiting requests pauses while a tenant of either queue sends less than its share,
 * because all of them share the processors. Small pools have no reserve: what exceeds them waits in the pool.
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
