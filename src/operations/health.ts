import { type Request, type Response, Router } from 'express';
import type { Database } from '../store/database.ts';
import { isReachable } from '../store/unscoped.ts';

/** For whoever restarts or routes to this process; not part of the contract. */
export function healthRoutes({ db, isStopping }: { db: Database; isStopping: () => boolean }): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/livez', (_req: Request, res: Response) => {
    answer(res, 200, 'alive');
  });
  router.get('/readyz', async (_req: Request, res: Response) => {
    if (isStopping()) return answer(res, 503, 'stopping');
    return (await isReachable(db)) ? answer(res, 200, 'ready') : answer(res, 503, 'the database does not answer');
  });
  return router;
}

function answer(res: Response, status: number, state: string): void {
  res.status(status).set('Cache-Control', 'no-store').json({ status: state });
}
