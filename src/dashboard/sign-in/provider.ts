import { normalEmail } from '../../domain/people/email.ts';
import { type Html, html } from '../../html/html.ts';
import { findWaysToProve } from '../../service/sign-in/prove.ts';
import { beginSignIn, type SignInDeps } from '../../service/sign-in/single-sign-on/begin.ts';
import { completeSignIn } from '../../service/sign-in/single-sign-on/complete.ts';
import type { AfterProof } from '../../service/sign-in/single-sign-on/completion.ts';
import { type Connection, findConnectionById } from '../../service/sign-in/single-sign-on/scope.ts';
import { confirmationUrl, PROFILE_URL } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { contextAt, findSignedIn, type RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import { continuePage } from '../markup/continue.ts';
import { page } from '../markup/layout.ts';
import { hidden, postForm } from '../markup/parts.ts';
import { backToProof, goOnPage } from '../proof/page.ts';
import { findForm } from '../proof/sealed-form.ts';
import { safeNext } from './next.ts';
import { passwordLink } from './password-link.ts';
import { failurePage, lostPage, notAdmittedPage, notProvenPage, overPage, tooManyPage } from './refusal-pages.ts';
import { startInBrowser } from './start-in-browser.ts';

export function depsOf({ dashboard, inTurn }: RequestContext): SignInDeps {
  return { db: dashboard.db, access: dashboard.providers, inTurn };
}

/**
 * Charter's own address, which the provider knows. Only the configured one: anybody can send a request with another Host.
 * Without it, there is no single sign-on.
 */
function ownOrigin({ dashboard: { publicUrl } }: RequestContext): string {
  if (publicUrl === undefined) throw new RequestError('not-found');
  return publicUrl;
}

/** The connection in the path. */
export async function getConnection(context: RequestContext): Promise<Connection> {
  const { dashboard, params, inTurn } = context;
  ownOrigin(context);
  const found = await inTurn(() => findConnectionById(dashboard.db, params['organizationId'] ?? ''));
  if (found === null) throw new RequestError('not-found');
  return found;
}

type Going = {
  /** In lower case; empty if nobody typed one. */
  readonly email: string;
  readonly next: string;
  /** SHA-256 of the token of the access link from which it begins. */
  readonly linkHash?: Buffer | null;
  /** What goes on after the sign-in, which proves who is signed in and signs nobody in. */
  readonly sealedForm?: Buffer;
  /** What else the person can do; by default, use a password. */
  readonly aside?: Html;
  /** The form on a page that says why there is no sign-in; see refusal-pages.ts. */
  readonly back?: Html;
};

/** Begins a sign-in, after a form. */
export async function goToProvider(
  context: RequestContext,
  connection: Connection,
  { aside, back, ...going }: Going,
): Promise<View> {
  const { browserSecret, auditSource, now } = context;
  const request = { origin: ownOrigin(context), browserSecret, auditSource, now, ...going };
  const begun = await beginSignIn(depsOf(context), connection, request);
  switch (begun.kind) {
    case 'begun': {
      const [title, why] = ['Sign in at your organization', 'Your organization uses single sign-on.'];
      return continuePage(context, { title, why, url: begun.url, aside: aside ?? passwordLink(going.next) });
    }
    case 'lost':
      return lostPage(context, back);
    case 'rate-limited':
      return tooManyPage(context, begun, back);
    default:
      return failurePage(context, begun, back);
  }
}

/**
 * The address for a tile of the provider (OpenID Connect Core section 4, initiate_login_uri). It begins nothing: anybody can link
 * to it, and a browser that went on by itself would be signed in to the organization of the attacker who made the link.
 */
export async function showStart(context: RequestContext): Promise<View> {
  const { query, path, formToken } = context;
  const { issuer } = (await getConnection(context)).record;
  if ((query.get('iss') ?? issuer) !== issuer) throw new RequestError('not-found');
  const origin = ownOrigin(context);
  const target = query.get('target_link_uri') ?? '';
  // It is a whole URL, and only a path of ours is followed.
  const next = safeNext(target.startsWith(`${origin}/`) ? target.slice(origin.length) : target);
  const main = html`<section class="card guest-card"><h1>Sign in to Charter?</h1>
<p>The identity provider <strong>${new URL(issuer).host}</strong> signs you in here. Another session of this browser ends. Continue only if this is the address of your own organization.</p>
${postForm(
  { action: path, formToken },
  html`${hidden('email', query.get('login_hint') ?? '')}${hidden('next', next)}
<div class="actions"><button class="button primary wide">Continue</button></div>`,
)}
<p class="aside"><a href="${PROFILE_URL}">Cancel</a></p></section>`;
  return page(context, { title: 'Sign in to Charter?', main });
}

export async function startAtProvider(context: RequestContext, form: Form<'email' | 'next'>): Promise<View> {
  const email = normalEmail(form.text('email')) ?? '';
  return goToProvider(context, await getConnection(context), { email, next: safeNext(form.text('next')) });
}

/** Where the provider sends the browser back. */
export async function comeBack(context: RequestContext): Promise<View> {
  const { browserSecret, token, auditSource, now, query } = context;
  const connection = await getConnection(context);
  const response = { token, origin: ownOrigin(context), browserSecret, parameters: query, auditSource, now };
  const completion = await completeSignIn(depsOf(context), connection, response);
  switch (completion.kind) {
    case 'signed-in':
      return startInBrowser(context, completion);
    case 'after-proof':
      return showAfterProof(context, completion);
    case 'to-confirm':
      return redirect(confirmationUrl(connection.scope.organizationId, completion.token));
    case 'lost': {
      const signedIn = await findSignedIn(context);
      return signedIn === null ? lostPage(context) : overPage(signedIn);
    }
    case 'not-admitted':
      return notAdmittedPage(context, completion);
    default:
      return failurePage(context, completion);
  }
}

/** Goes on with what was sent if the provider sent the browser back with a proof. */
async function showAfterProof(context: RequestContext, { outcome, next, sealedForm }: AfterProof): Promise<View> {
  const sealed = sealedForm.toString('base64url');
  const waiting = await findWaiting(context, { next, sealed });
  const back = waiting === null ? undefined : backToProof(waiting.asking, sealed);
  const current = waiting?.asking ?? context;
  switch (outcome.kind) {
    case 'proven':
      if (waiting === null) throw new RequestError('forged');
      return goOnPage(waiting.asking, { purpose: waiting.purpose, sealed });
    case 'not-proven': {
      const ways = waiting === null ? null : await findWaysToProve(context.dashboard.db, waiting.asking.actor);
      return notProvenPage(current, outcome, { ways, back });
    }
    case 'lost':
      return lostPage(current, back);
    default:
      return failurePage(current, outcome, back);
  }
}

/** `null` if the session in which the form was sent has ended. */
async function findWaiting(context: RequestContext, { next, sealed }: { next: string; sealed: string }) {
  const signedIn = await findSignedIn(context);
  if (signedIn === null) return null;
  const asking = contextAt(signedIn, next);
  const form = findForm(asking, sealed);
  return form === null ? null : { asking, purpose: form.purpose };
}
