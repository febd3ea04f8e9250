import { randomUUID } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import { errorHandler } from './api/error-handler.ts';
import { originFormOf } from './api/request-target.ts';
import type { BrokenResponse } from './api/response-check.ts';
import { createServerApi, type ServerApiDeps } from './api/server-api.ts';
import { clientAddressIn } from './client-address.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import type { Environment } from './domain/api-key.ts';
import type { Overloaded } from './domain/errors.ts';
import type { RequestLimits } from './domain/request-limits.ts';
import { logFailures } from './operations/failure-log.ts';
import { healthRoutes } from './operations/health.ts';
import { type Logger, logRequests, omitRequestLine } from './operations/logs.ts';
import { countRefusals } from './operations/overload-log.ts';
import type { Publication } from './publication/routes.ts';
import { apiSecurityHeaders, isHttps, pageSecurityHeaders } from './security-headers.ts';
import { createDatabaseQueues } from './service/database-queues.ts';
import type { KeyUses } from './service/last-used.ts';
import type { Outbox } from './service/mail.ts';
import { RequestLimiter } from './service/request-limiter.ts';
import type { Database } from './store/database.ts';
import { leaseTokens } from './store/rate-limits.ts';

export type AppDeps = {
  db: Database;
  logger: Logger;
  environment: Environment;
  keyUses: KeyUses;
  outbox: Outbox;
  /** Origin of the dashboard, such as https://charter.example.org; undefined: the one that the browser called. */
  publicUrl: string | undefined;
  /** Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  trustedProxies: readonly string[];
  /** Requests per second. */
  requestLimits: RequestLimits;
  /** Memory of the response cache. */
  responseCacheBytes: number;
  /** Checks responses against the contract; null disables it. */
  responseCheck: ServerApiDeps['responseCheck'];
  publication: Publication;
  /** How long a request to the API may wait for its turn; 1,200 by default. */
  apiWaitMs?: number | undefined;
  /** Another contract than the published one, for measurements. */
  served?: ServerApiDeps['served'];
  now?: () => Date;
  isStopping: () => boolean;
};

const API_PATH = /^\/api(?:[/?]|$)/;

/** Everything that answers requests, in the order in which a request meets it. */
export async function createApp({
  db,
  logger,
  environment,
  keyUses,
  outbox,
  publicUrl,
  trustedProxies,
  requestLimits,
  responseCacheBytes,
  responseCheck,
  publication,
  apiWaitMs,
  served,
  now = () => new Date(),
  isStopping,
}: AppDeps): Promise<RequestListener> {
  const onFault = logFailures(logger);
  const queues = createDatabaseQueues(db.poolSize, { apiWaitMs });
  const countRefusal = countRefusals(logger);
  const onOverload = (overloaded: Overloaded, res: ServerResponse) => {
    countRefusal(overloaded);
    omitRequestLine(res);
  };
  const onBrokenResponse = ({ isWithheld, ...broken }: BrokenResponse) => {
    if (isWithheld) logger.error(broken, 'a response broke the contract and was withheld');
    else logger.warn(broken, 'a response broke the contract');
  };
  const rooms = express();
  rooms.set('trust proxy', [...trustedProxies]);
  const limiter = new RequestLimiter({
    limits: requestLimits,
    lease: (requests) => leaseTokens(db, requests),
    onFailure: (error) => logger.warn({ err: error }, 'could not count requests: for a second, no limit applies'),
  });
  const api = await createServerApi({
    db,
    environment,
    now,
    keyUses,
    limiter,
    clientAddressOf: clientAddressIn(rooms.get('trust proxy fn')),
    queue: queues.api,
    responseCacheBytes,
    served,
    responseCheck,
    onBrokenResponse,
    securityHeaders: apiSecurityHeaders(publicUrl),
  });
  const setPageHeaders = pageSecurityHeaders(publicUrl);
  rooms.disable('x-powered-by');
  rooms.disable('etag');
  rooms.set('case sensitive routing', true);
  rooms.use(healthRoutes({ db, isStopping, setPageHeaders }));
  rooms.use(publication.routes({ setPageHeaders, publicUrl }));
  rooms.use(
    dashboardRoutes({
      db,
      environment,
      publicUrl,
      isHttps: isHttps(publicUrl),
      outbox,
      requestLimits,
      queue: queues.dashboard,
      now,
      onFault,
      onOverload,
      setPageHeaders,
    }),
  );

  // A bare Express router in front: an Express application switches the prototypes of each request and response that
  // passes it, which costs an API request more than everything else that Express does.
  const app = express.Router({ caseSensitive: true, strict: true });
  app.use(identifyRequests(logger));
  app.use((req, res, next) => (API_PATH.test(req.url) ? api.middleware(req, res, next) : next()));
  app.use((_req, res, next) => {
    res.setHeader('X-Request-Id', res.locals['requestId']);
    next();
  });
  app.use(rooms);
  // The API sends the 404 for every path that does not exist.
  app.use(api.middleware);
  app.use(errorHandler({ send: api.send, onFault, onOverload }));
  return (req, res) => {
    const giveUp = (error: unknown) => {
      onFault(error, String(Object(res).locals?.requestId));
      res.destroy();
    };
    req.url = originFormOf(req.url ?? '/');
    // Express adds its own members to both, in the application that the routers belong to.
    app(req as express.Request, res as express.Response, giveUp);
  };
}

/** Gives each request its id, and its line in the log once it has been answered or abandoned. */
function identifyRequests(logger: Logger): express.RequestHandler {
  const log = logRequests(logger);
  return (req, res, next) => {
    const requestId = randomUUID();
    res.locals = { requestId };
    log(req, res, requestId);
    next();
  };
}
