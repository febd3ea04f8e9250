import type { RequestLimits } from '../domain/keys/request-limits.ts';
import { leaseTokens } from '../store/keys/rate-limits.ts';
import type { Database } from '../store/sql/database.ts';
import { createDatabaseQueues, type DatabaseQueues } from './fair-queue.ts';
import { type KeyUseWriter, startKeyUses } from './last-used.ts';
import { LookUpMeasures } from './look-ups.ts';
import { createPause, createThrottle, REFUSAL_PAUSE_MS, RequestLimiter } from './request-limiter.ts';

/** What all requests of this process share: limits, queues and counts of use. */
export type Traffic = {
  readonly limiter: RequestLimiter;
  readonly queues: DatabaseQueues;
  readonly keyUses: KeyUseWriter;
  /** The measures of the look-ups of keys, and how long a request waits for one. */
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
