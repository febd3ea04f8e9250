import { setTimeout as delay } from 'node:timers/promises';
import { type Request, type Response, Router } from 'express';
import { type Database, isReachable } from '../store/sql/database.ts';

/**
 * The time limit of the database query. It is below the timeouts of scripts/dist/deploy/haproxy.cfg (3 s) and of the command
 * `health` (4 s), so that both get a response.
 */
export const TIMEOUT_MS = 2000;

export type HealthDeps = {
  readonly db: Database;
  readonly isStopping: () => boolean;
  /** Returns whether a request has needed an encryption key that this process does not have. */
  readonly lacksEncryptionKey: () => boolean;
  readonly setPageHeaders: (res: Response) => void;
};

/** Returns the routes /livez and /readyz for supervisors and load balancers. The contract does not contain them. */
export function healthRoutes({ db, isStopping, lacksEncryptionKey, setPageHeaders }: HealthDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const respond = (res: Response, status: number, state: string): void => {
    setPageHeaders(res);
    res.status(status).set('Cache-Control', 'no-store').json({ status: state });
  };
  const findProblem = createProbe(db);
  router.get('/livez', (_req: Request, res: Response) => {
    respond(res, 200, 'alive');
  });
  router.get('/readyz', async (_req: Request, res: Response) => {
    if (isStopping()) return respond(res, 503, 'stopping');
    if (lacksEncryptionKey()) return respond(res, 503, 'an encryption key is missing');
    const problem = await findProblem();
    return problem === null ? respond(res, 200, 'ready') : respond(res, 503, problem);
  });
  return router;
}

/**
 * Returns a function that queries the database and returns the problem, or `null` if there is none, within the time limit.
 * Concurrent probes share one query, because the routes are public, and a flood of requests must not use up the connections.
 */
function createProbe(db: Database): () => Promise<string | null> {
  let inFlight: Promise<string | null> | undefined;
  const query = async () => ((await isReachable(db)) ? null : 'the database does not answer');
  return async () => {
    inFlight ??= query().finally(() => {
      inFlight = undefined;
    });
    const timer = new AbortController();
    const timeout = delay(TIMEOUT_MS, 'the database answers too slowly', { signal: timer.signal });
    try {
      return await Promise.race([inFlight, timeout]);
    } finally {
      timer.abort();
    }
  };
}
