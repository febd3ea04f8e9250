import type { RequestListener } from 'node:http';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { originFormOf } from './api/request-head.ts';
import { ResponseCache } from './api/response-cache.ts';
import { createServerApi, type ServerApiConfig } from './api/server-api.ts';
import { clientAddressIn, trustedAddressIn } from './client-address.ts';
import type { Config } from './config.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import { createGuardedFetch } from './delivery/guarded-fetch.ts';
import { resolveTxt } from './delivery/resolve-name.ts';
import { Exchange, HEALTH, NOBODY } from './domain/exchange.ts';
import { commonAddressOf } from './domain/organizations/cells.ts';
import { healthRoutes } from './observability/health.ts';
import { appMetrics } from './observability/metrics/app-metrics.ts';
import { RequestDurations } from './observability/metrics/request-durations.ts';
import { observeRequests } from './observability/observe-requests.ts';
import type { Observers } from './observability/observers.ts';
import { createReporter } from './observability/reporter.ts';
import { openPublication } from './publication/routes.ts';
import { apiSecurityHeaders, isHttps, pageSecurityHeaders } from './security-headers.ts';
import { createOutbox, type Outbox } from './service/mail.ts';
import type { Database } from './store/sql/database.ts';
import type { KeyUseWriter } from './traffic/last-used.ts';
import { createTraffic, type TrafficOptions } from './traffic/traffic.ts';

/** What the application needs of the configuration; the optional members are for tests and measurements. */
export type AppConfig = Pick<
  Config,
  | 'environment'
  | 'publicUrl'
  | 'supportUrl'
  | 'trustedProxies'
  | 'webhooks'
  | 'responseCacheBytes'
  | 'mail'
  | 'scannerKeys'
> &
  Partial<Pick<Config, 'cells' | 'commonUrl' | 'cellDomainsFile'>> &
  TrafficOptions &
  ServerApiConfig & {
    /** The system's clock by default. */
    readonly now?: () => Date;
    /** For the TXT records of domains, such as "127.0.0.1:53"; those of the system by default. */
    readonly nameServers?: readonly string[];
  };

export type AppDeps = { readonly config: AppConfig; readonly db: Database; readonly observers: Observers };

export type App = {
  readonly listener: RequestListener;
  /** Sends the mails of all parts of the server. */
  readonly outbox: Outbox;
  readonly keyUses: KeyUseWriter;
  /** Does, in the background, what a later request to this origin would wait for. Not needed before the first request. */
  prepare(origin: string): Promise<void>;
  /** From now on, /readyz returns 503. */
  announceShutdown(): void;
  /** After the last response: writes the uses of keys, and sends the remaining mails. */
  close(): Promise<void>;
};

/** Everything that answers requests: first its parts, then what a request meets, in order. */
export async function createApp({ config, db, observers }: AppDeps): Promise<App> {
  const { publicUrl, now = () => new Date() } = config;
  const reporter = createReporter(observers);
  const traffic = createTraffic(db, config, reporter);
  const outbox = createOutbox(config.mail, reporter.onMailFailure);
  const cache = new ResponseCache(config.responseCacheBytes);
  const requests = new RequestDurations();
  observers.metrics?.add(appMetrics({ requests, reporter, traffic, cache, db }));
  const pages = createPages(config);
  const clientAddressOf = clientAddressIn(pages.get('trust proxy fn'));
  const api = await createServerApi(config, {
    db,
    now,
    traffic,
    cache,
    tracing: observers.tracing,
    reporter,
    clientAddressOf,
    securityHeaders: apiSecurityHeaders(publicUrl),
  });
  const publication = openPublication({ supportUrl: config.supportUrl });
  const common = commonAddressOf(config);
  // Where clients send their requests: the address that cells share stays the same if an organization moves.
  const apiUrl = common?.url ?? publicUrl;
  const setPageHeaders = pageSecurityHeaders(publicUrl);
  const { lacksEncryptionKey } = reporter;
  let isStopping = false;
  const health = healthRoutes({ db, isStopping: () => isStopping, lacksEncryptionKey, setPageHeaders });
  const dashboard = dashboardRoutes({
    db,
    environment: config.environment,
    cell: config.cell,
    publicUrl,
    common,
    supportUrl: config.supportUrl,
    isHttps: isHttps(publicUrl),
    outbox,
    scannerKeys: config.scannerKeys,
    webhooks: config.webhooks,
    providers: {
      fetch: createGuardedFetch({ targets: config.webhooks }),
      resolveTxt: (name) => resolveTxt(name, config.nameServers),
      allowHttp: config.webhooks.allowHttp,
    },
    requestLimits: config.requestLimits,
    clientAddressOf,
    throttle: traffic.throttle,
    queue: traffic.queues.dashboard,
    now,
    onFault: reporter.onFault,
    onOverload: reporter.onOverload,
    setPageHeaders,
  });

  pages.use(handledBy(HEALTH), health);
  pages.use(handledBy('documentation'), publication.routes({ setPageHeaders, publicUrl: apiUrl, otherUrl: publicUrl }));
  pages.use(handledBy('dashboard'), dashboard);
  pages.use(handledBy(NOBODY));

  // A bare Express router in front: an Express application switches the prototypes of each request and response that
  // passes it, which costs an API request more than everything else that Express does.
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(observeRequests(observers, requests));
  router.use(unlessForApi(pages));
  router.use(api.answer);
  router.use(api.answerError);

  return {
    listener: listenerOf(router, reporter.onFault),
    outbox,
    keyUses: traffic.keyUses,
    async prepare(origin) {
      await Promise.all([api.prepare(), publication.prepare(apiUrl ?? origin)]);
    },
    announceShutdown() {
      isStopping = true;
    },
    async close() {
      reporter.stop();
      await Promise.all([traffic.keyUses.stop(), outbox.settle()]);
    },
  };
}

function createPages({ trustedProxies }: AppConfig): Express {
  const pages = express();
  pages.set('trust proxy', [...trustedProxies]);
  pages.set('trust proxy', trustedAddressIn(pages.get('trust proxy fn')));
  pages.disable('x-powered-by');
  pages.disable('etag');
  pages.set('case sensitive routing', true);
  return pages;
}

/** For metrics and traces: the part of the server that handles the requests which reach it. */
function handledBy(part: string): RequestHandler {
  return (_req, res, next) => {
    Exchange.of(res).handledBy = part;
    next();
  };
}

const API_PATH = /^\/api(?:[/?]|$)/;

function unlessForApi(pages: Express): RequestHandler {
  return (req, res, next) => {
    if (API_PATH.test(req.url)) return next();
    res.setHeader('X-Request-Id', Exchange.of(res).requestId);
    pages(req, res, next);
  };
}

/** The last resort for an error: a response can no longer be sent. */
function listenerOf(router: express.Router, onFault: (error: unknown, requestId: string) => void): RequestListener {
  return (req, res) => {
    const giveUp = (error: unknown) => {
      onFault(error, String(Object(res).locals?.requestId));
      res.destroy();
    };
    req.url = originFormOf(req.url ?? '/');
    // Express adds its own members to both, in the application that the routers belong to.
    router(req as Request, res as Response, giveUp);
  };
}
