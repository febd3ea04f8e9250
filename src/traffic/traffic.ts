import type { RequestLimits } from '../domain/keys/request-limits.ts';
import { leaseTokens } from '../store/keys/rate-limits.ts';
import type { Database } from '../store/sql/database.ts';
import { createDatabaseQueues, type DatabaseQueues } from './fair-queue.ts';
import { type KeyUseWriter, startKeyUses } from './last-used.ts';
import { LookUpMeasures } from './look-ups.ts';
import { createPause, createThrottle, REFUSAL_PAUSE_MS, RequestLimiter } from './request-limiter.ts';

/** What all requests of this process share: limits, queues and usage counts. */
export type Traffic = {
  readonly limiter: RequestLimiter;
  readonly queues: DatabaseQueues;
  readonly keyUses: KeyUseWriter;
  /** The measures of the look-ups of keys, and how long in milliseconds a request waits for a look-up. */
  readonly lookUps: { readonly measures: LookUpMeasures; readonly waitMs: number | undefined };
  /** Delays the refusal of a request whose address sends too many requests without a valid key. */
  readonly pause: () => Promise<void>;
  /** Delays a request from this address if the address sends too many requests without a valid key. */
  readonly throttle: (ip: string) => Promise<void>;
};

export type TrafficOptions = {
  readonly requestLimits: RequestLimits;
  /**
   * How long in milliseconds a request may wait for its turn, and for the look-up of its key. Default: 1,200 for a turn in the
   * API, 5,000 for a turn in the dashboard, and 1,500 for the look-up.
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * How long in milliseconds a refusal is delayed if the client's address sends too many requests without a valid key. Default:
   * 100.
   */
  readonly refusalPauseMs?: number | undefined;
};

type OnTrafficFailure = {
  /** Called when leases begin to fail, so that requests can no longer be counted in the database. */
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
