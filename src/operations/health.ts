import { setTimeout as delay } from 'node:timers/promises';
import { type Request, type Response, Router } from 'express';
import type { Database } from '../store/database.ts';
import { isReachable } from '../store/unscoped.ts';

/** Whoever asks may give up soon, and has then heard nothing. */
const PATIENCE_MS = 2000;

/** For whoever restarts or routes to this process; not part of the contract. */
export function healthRoutes({ db, isStopping }: { db: Database; isStopping: () => boolean }): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const whyNotReachable = probe(db);
  router.get('/livez', (_req: Request, res: Response) => {
    answer(res, 200, 'alive');
  });
  router.get('/readyz', async (_req: Request, res: Response) => {
    if (isStopping()) return answer(res, 503, 'stopping');
    // Every other request is refused now, so whoever routes does better with another process.
    if (db.isOverloaded()) return answer(res, 503, 'too many requests wait for the database');
    const problem = await whyNotReachable();
    return problem === null ? answer(res, 200, 'ready') : answer(res, 503, problem);
  });
  return router;
}

/**
 * Asks the database, and tells in time what is wrong; null: nothing is. One question at a time, whose answer all share that
 * ask meanwhile: anybody may ask, and a flood must not take the places of those who wait for a connection.
 */
function probe(db: Database): () => Promise<string | null> {
  let asked: Promise<string | null> | undefined;
  const ask = async () => ((await isReachable(db)) ? null : 'the database does not answer');
  return async () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    const given = new AbortController();
    const late = delay(PATIENCE_MS, 'the database answers too slowly', { signal: given.signal });
    try {
      return await Promise.race([asked, late]);
    } finally {
      given.abort();
    }
  };
}

function answer(res: Response, status: number, state: string): void {
  res.status(status).set('Cache-Control', 'no-store').json({ status: state });
}
