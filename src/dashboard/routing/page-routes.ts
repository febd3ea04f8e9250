import type { IncomingMessage } from 'node:http';
import { type Request, type Response, Router } from 'express';
import type { Role } from '../../domain/people/role.ts';
import type { SessionEnd } from '../../domain/people/session.ts';
import { type Fields, type Form, readForm } from '../forms/form.ts';
import { SIGN_IN_URL, urlOf } from '../http/addresses.ts';
import { MAX_FORM, type MaxSize, readFields, requireSameOrigin } from '../http/body.ts';
import {
  askedUrl,
  contextOf,
  type Dashboard,
  getVisitor,
  type RequestContext,
  type SignedInContext,
} from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, sendView, type View } from '../http/view.ts';
import { errorViewWithContacts, reportError } from './errors.ts';

/** Reads the submitted form, and returns the function that carries out the form's action. */
export type Post<Context> = (context: Context, req: IncomingMessage) => Promise<(context: Context) => Promise<View>>;

export type Page<Context> = {
  /** The path, as an Express path. */
  readonly path: string;
  readonly get?: (context: Context) => View | Promise<View>;
  /**
   * Whether `get` waits for another server. If so, `get` itself calls `inTurn` when it needs the database, so that other requests
   * do not wait for that server.
   */
  readonly callsInTurn?: boolean;
  readonly post?: Post<Context>;
  /** Whether `post` ends keys, accounts or sessions. Such a form is accepted even during a move of the organization. */
  readonly postsDuringMove?: boolean;
};

export type PublicPage = Page<RequestContext>;

/** A page for people who are signed in and have a role that `mayEnter` accepts. */
export type SignedInPage = Page<SignedInContext> & { readonly mayEnter: (role: Role) => boolean };

/** The `mayEnter` of pages for every role. */
export const anyRole = () => true;

type FormOptions = {
  /** The maximum size of the body; 10 KiB by default. */
  readonly size?: MaxSize;
  /** Whether `handle` waits for another server. If so, `handle` itself calls `inTurn` when it needs the database. */
  readonly callsInTurn?: boolean;
};

/** Returns the `post` of a page with a form. */
export function form<Context extends RequestContext, F extends Fields>(
  fields: F,
  handle: (context: Context, form: Form<F>) => Promise<View>,
  { size = MAX_FORM, callsInTurn = false }: FormOptions = {},
): Post<Context> {
  return async (context, req) => {
    const sent = readForm(fields, await readFields(req, context, size), context);
    return (current) => (callsInTurn ? handle(current, sent) : current.inTurn(() => handle(current, sent)));
  };
}

export function publicRoutes(dashboard: Dashboard, pages: readonly PublicPage[]): Router {
  const enter = async (context: RequestContext) => ({ kind: 'admitted', context }) as const;
  return routesTo(dashboard, pages, { isPublic: true, enter, mayEnter: () => true });
}

/**
 * Routes the pages for people who are signed in. `pages` can have any order: the routes are sorted, so that "/new" is tried
 * before "/:id", which would also match "/new".
 */
export function signedInRoutes(dashboard: Dashboard, pages: readonly SignedInPage[]): Router {
  const ordered = pages.toSorted((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1));
  return routesTo<SignedInContext, SignedInPage>(dashboard, ordered, {
    isPublic: false,
    enter: async (context, page) => {
      const allowedDuringMove = page.postsDuringMove === true && context.method === 'POST';
      const visitor = await getVisitor(context, { allowedDuringMove });
      if (visitor.kind === 'signed-in') return { kind: 'admitted', context: visitor.context };
      await dashboard.throttle(context.auditSource.ip);
      return { kind: 'sent-away', view: redirect(signInUrl(context, page, visitor.end)) };
    },
    mayEnter: ({ actor }, page) => page.mayEnter(actor.role),
  });
}

/** Returns the path with a tilde in place of each parameter, because a tilde sorts after all letters. */
function sortKeyOf({ path }: { readonly path: string }): string {
  return path.replaceAll(/:\w+/g, '~');
}

type Entry<Context> =
  | { readonly kind: 'admitted'; readonly context: Context }
  /** The person must sign in first; `view` redirects to the sign-in page. */
  | { readonly kind: 'sent-away'; readonly view: View };

type Gate<Context extends RequestContext, P extends Page<Context>> = {
  /** Whether the pages are open to people without a session. */
  readonly isPublic: boolean;
  enter(context: RequestContext, page: P): Promise<Entry<Context>>;
  mayEnter(context: Context, page: P): boolean;
};

function routesTo<Context extends RequestContext, P extends Page<Context>>(
  dashboard: Dashboard,
  pages: readonly P[],
  gate: Gate<Context, P>,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const page of pages) {
    router.all(page.path, async (req: Request, res: Response) => {
      const { context, newCookies } = contextOf(req, dashboard);
      let known: RequestContext = context;
      try {
        if (gate.isPublic) {
          await dashboard.throttle(context.auditSource.ip);
          // The client has disconnected, so the rest of the body cannot be read.
          if (res.destroyed) return;
        }
        if (!['GET', 'HEAD', 'POST'].includes(req.method)) throw new RequestError('wrong-method');
        if (req.method === 'POST') requireSameOrigin(req, context.origin);
        const enter = async () => {
          const entry = await gate.enter(context, page);
          if (entry.kind === 'admitted') {
            known = entry.context;
            if (!gate.mayEnter(entry.context, page)) throw new RequestError('not-allowed');
          }
          return entry;
        };
        const entry = await enter();
        const view = entry.kind === 'sent-away' ? entry.view : await respond(req, entry.context, { page, enter });
        await sendView(dashboard, res, { ...view, cookies: [...newCookies, ...(view.cookies ?? [])] });
      } catch (error) {
        const view = await errorViewWithContacts(error, known);
        if (view.kind === 'page' && view.status === 405) res.setHeader('Allow', allowedMethods(page));
        reportError(error, { context, res });
        if (res.headersSent || res.destroyed) res.destroy();
        else await sendView(dashboard, res, view);
      }
    });
  }
  return router;
}

async function respond<Context extends RequestContext>(
  req: Request,
  context: Context,
  { page, enter }: { page: Page<Context>; enter: () => Promise<Entry<Context>> },
): Promise<View> {
  const { get, post, callsInTurn = false } = page;
  if (req.method === 'POST' && post !== undefined) {
    const act = await post(context, req);
    // The body can arrive long after the head. The session may have ended in the meantime.
    const current = await enter();
    return current.kind === 'sent-away' ? current.view : act(current.context);
  }
  if (req.method !== 'POST' && get !== undefined)
    return callsInTurn ? get(context) : context.inTurn(() => get(context));
  throw new RequestError('wrong-method');
}

/** Returns the value of the Allow header, which a 405 response must contain (RFC 9110, section 15.5.6). */
function allowedMethods({ get, post }: { get?: unknown; post?: unknown }): string {
  return [...(get === undefined ? [] : ['GET', 'HEAD']), ...(post === undefined ? [] : ['POST'])].join(', ');
}

/**
 * Returns the URL of the sign-in page. The sign-in leads back to the requested page if that page can be shown. A path that only
 * accepts forms cannot be shown, and a form is lost when the session ends.
 */
function signInUrl(context: RequestContext, { get }: { get?: unknown }, ended: SessionEnd | null): string {
  return urlOf(SIGN_IN_URL, { next: get === undefined ? null : askedUrl(context), ended });
}
