import type { IncomingMessage, RequestListener } from 'node:http';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { ResponseCache } from './api/response-cache.ts';
import { createServerApi, type ServerApiConfig } from './api/server-api.ts';
import { originFormOf } from './api/unreadable-request.ts';
import type { Config } from './config.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import { createGuardedFetch } from './delivery/guarded-fetch.ts';
import { resolveTxt } from './delivery/resolve-name.ts';
import { addressIn } from './domain/network.ts';
import { commonAddressOf } from './domain/organizations/cells.ts';
import { Exchange, HEALTH, NOBODY } from './domain/request.ts';
import { healthRoutes } from './observability/health.ts';
import { appMetrics } from './observability/metrics/app-metrics.ts';
import { observeRequests, RequestDurations } from './observability/observe-requests.ts';
import { createReporter, type Observers } from './observability/reporter.ts';
import { openPublication } from './publication/routes.ts';
import { apiSecurityHeaders, isHttps, pageSecurityHeaders } from './security-headers.ts';
import { createOutbox, type Outbox } from './service/mail.ts';
import type { Database } from './store/sql/database.ts';
import type { KeyUseWriter } from './traffic/last-used.ts';
import { createTraffic, type TrafficOptions } from './traffic/traffic.ts';

/** The part of the configuration that the application needs, and options for tests and measurements. */
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
  | 'slowRequestMs'
> &
  Partial<Pick<Config, 'cells' | 'commonUrl' | 'cellDomainsFile'>> &
  TrafficOptions &
  ServerApiConfig & {
    /** Returns the current time. Default: the time of the system's clock. */
    readonly now?: () => Date;
    /** The name servers that resolve the TXT records of domains, such as "127.0.0.1:53". Default: the system's name servers. */
    readonly nameServers?: readonly string[];
  };

export type AppDeps = { readonly config: AppConfig; readonly db: Database; readonly observers: Observers };

export type App = {
  readonly listener: RequestListener;
  /** Sends the mails of the whole server. */
  readonly outbox: Outbox;
  readonly keyUses: KeyUseWriter;
  /** Does work in advance for which later requests to this origin would otherwise wait. */
  prepare(origin: string): Promise<void>;
  /** Makes /readyz return 503 from this moment on. */
  announceShutdown(): void;
  /** Stores the recorded uses of keys, and sends the remaining mails. Call it after the last response. */
  close(): Promise<void>;
};

/**
 * Creates everything that answers requests: first the parts of the server, then the middleware in the order in which requests
 * pass through it.
 */
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
  // The URL to which clients send their requests. If several cells share an address, this is the shared address, because it stays
  // the same when an organization moves to another cell.
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
    keyUses: traffic.keyUses,
    now,
    onFault: reporter.onFault,
    onOverload: reporter.onOverload,
    setPageHeaders,
  });

  pages.use(markHandledBy(HEALTH), health);
  pages.use(
    markHandledBy('documentation'),
    publication.routes({ setPageHeaders, publicUrl: apiUrl, otherUrl: publicUrl }),
  );
  pages.use(markHandledBy('dashboard'), dashboard);
  pages.use(markHandledBy(NOBODY));

  // The outermost router is a bare Express router, because an Express application replaces the prototypes of each request and
  // response, which costs an API request more time than the rest of Express does.
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(observeRequests(observers, { durations: requests, slowMs: config.slowRequestMs }));
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

/**
 * The type of Express's setting "trust proxy fn": returns whether the address is that of a trusted proxy. The address is
 * `undefined` if the connection was reset.
 */
export type IsTrusted = (address: string | undefined, distance: number) => boolean;

/**
 * Returns a version of `isTrusted` that also accepts addresses with a port, which some proxies add, and IPv4-mapped IPv6
 * addresses, which IPv6 sockets have.
 */
export function trustedAddressIn(isTrusted: IsTrusted): IsTrusted {
  return (text, distance) => {
    const address = text === undefined ? null : addressIn(text);
    return address !== null && isTrusted(address, distance);
  };
}

/**
 * Returns the function with which every part of the server finds the address of a client. The function returns an address in the
 * form of `addressIn`, or the text that a trusted proxy sent in place of an address, such as "unknown"; an empty string if the
 * client has already closed the connection.
 */
export function clientAddressIn(isTrusted: IsTrusted) {
  return ({ socket, headers }: IncomingMessage): string => {
    // The attack: an untrusted client sends X-Forwarded-For and closes the connection, so that only this header contains an
    // address.
    if (socket.remoteAddress === undefined) return '';
    // Each proxy appends the address of its client, so entries can be trusted only up to the first address that is not a trusted
    // proxy.
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    const texts = [socket.remoteAddress, ...forwarded.map((each) => each.trim()).reverse()];
    const given = texts.filter((text) => text !== '');
    const client = given.find((text, distance) => !isTrusted(text, distance)) ?? given.at(-1) ?? '';
    return addressIn(client) ?? client;
  };
}

/** Records, for metrics and traces, which part of the server handles the request. */
function markHandledBy(part: string): RequestHandler {
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

/**
 * Returns the server's request listener. If an error occurs that no middleware handles, the listener reports it and ends the
 * connection.
 */
function listenerOf(router: express.Router, onFault: (error: unknown, requestId: string) => void): RequestListener {
  return (req, res) => {
    const giveUp = (error: unknown) => {
      onFault(error, String(Object(res).locals?.requestId));
      res.destroy();
    };
    req.url = originFormOf(req.url ?? '/');
    // The type assertions are safe, because the Express application that contains the routers adds Express's members to both
    // objects.
    router(req as Request, res as Response, giveUp);
  };
}
