import type { IncomingMessage } from 'node:http';
import { type Request, type Response, Router } from 'express';
import type { Trace } from '../../domain/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Role } from '../../domain/role.ts';
import { findActor } from '../../service/sign-in.ts';
import { errorView } from './errors.ts';
import { type Form, readForm, refuseForeign } from './forms.ts';
import { Refusal } from './refusal.ts';
import type { Dashboard, RequestContext, SignedInContext } from './request-context.ts';
import { formCookie, formTokenOf, newFormCookie, readCookies } from './session.ts';
import { redirect, sendView, type View } from './view.ts';

type Act<V> = (context: V, req: IncomingMessage) => Promise<View>;
type Page<V> = { readonly path: string; readonly show?: (context: V) => Promise<View>; readonly act?: Act<V> };

/** For whoever has not signed in. */
export type OpenPage = Page<RequestContext>;
/** For whoever is signed in and has a role that may enter. */
export type Room = { readonly mayEnter?: (role: Role) => boolean; readonly pages: readonly Page<SignedInContext>[] };

/** What a form of exactly these fields does; `lists` are those that may be sent more than once. */
export function act<V extends RequestContext, const Name extends string = never>(
  fields: readonly Name[],
  handle: (context: V, form: Form<Name>) => Promise<View>,
  lists: readonly Name[] = [],
): Act<V> {
  return async (context, req) => handle(context, await readForm(req, context, { fields, lists }));
}

export function openRoutes(dashboard: Dashboard, pages: readonly OpenPage[]): Router {
  return serve(dashboard, pages, async (context, req, page) => {
    if (req.method === 'POST') return page.act === undefined ? refuse('wrong-method') : page.act(context, req);
    return page.show === undefined ? refuse('wrong-method') : page.show(context);
  });
}

export function roomRoutes(dashboard: Dashboard, { mayEnter = () => true, pages }: Room): Router {
  return serve(dashboard, pages, async (context, req, page, known) => {
    const member = await signedIn(context);
    if (member === null) return redirect(signInPath(context, page));
    known(member);
    if (!mayEnter(member.actor.role)) return refuse('not-yours');
    if (req.method === 'POST') return page.act === undefined ? refuse('wrong-method') : page.act(member, req);
    return page.show === undefined ? refuse('wrong-method') : page.show(member);
  });
}

type Serve<V extends RequestContext> = (
  context: RequestContext,
  req: Request,
  page: Page<V>,
  known: (member: SignedInContext) => void,
) => Promise<View>;

function serve<V extends RequestContext>(dashboard: Dashboard, pages: readonly Page<V>[], answer: Serve<V>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const page of pages) {
    router.all(page.path, async (req: Request, res: Response) => {
      const { context, cookies } = contextOf(req, dashboard);
      let visitor = context;
      try {
        if (!['GET', 'HEAD', 'POST'].includes(req.method)) throw new Refusal('wrong-method');
        if (dashboard.db.isOverloaded()) throw new DomainError('unavailable', 'Too many wait for the database.');
        if (req.method === 'POST') refuseForeign(req, context.origin);
        const made = await answer(context, req, page, (member) => {
          visitor = member;
        });
        await sendView(res, { ...made, cookies: [...cookies, ...(made.cookies ?? [])] });
      } catch (error) {
        const { answer: told, isFault } = errorView(error, visitor);
        if (told.kind === 'page' && told.status === 405) res.setHeader('Allow', allowed(page));
        if (isFault) dashboard.onFault(error, context.trace.requestId);
        if (res.headersSent || res.destroyed) res.destroy();
        else await sendView(res, told);
      }
    });
  }
  return router;
}

/** RFC 9110 section 15.5.6. */
function allowed({ show, act: acts }: { show?: unknown; act?: unknown }): string {
  return [...(show === undefined ? [] : ['GET', 'HEAD']), ...(acts === undefined ? [] : ['POST'])].join(', ');
}

export function contextOf(req: Request, dashboard: Dashboard): { context: RequestContext; cookies: string[] } {
  const { session, form } = readCookies(req.headers, dashboard.isSecure);
  const formSecret = form ?? newFormCookie();
  const mark = req.originalUrl.indexOf('?');
  const context = {
    dashboard,
    path: req.path,
    params: Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)])),
    query: new URLSearchParams(mark < 0 ? '' : req.originalUrl.slice(mark + 1)),
    origin: dashboard.publicUrl ?? `${req.protocol}://${req.headers.host ?? 'localhost'}`,
    trace: traceOf(req),
    now: dashboard.now(),
    token: session,
    formToken: formTokenOf(formSecret),
  };
  return { context, cookies: form === null ? [formCookie(formSecret, dashboard.isSecure)] : [] };
}

function traceOf(req: Request): Trace {
  const { 'user-agent': userAgent = '' } = req.headers;
  // Made for every room alike, before any of them sees the request.
  const requestId = req.res?.getHeader('X-Request-Id');
  if (typeof requestId !== 'string') throw new Error('The request has no id.');
  return { ip: (req.ip ?? '').replace(/^::ffff:/, ''), userAgent: userAgent.slice(0, 300), requestId };
}

/** Null: nobody is signed in, or no longer. */
export async function signedIn(context: RequestContext): Promise<SignedInContext | null> {
  const { token, dashboard, trace, now } = context;
  const actor = token === null ? null : await findActor(dashboard.db, token, trace, now);
  return token === null || actor === null ? null : { ...context, token, actor, formToken: formTokenOf(token) };
}

/** Back to where they were; what was sent is lost with the session, so a page that only takes forms is not named. */
function signInPath({ path, query }: RequestContext, { show }: { show?: unknown }): string {
  const text = query.size === 0 ? path : `${path}?${query}`;
  return show === undefined ? '/sign-in' : `/sign-in?next=${encodeURIComponent(text)}`;
}

function refuse(kind: 'wrong-method' | 'not-yours'): never {
  throw new Refusal(kind);
}
