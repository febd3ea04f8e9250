import accepts from 'accepts';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { checkHeadSize } from '../domain/request.ts';
import { auditLogPages } from './audit-log/routes.ts';
import { commonAddressRoutes } from './common-address.ts';
import {
  ASSETS_URL,
  GUEST_URLS,
  isBelow,
  PROFILE_URL,
  REPORT_KEY_URL,
  SECTION_URLS,
  SIGN_IN_URL,
  START_URL,
  urlOf,
} from './http/addresses.ts';
import { serveAssets } from './http/assets.ts';
import {
  contextOf,
  type Dashboard,
  type DashboardDeps,
  findSignedIn,
  getVisitor,
  type RequestContext,
} from './http/request-context.ts';
import { RequestError } from './http/request-error.ts';
import { redirect, sendView } from './http/view.ts';
import { integrationPages } from './integrations/routes.ts';
import { organizationPages } from './organization/routes.ts';
import { peoplePages } from './people/routes.ts';
import { profilePages } from './profile/routes.ts';
import { reportKeyRoutes } from './report-key.ts';
import { errorView, reportError } from './routing/errors.ts';
import { publicRoutes, signedInRoutes } from './routing/page-routes.ts';
import { signInPages } from './sign-in/routes.ts';
import { PROVIDER_WAYS } from './sign-in/ways.ts';
import { webhookPages } from './webhooks/routes.ts';

export type { DashboardDeps };

const SIGNED_IN_PAGES = [
  ...profilePages,
  ...peoplePages,
  ...organizationPages,
  ...PROVIDER_WAYS.flatMap((way) => way.signedInPages),
  ...integrationPages,
  ...webhookPages,
  ...auditLogPages,
];

/** Routes requests for the dashboard's pages. Requests for other paths go to the next handler. */
export function dashboardRoutes(deps: DashboardDeps): Router {
  const assets = serveAssets(deps.setPageHeaders);
  const dashboard: Dashboard = { ...deps, assets: assets.urls };
  const router = Router({ caseSensitive: true, strict: true });
  router.use(assets.router);
  router.use((req: Request, res: Response, next: NextFunction) => requireFewCookies(dashboard, { req, res, next }));
  if (dashboard.common != null) router.use(commonAddressRoutes(dashboard));
  router.get(START_URL, (req: Request, res: Response, next: NextFunction) =>
    sendStartPage(dashboard, { req, res, next }),
  );
  router.use(publicRoutes(dashboard, [...signInPages, ...PROVIDER_WAYS.flatMap((way) => way.publicPages)]));
  for (const way of PROVIDER_WAYS) router.use(way.routesForProvider(dashboard));
  router.use(reportKeyRoutes(dashboard));
  router.use(signedInRoutes(dashboard, SIGNED_IN_PAGES));
  router.use((req: Request, res: Response, next: NextFunction) => sendNotFound(dashboard, { req, res, next }));
  // Express rejects a path with malformed percent-encoding before any route runs.
  router.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const { context } = contextOf(req, dashboard);
    const problem = error instanceof URIError ? new RequestError('unreadable') : error;
    return sendError(dashboard, { res, context, error: problem });
  });
  return router;
}

type Handling = { req: Request; res: Response; next: NextFunction };

async function sendStartPage(dashboard: Dashboard, { req, res, next }: Handling): Promise<void> {
  if (!prefersHtml(req)) return next();
  const { context } = contextOf(req, dashboard);
  const visitor = await getVisitor(context);
  if (visitor.kind === 'guest') await dashboard.throttle(context.auditSource.ip);
  const to = visitor.kind === 'signed-in' ? PROFILE_URL : urlOf(SIGN_IN_URL, { ended: visitor.end });
  await sendView(dashboard, res, redirect(to));
}

const OUR_URLS = [...GUEST_URLS, REPORT_KEY_URL, ...SECTION_URLS, ASSETS_URL];

/**
 * Sends a 404 page if the request is for a page that does not exist. Other requests go to the next handler, which sends the API's
 * 404 response.
 */
async function sendNotFound(dashboard: Dashboard, { req, res, next }: Handling): Promise<void> {
  const isApi = req.path === '/api' || req.path.startsWith('/api/');
  if (!isBelow(req.path, OUR_URLS) && (isApi || !['GET', 'HEAD'].includes(req.method) || !prefersHtml(req)))
    return next();
  const { context } = contextOf(req, dashboard);
  // If a person is signed in, the page has the navigation. An outage must not turn the 404 into a 503.
  const signedIn = await findSignedIn(context).catch(() => null);
  if (signedIn === null) await dashboard.throttle(context.auditSource.ip);
  await sendError(dashboard, { res, context: signedIn ?? context, error: new RequestError('not-found') });
}

/**
 * Sends an error page if the cookies are too large. The page says how to delete them, because other sites of the same domain may
 * have set them without the person's knowledge.
 */
async function requireFewCookies(dashboard: Dashboard, { req, res, next }: Handling): Promise<void> {
  const isOurs = isBelow(req.path, OUR_URLS) || (req.path === START_URL && prefersHtml(req));
  if (!isOurs || checkHeadSize(req) === null) return next();
  const { context } = contextOf(req, dashboard);
  await dashboard.throttle(context.auditSource.ip);
  await sendError(dashboard, { res, context, error: new RequestError('too-many-cookies') });
}

type Failure = { res: Response; context: RequestContext; error: unknown };

async function sendError(dashboard: Dashboard, { res, context, error }: Failure): Promise<void> {
  const view = errorView(error, context);
  reportError(error, { context, res });
  if (res.headersSent) return void res.destroy();
  await sendView(dashboard, res, view);
}

/** Returns whether a browser sent the request. Browsers name text/html in Accept; a client that accepts any type gets JSON. */
function prefersHtml(req: Request): boolean {
  return accepts(req).type(['json', 'html']) === 'html';
}
