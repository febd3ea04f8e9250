import { normalEmail } from '../../../domain/people/email.ts';
import { hashToken } from '../../../domain/people/session.ts';
import { type Html, html } from '../../../html/html.ts';
import type { SingleSignOnRequired } from '../../../service/authority/sign-in-ways.ts';
import { openLink } from '../../../service/people/access-links.ts';
import { getWaysToProve } from '../../../service/sign-in/prove.ts';
import { beginSignIn, type SignInDeps } from '../../../service/sign-in/single-sign-on/begin.ts';
import { completeSignIn } from '../../../service/sign-in/single-sign-on/complete.ts';
import type { AfterProof } from '../../../service/sign-in/single-sign-on/completion.ts';
import {
  type Connection,
  findConnectionById,
  findConnectionForEmail,
} from '../../../service/sign-in/single-sign-on/connection.ts';
import { hasSso } from '../../../store/unscoped/people.ts';
import { hiddenField, nextField } from '../../forms/fields.ts';
import { type Form, fieldsOf } from '../../forms/form.ts';
import { confirmationUrl, PROFILE_URL, safeNext, singleSignOnUrl, urlOf } from '../../http/addresses.ts';
import { contextAt, findSignedIn, type RequestContext, type SignedInContext } from '../../http/request-context.ts';
import { RequestError } from '../../http/request-error.ts';
import { redirect, type View } from '../../http/view.ts';
import { continuePage } from '../../markup/continue.ts';
import { page } from '../../markup/layout.ts';
import { passwordLink, postForm } from '../../markup/parts.ts';
import { backToProof, goOnPage, type PROVIDER_PROOF_FORM, parentOf } from '../../proof/page.ts';
import { findForm, openForm } from '../../proof/sealed-form.ts';
import { deadLinkPage, tokenOf } from '../access-links.ts';
import { startInBrowser } from '../start-session.ts';
import { failurePage, lostPage, notAdmittedPage, notProvenPage, overPage, tooManyPage } from './refusal-pages.ts';

export function depsOf({ dashboard, inTurn }: RequestContext): SignInDeps {
  return { db: dashboard.db, access: dashboard.providers, inTurn };
}

/**
 * Returns Charter's own address, as the provider knows it. Throws "not-found" if it is not configured. The Host header is not
 * used, because the client can write any server name into it.
 */
function requireOwnOrigin({ dashboard: { publicUrl } }: RequestContext): string {
  if (publicUrl === undefined) throw new RequestError('not-found');
  return publicUrl;
}

/** Returns the single sign-on connection of the organization in the path. */
export async function getConnection(context: RequestContext): Promise<Connection> {
  const { dashboard, params, inTurn } = context;
  requireOwnOrigin(context);
  const found = await inTurn(() => findConnectionById(dashboard.db, params['organizationId'] ?? ''));
  if (found === null) throw new RequestError('not-found');
  return found;
}

type Going = {
  /** The normalized e-mail; empty if the person has not entered an e-mail. */
  readonly email: string;
  readonly next: string;
  /** The SHA-256 of the access link's token; `null` or omitted if the sign-in does not use an access link. */
  readonly linkHash?: Buffer | null;
  /** The form that waits for a proof. If it is set, the sign-in starts no session, and only proves who the person is. */
  readonly sealedForm?: Buffer;
  /** What else the person can do. The default is to sign in with a password. */
  readonly aside?: Html;
  /** A form with a button back to the page that asks for a proof; see refusal-pages.ts. */
  readonly back?: Html;
};

/**
 * Begins a sign-in at the provider. Only a form may begin a sign-in, because another site can contain a link, but not a form that
 * is valid here.
 */
export async function goToProvider(
  context: RequestContext,
  connection: Connection,
  { aside, back, ...going }: Going,
): Promise<View> {
  const { browserSecret, auditSource, now } = context;
  const request = { origin: requireOwnOrigin(context), browserSecret, auditSource, now, ...going };
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
 * Returns whether an e-mail's domain may lead to a provider. If so, the sign-in page asks for the e-mail first. The result does
 * not depend on a particular e-mail, so that nobody can learn which e-mails have an account.
 */
export async function mayLeadToProvider({ dashboard: { db, publicUrl } }: RequestContext): Promise<boolean> {
  return publicUrl !== undefined && (await hasSso(db));
}

/** Begins the sign-in of the person with this e-mail. Returns `null` if the e-mail's domain does not lead to a provider. */
export async function beginByEmail(
  context: RequestContext,
  { email, next }: { readonly email: string; readonly next: string },
): Promise<View | null> {
  const { dashboard, inTurn } = context;
  if (dashboard.publicUrl === undefined) return null;
  const connection = await inTurn(() => findConnectionForEmail(dashboard.db, email));
  return connection === null ? null : goToProvider(context, connection, { email, next });
}

/**
 * Begins a sign-in at the identity provider with an access link. The link cannot be used again once the provider has confirmed
 * that the link's e-mail is the person's.
 */
export async function welcomeByProvider(context: RequestContext): Promise<View> {
  const { dashboard, now, inTurn } = context;
  const token = tokenOf(context);
  const found = await inTurn(async () => {
    const link = await openLink(dashboard.db, token, now);
    const connection =
      link === null || dashboard.publicUrl === undefined
        ? null
        : await findConnectionById(dashboard.db, link.organizationId);
    return link === null || connection === null ? null : { link, connection };
  });
  if (found === null || found.link.singleSignOn === 'no') return deadLinkPage(context);
  const { link, connection } = found;
  return goToProvider(context, connection, { email: link.email, next: PROFILE_URL, linkHash: hashToken(token) });
}

export const START_FORM = { email: hiddenField(), next: nextField };

/**
 * Shows the page to which the provider's app launcher leads (OpenID Connect Core 1.0, section 4, initiate_login_uri). The page
 * asks whether to continue. The attack: somebody gives a person a link to this page of the attacker's organization. A page that
 * continued by itself would sign the person in to that organization.
 */
export async function showStart(context: RequestContext): Promise<View> {
  const { query, path, formToken } = context;
  const { issuer } = (await getConnection(context)).record;
  if ((query.get('iss') ?? issuer) !== issuer) throw new RequestError('not-found');
  const origin = requireOwnOrigin(context);
  const target = query.get('target_link_uri') ?? '';
  // The parameter is a whole URL. Charter uses it only if it is the URL of a page of this dashboard.
  const next = safeNext(target.startsWith(`${origin}/`) ? target.slice(origin.length) : target);
  const main = html`<section class="card guest-card"><h1>Sign in to Charter?</h1>
<p>The identity provider <strong>${new URL(issuer).host}</strong> signs you in here. Another session of this browser ends. Continue only if this is the address of your own organization.</p>
${postForm(
  { action: path, formToken },
  html`${Object.values(fieldsOf(START_FORM, { typed: { email: query.get('login_hint') ?? '', next }, problem: null }))}
<div class="actions"><button class="button primary wide">Continue</button></div>`,
)}
<p class="aside"><a href="${PROFILE_URL}">Cancel</a></p></section>`;
  return page(context, { title: 'Sign in to Charter?', main });
}

export async function startAtProvider(context: RequestContext, { values }: Form<typeof START_FORM>): Promise<View> {
  const email = normalEmail(values.email) ?? '';
  return goToProvider(context, await getConnection(context), { email, next: values.next });
}

/** Returns the URL of the page of `showStart`, for a person whose organization accepts neither passwords nor passkeys. */
export function startUrl({ organizationId, email }: SingleSignOnRequired, next: string): string {
  return urlOf(singleSignOnUrl(organizationId, 'start'), { login_hint: email, target_link_uri: next });
}

/** Handles the request with which the browser returns from the provider. */
export async function comeBack(context: RequestContext): Promise<View> {
  const { browserSecret, token, auditSource, now, query } = context;
  const connection = await getConnection(context);
  const response = { token, origin: requireOwnOrigin(context), browserSecret, parameters: query, auditSource, now };
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

/** Offers to continue with the waiting form if the provider has proved who the person is; otherwise says why it has not. */
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
      const ways = waiting === null ? null : await getWaysToProve(context.dashboard.db, waiting.asking.actor);
      return notProvenPage(current, outcome, { ways, back });
    }
    case 'lost':
      return lostPage(current, back);
    default:
      return failurePage(current, outcome, back);
  }
}

/** Returns the waiting form, or `null` if it belongs to another session or its session has ended. */
async function findWaiting(context: RequestContext, { next, sealed }: { next: string; sealed: string }) {
  const signedIn = await findSignedIn(context);
  if (signedIn === null) return null;
  const asking = contextAt(signedIn, next);
  const form = findForm(asking, sealed);
  return form === null ? null : { asking, purpose: form.purpose };
}

/**
 * Lets the signed-in person sign in again at the provider, to prove who they are. The form that the person sent waits for that
 * proof.
 */
export async function proveAtProvider(
  context: SignedInContext,
  { values }: Form<typeof PROVIDER_PROOF_FORM>,
): Promise<View> {
  const { actor, dashboard, inTurn } = context;
  const { next, sealedForm: sealed } = values;
  const asking = contextAt(context, next);
  openForm(asking, sealed);
  const connection = await inTurn(() => findConnectionById(dashboard.db, actor.scope.organizationId));
  if (connection === null) throw new RequestError('not-found');
  return goToProvider(context, connection, {
    email: actor.email,
    next,
    sealedForm: Buffer.from(sealed, 'base64url'),
    aside: html`<a href="${parentOf(asking.path)}">Cancel</a>`,
    back: backToProof(asking, sealed),
  });
}
