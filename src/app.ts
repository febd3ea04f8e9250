import { randomUUID } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import { calledBy, noteCalled } from './api/called-operation.ts';
import { errorHandler } from './api/error-handler.ts';
import { createThrottle } from './api/pause.ts';
import { originFormOf } from './api/request-target.ts';
import { ResponseCache } from './api/response-cache.ts';
import type { BrokenResponse } from './api/response-check.ts';
import { createServerApi, type ServerApiDeps } from './api/server-api.ts';
import { clientAddressIn } from './client-address.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import type { Environment } from './domain/api-key.ts';
import { KEY_REFUSAL_REASONS, OVERLOADED, type Overloaded } from './domain/errors.ts';
import type { WebhookTargets } from './domain/forbidden-address.ts';
import { MissingEncryptionKeyError } from './domain/keyring.ts';
import type { RequestLimits } from './domain/request-limits.ts';
import { logFailures } from './observability/failure-log.ts';
import { healthRoutes } from './observability/health.ts';
import { Tally } from './observability/instruments/tally.ts';
import type { Tracing } from './observability/instruments/tracing.ts';
import { type Logger, logRequests, omitRequestLine } from './observability/logs.ts';
import { appMetrics, FORBIDDEN_REASONS } from './observability/metrics/app-metrics.ts';
import type { Metrics } from './observability/metrics/metrics.ts';
import { RequestDurations } from './observability/metrics/request-durations.ts';
import { type Handled, startRequestSpan } from './observability/tracing/request-span.ts';
import type { Publication } from './publication/routes.ts';
import { apiSecurityHeaders, isHttps, pageSecurityHeaders } from './security-headers.ts';
import { findKeysIn } from './service/authenticate.ts';
import type { Outbox } from './service/mail.ts';
import type { Database } from './store/database.ts';
import { leaseTokens } from './store/rate-limits.ts';
import { LookUpMeasures } from './traffic/batch-look-ups.ts';
import { createDatabaseQueues } from './traffic/database-queues.ts';
import type { KeyUses } from './traffic/last-used.ts';
import { RequestLimiter } from './traffic/request-limiter.ts';

export type AppDeps = {
  db: Database;
  logger: Logger;
  environment: Environment;
  keyUses: KeyUses;
  outbox: Outbox;
  /** Origin of the dashboard, such as https://charter.example.org; undefined: the one that the browser called. */
  publicUrl: string | undefined;
  /** Where people get support: an https or mailto URL. */
  supportUrl?: string | undefined;
  /** Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  trustedProxies: readonly string[];
  /** Where webhooks may be sent. */
  webhooks: WebhookTargets;
  /** Requests per second. */
  requestLimits: RequestLimits;
  /** Memory of the response cache. */
  responseCacheBytes: number;
  /** Checks responses against the contract; null disables it. */
  responseCheck: ServerApiDeps['responseCheck'];
  publication: Publication;
  /** The registry to which the application adds its metrics; undefined: nothing is measured. */
  metrics?: Metrics | undefined;
  /** Records the spans of requests; null: traces are off, and cost nothing. */
  tracing: Tracing | null;
  /** Called for every refusal under load. */
  countRefusal: (overloaded: Overloaded) => void;
  /** How long a request to the API may wait for its turn; 1,200 by default. */
  apiWaitMs?: number | undefined;
  /** How long a refusal waits at most if its address sends too many requests without a valid key; 100 ms by default. */
  refusalPauseMs?: number | undefined;
  /** Another contract than the published one, for measurements. */
  served?: ServerApiDeps['served'];
  now?: () => Date;
  isStopping: () => boolean;
};

export type App = {
  readonly listener: RequestListener;
  /** Does, in the background, what a later request would otherwise wait for. Not needed before the first request. */
  prepare(): Promise<void>;
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
  supportUrl,
  trustedProxies,
  webhooks,
  requestLimits,
  responseCacheBytes,
  responseCheck,
  publication,
  metrics,
  tracing,
  countRefusal,
  apiWaitMs,
  refusalPauseMs,
  served,
  now = () => new Date(),
  isStopping,
}: AppDeps): Promise<App> {
  const logFailure = logFailures(logger, tracing);
  let lacksEncryptionKey = false;
  const onFault = (error: unknown, requestId: string) => {
    // Until a restart: the process would fail for more and more requests, which another one may be able to serve.
    if (error instanceof MissingEncryptionKeyError) lacksEncryptionKey = true;
    logFailure(error, requestId);
  };
  const queues = createDatabaseQueues(db.poolSize, { apiWaitMs });
  const [overloads, keyRefusals] = [new Tally(OVERLOADED), new Tally([...KEY_REFUSAL_REASONS, ...FORBIDDEN_REASONS])];
  const onOverload = (overloaded: Overloaded, res: ServerResponse) => {
    countRefusal(overloaded);
    overloads.count(overloaded);
    omitRequestLine(res);
  };
  const onBrokenResponse = ({ isWithheld, ...broken }: BrokenResponse) => {
    const line = { ...broken, traceId: tracing?.current()?.traceId };
    if (isWithheld) logger.error(line, 'a response broke the contract and was withheld');
    else logger.warn(line, 'a response broke the contract');
  };
  const application = express();
  application.set('trust proxy', [...trustedProxies]);
  const limiter = new RequestLimiter({
    limits: requestLimits,
    lease: (requests) => leaseTokens(db, requests),
    onFailure: (error) => logger.warn({ err: error }, 'could not count requests: for a second, no limit applies'),
  });
  const lookUps = new LookUpMeasures();
  const cache = new ResponseCache(responseCacheBytes);
  const throttle = createThrottle(limiter, refusalPauseMs);
  const api = await createServerApi({
    db,
    environment,
    now,
    keyUses,
    findKey: findKeysIn(db, { measures: lookUps, tracing }),
    limiter,
    refusalPauseMs,
    throttle,
    clientAddressOf: clientAddressIn(application.get('trust proxy fn')),
    queue: queues.api,
    cache,
    served,
    responseCheck,
    onBrokenResponse,
    securityHeaders: apiSecurityHeaders(publicUrl),
  });
  const setPageHeaders = pageSecurityHeaders(publicUrl);
  application.disable('x-powered-by');
  application.disable('etag');
  application.set('case sensitive routing', true);
  application.use(
    called('health'),
    healthRoutes({ db, isStopping, lacksEncryptionKey: () => lacksEncryptionKey, setPageHeaders }),
  );
  application.use(called('documentation'), publication.routes({ setPageHeaders, publicUrl }));
  application.use(
    called('dashboard'),
    dashboardRoutes({
      db,
      environment,
      publicUrl,
      supportUrl,
      isHttps: isHttps(publicUrl),
      outbox,
      webhooks,
      requestLimits,
      throttle,
      queue: queues.dashboard,
      now,
      onFault,
      onOverload,
      setPageHeaders,
    }),
  );

  // A bare Express router in front: an Express application switches the prototypes of each request and response that
  // passes it, which costs an API request more than everything else that Express does.
  const router = express.Router({ caseSensitive: true, strict: true });
  const requests = new RequestDurations();
  const handledBy = (req: express.Request): Handled => {
    const operation = calledBy(req) ?? NOTHING;
    const path: unknown = api.router.getOperation(operation)?.path ?? req.route?.path;
    return { operation, route: typeof path === 'string' ? path : undefined };
  };
  router.use(identifyRequests(logger, { durations: metrics && requests, tracing, handledBy }));
  router.use((req, res, next) => (API_PATH.test(req.url) ? api.middleware(req, res, next) : next()));
  router.use((_req, res, next) => {
    res.setHeader('X-Request-Id', res.locals['requestId']);
    next();
  });
  router.use(application);
  // The API sends the 404 for every path that does not exist.
  router.use(called(NOTHING), api.middleware);
  router.use(
    errorHandler({ send: api.send, onFault, onOverload, onRefusedKey: (reason) => keyRefusals.count(reason) }),
  );
  const { pool, poolSize } = db;
  metrics?.add(appMetrics({ requests, keyRefusals, overloads, queues, limiter, lookUps, cache, pool, poolSize }));
  const listener: RequestListener = (req, res) => {
    const giveUp = (error: unknown) => {
      onFault(error, String(Object(res).locals?.requestId));
      res.destroy();
    };
    req.url = originFormOf(req.url ?? '/');
    // Express adds its own members to both, in the application that the routers belong to.
    router(req as express.Request, res as express.Response, giveUp);
  };
  return { listener, prepare: api.prepare };
}

/** For metrics: requests that no operation and no other part of the server handles. */
const NOTHING = 'none';

/** For metrics: the part of the server that handles the requests that reach it. */
function called(name: string): express.RequestHandler {
  return (req, _res, next) => {
    noteCalled(req, name);
    next();
  };
}

type RequestObservers = {
  /** Undefined: nothing is measured. */
  readonly durations: RequestDurations | undefined;
  readonly tracing: Tracing | null;
  readonly handledBy: (req: express.Request) => Handled;
};

/** Gives each request its id, its span, and its line in the log once it has been answered or abandoned. */
function identifyRequests(logger: Logger, { durations, tracing, handledBy }: RequestObservers): express.RequestHandler {
  const log = logRequests(
    logger,
    durations &&
      ((req, res, milliseconds) =>
        durations.record(
          calledBy(req) ?? NOTHING,
          res.writableFinished ? res.statusCode : 'aborted',
          milliseconds / 1000,
        )),
  );
  return (req, res, next) => {
    const requestId = randomUUID();
    res.locals = { requestId };
    if (tracing === null) {
      log(req, res, { requestId });
      return next();
    }
    const span = startRequestSpan(tracing, { req, res, requestId }, handledBy);
    log(req, res, { requestId, traceId: span.traceId });
    tracing.run(span, next);
  };
}
