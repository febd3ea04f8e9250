import { FairQueue } from './fair-queue.ts';

export type DatabaseQueues = {
  /** The tenants are organizations. */
  readonly api: FairQueue;
  /** The tenants are the networks of the clients, because a request shows its organization only after a look-up. */
  readonly dashboard: FairQueue;
};

const API_SHARE = 0.6;
const DASHBOARD_SHARE = 0.2;
const API_WAIT_MS = 1500;
/** Longer, because people do not send their requests again. */
const DASHBOARD_WAIT_MS = 5000;

/**
 * Divides the connections of a pool: six tenths for the operations of the API, two tenths for the dashboard. The rest is for
 * look-ups of keys, which take one connection for all requests, for health checks and for work in the background. No tenant
 * takes more than half of a share, so that another one finds a free connection. A pool of one or two connections has no such
 * reserve: what exceeds it waits in the pool.
 */
export function createDatabaseQueues(
  connections: number,
  { apiWaitMs = API_WAIT_MS }: { apiWaitMs?: number | undefined } = {},
): DatabaseQueues {
  return {
    api: new FairQueue({ name: 'api', maxWaitMs: apiWaitMs, ...permitsOf(connections * API_SHARE) }),
    dashboard: new FairQueue({
      name: 'dashboard',
      maxWaitMs: DASHBOARD_WAIT_MS,
      ...permitsOf(connections * DASHBOARD_SHARE),
    }),
  };
}

function permitsOf(share: number): { permits: number; permitsPerTenant: number } {
  const permits = Math.max(1, Math.floor(share));
  return { permits, permitsPerTenant: Math.max(1, Math.floor(permits / 2)) };
}
