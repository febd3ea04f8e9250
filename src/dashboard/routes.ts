import accepts from 'accepts';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { serveAssets } from './assets.ts';
import { errorView } from './http/errors.ts';
import { Refusal } from './http/refusal.ts';
import type { Dashboard, DashboardDeps, RequestContext } from './http/request-context.ts';
import { contextOf, openRoutes, roomRoutes, signedIn } from './http/room.ts';
import { redirect, sendView } from './http/view.ts';
import { organizationRoom } from './organization/routes.ts';
import { peopleRoom } from './people/routes.ts';
import { profileRoom } from './profile/routes.ts';
import { signInPages } from './sign-in/routes.ts';

export type { DashboardDeps };

/** The people's pages. What is none of them goes on to whoever is mounted behind. */
export function dashboardRoutes(deps: DashboardDeps): Router {
  const assets = serveAssets();
  const isSecure = deps.publicUrl?.startsWith('https://') ?? false;
  const dashboard: Dashboard = { ...deps, assets: assets.urls, isSecure };
  const router = Router({ caseSensitive: true, strict: true });
  router.use(assets.router);
  router.get('/', (req: Request, res: Response, next: NextFunction) => start(dashboard, { req, res, next }));
  router.use(openRoutes(dashboard, signInPages));
  router.use(roomRoutes(dashboard, profileRoom));
  router.use(roomRoutes(dashboard, peopleRoom));
  router.use(roomRoutes(dashboard, organizationRoom));
  router.use((req: Request, res: Response, next: NextFunction) => unknown(dashboard, { req, res, next }));
  // Express refuses a path's malformed percent-encoding before any page is asked.
  router.use((error: unknown, req: Request, res: Response, _next: NextFunction) =>
    tell(dashboard, {
      res,
      context: contextOf(req, dashboard).context,
      error: error instanceof URIError ? new Refusal('unreadable') : error,
    }),
  );
  return router;
}

type Passing = { req: Request; res: Response; next: NextFunction };

async function start(dashboard: Dashboard, { req, res, next }: Passing): Promise<void> {
  if (!wantsPage(req)) return next();
  const { context } = contextOf(req, dashboard);
  await sendView(res, redirect((await signedIn(context)) === null ? '/sign-in' : '/profile'));
}

const OURS = /^\/(sign-in|sign-out|forgotten-password|welcome|profile|people|organization|assets)(\/|$)/;

/** A page for whoever looks for one where none is; the API answers the rest in its own way. */
async function unknown(dashboard: Dashboard, { req, res, next }: Passing): Promise<void> {
  const isApi = req.path === '/api' || req.path.startsWith('/api/');
  if (!OURS.test(req.path) && (isApi || !['GET', 'HEAD'].includes(req.method) || !wantsPage(req))) return next();
  const { context } = contextOf(req, dashboard);
  // With the navigation for whoever is signed in; where that cannot be told now, there is still nothing here.
  const member = await signedIn(context).catch(() => null);
  await tell(dashboard, { res, context: member ?? context, error: new Refusal('not-found') });
}

type Telling = { res: Response; context: RequestContext; error: unknown };

async function tell(dashboard: Dashboard, { res, context, error }: Telling): Promise<void> {
  const { requestId } = context.trace;
  const { answer, isFault } = errorView(error, context);
  if (isFault) dashboard.onFault(error, requestId);
  if (res.headersSent) return void res.destroy();
  await sendView(res, answer);
}

/** Browsers ask for HTML by name; what takes anything gets the API's answer. */
function wantsPage(req: Request): boolean {
  return accepts(req).type(['json', 'html']) === 'html';
}
