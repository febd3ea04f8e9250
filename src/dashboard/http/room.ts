import type { IncomingMessage } from 'node:http';
import { type Request, type Response, Router } from 'express';
import type { Trace } from '../../domain/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Role } from '../../domain/role.ts';
import { findActor } from '../../service/sign-in.ts';
import { type Answer, redirect, writeAnswer } from './answer.ts';
import { answerOf } from './errors.ts';
import { type Form, readForm, refuseForeign } from './forms.ts';
import { Refusal } from './refusal.ts';
import { formCookie, formTokenOf, newFormCookie, readCookies } from './session.ts';
import type { Dashboard, SignedIn, Visit } from './visit.ts';

type Act<V> = (visit: V, req: IncomingMessage) => Promise<Answer>;
type Page<V> = { readonly path: string; readonly show?: (visit: V) => Promise<Answer>; readonly act?: Act<V> };

/** For whoever has not signed in. */
export type OpenPage = Page<Visit>;
/** For whoever is signed in and has a role that may enter. */
export type Room = { readonly mayEnter?: (role: Role) => boolean; readonly pages: readonly Page<SignedIn>[] };

/** What a form of exactly these fields does; `lists` are those that may be sent more than once. */
export function act<V extends Visit, const Name extends string = never>(
  fields: readonly Name[],
  handle: (visit: V, form: Form<Name>) => Promise<Answer>,
  lists: readonly Name[] = [],
): Act<V> {
  return async (visit, req) => handle(visit, await readForm(req, visit, { fields, lists }));
}

export function openRoutes(dashboard: Dashboard, pages: readonly OpenPage[]): Router {
  return serve(dashboard, pages, async (visit, req, page) => {
    if (req.method === 'POST') return page.act === undefined ? refuse('wrong-method') : page.act(visit, req);
    return page.show === undefined ? refuse('wrong-method') : page.show(visit);
  });
}

export function roomRoutes(dashboard: Dashboard, { mayEnter = () => true, pages }: Room): Router {
  return serve(dashboard, pages, async (visit, req, page, known) => {
    const member = await signedIn(visit);
    if (member === null) return redirect(signInPath(visit, page));
    known(member);
    if (!mayEnter(member.actor.role)) return refuse('not-yours');
    if (req.method === 'POST') return page.act === undefined ? refuse('wrong-method') : page.act(member, req);
    return page.show === undefined ? refuse('wrong-method') : page.show(member);
  });
}

type Serve<V extends Visit> = (
  visit: Visit,
  req: Request,
  page: Page<V>,
  known: (member: SignedIn) => void,
) => Promise<Answer>;

function serve<V extends Visit>(dashboard: Dashboard, pages: readonly Page<V>[], answer: Serve<V>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const page of pages) {
    router.all(page.path, async (req: Request, res: Response) => {
      const { visit, cookies } = visitOf(req, dashboard);
      let visitor = visit;
      try {
        if (!['GET', 'HEAD', 'POST'].includes(req.method)) throw new Refusal('wrong-method');
        if (dashboard.db.isOverloaded()) throw new DomainError('unavailable', 'Too many wait for the database.');
        if (req.method === 'POST') refuseForeign(req, visit.origin);
        const made = await answer(visit, req, page, (member) => {
          visitor = member;
        });
        await writeAnswer(res, { ...made, cookies: [...cookies, ...(made.cookies ?? [])] });
      } catch (error) {
        const { answer: told, isFault } = answerOf(error, visitor);
        if (told.kind === 'page' && told.status === 405) res.setHeader('Allow', allowed(page));
        if (isFault) dashboard.onFault(error, visit.trace.requestId);
        if (res.headersSent || res.destroyed) res.destroy();
        else await writeAnswer(res, told);
      }
    });
  }
  return router;
}

/** RFC 9110 section 15.5.6. */
function allowed({ show, act: acts }: { show?: unknown; act?: unknown }): string {
  return [...(show === undefined ? [] : ['GET', 'HEAD']), ...(acts === undefined ? [] : ['POST'])].join(', ');
}

export function visitOf(req: Request, dashboard: Dashboard): { visit: Visit; cookies: string[] } {
  const { session, form } = readCookies(req.headers, dashboard.isSecure);
  const formSecret = form ?? newFormCookie();
  const mark = req.originalUrl.indexOf('?');
  const visit = {
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
  return { visit, cookies: form === null ? [formCookie(formSecret, dashboard.isSecure)] : [] };
}

function traceOf(req: Request): Trace {
  const { 'user-agent': userAgent = '' } = req.headers;
  // Made for every room alike, before any of them sees the request.
  const requestId = req.res?.getHeader('X-Request-Id');
  if (typeof requestId !== 'string') throw new Error('The request has no id.');
  return { ip: (req.ip ?? '').replace(/^::ffff:/, ''), userAgent: userAgent.slice(0, 300), requestId };
}

/** Null: nobody is signed in, or no longer. */
export async function signedIn(visit: Visit): Promise<SignedIn | null> {
  const { token, dashboard, trace, now } = visit;
  const actor = token === null ? null : await findActor(dashboard.db, token, trace, now);
  return token === null || actor === null ? null : { ...visit, token, actor, formToken: formTokenOf(token) };
}

/** Back to where they were; what was sent is lost with the session, so a page that only takes forms is not named. */
function signInPath({ path, query }: Visit, { show }: { show?: unknown }): string {
  const text = query.size === 0 ? path : `${path}?${query}`;
  return show === undefined ? '/sign-in' : `/sign-in?next=${encodeURIComponent(text)}`;
}

function refuse(kind: 'wrong-method' | 'not-yours'): never {
  throw new Refusal(kind);
}
