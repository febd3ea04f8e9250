import { FairQueue, type FairQueueOptions } from './fair-queue.ts';
import { LightLoad } from './light-load.ts';

export type DatabaseQueues = {
  /** The tenants are organizations. */
  readonly api: FairQueue;
  /** The tenants are the networks of the clients, because a request shows its organization only after a look-up. */
  readonly dashboard: FairQueue;
};

const API_SHARE = 0.6;
const DASHBOARD_SHARE = 0.2;
const API_WAIT_MS = 1200;
/** Longer, because people do not send their requests again. */
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
