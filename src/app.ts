import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import express from 'express';
import { originFormOf } from './api/request-target.ts';
import type { BrokenAnswer } from './api/response-check.ts';
import { createRouter, type RouterDeps } from './api/router.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import type { Environment } from './domain/api-key.ts';
import { healthRoutes } from './operations/health.ts';
import { type Logger, logRequests } from './operations/logs.ts';
import { openPublication, type Publication } from './publication/routes.ts';
import type { KeyUses } from './service/last-used.ts';
import type { Outbox } from './service/mail.ts';
import type { Database } from './store/database.ts';

export type AppDeps = {
  db: Database;
  logger: Logger;
  environment: Environment;
  keyUses: KeyUses;
  outbox: Outbox;
  /** Where people reach the dashboard, such as https://charter.example.org; undefined: at the address that they call. */
  publicUrl?: string | undefined;
  /** Whose X-Forwarded-For and X-Forwarded-Proto are believed; none by default. */
  trustedProxies?: readonly string[];
  /** For answers that are kept in memory; 64 MiB by default. */
  pageMemoryBytes?: number;
  /** Of answers against the contract; none by default. */
  responseCheck?: RouterDeps['responseCheck'];
  publication?: Publication;
  /** Another contract than ours, to measure by. */
  served?: RouterDeps['served'];
  now?: () => Date;
  isStopping?: () => boolean;
};

/** The rooms in the order in which a request meets them. */
export async function createApp({
  db,
  logger,
  environment,
  keyUses,
  outbox,
  publicUrl,
  trustedProxies = [],
  pageMemoryBytes = 64 * 1024 * 1024,
  responseCheck = null,
  publication = openPublication(),
  served,
  now = () => new Date(),
  isStopping = () => false,
}: AppDeps): Promise<RequestListener> {
  const onFault = (error: unknown, requestId: string) => logger.error({ err: error, requestId }, 'a request failed');
  const onBrokenAnswer = ({ isWithheld, ...told }: BrokenAnswer) => {
    if (isWithheld) logger.error(told, 'an answer broke the contract, and was not sent');
    else logger.warn(told, 'an answer broke the contract');
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('case sensitive routing', true);
  app.set('trust proxy', [...trustedProxies]);

  const api = await createRouter({
    ...{ db, environment, now, keyUses, pageMemoryBytes, served, onFault, responseCheck, onBrokenAnswer },
  });
  app.use(healthRoutes({ db, isStopping }));
  app.use(publication.routes);
  app.use(dashboardRoutes({ db, environment, publicUrl, outbox, now, onFault }));
  const log = logRequests(logger);
  return (req, res) => {
    const requestId = randomUUID();
    req.url = originFormOf(req.url ?? '/');
    log(req, res, requestId);
    const giveUp = (error: unknown) => {
      onFault(error, requestId);
      res.destroy();
    };
    const serveApi = () => void api({ req, res, requestId }).catch(giveUp);
    // The API has its own routes, made of the contract: its requests need not pass those of the other rooms.
    if (req.url.startsWith('/api/')) return serveApi();
    res.setHeader('X-Request-Id', requestId);
    // The API has the 404 wherever nothing is. Express's own waits for the end of a body, announced (server.ts) or not.
    app(req as express.Request, res as express.Response, (error) => (error ? giveUp(error) : serveApi()));
  };
}
