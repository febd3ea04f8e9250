import { PROOF_MINUTES } from '../../../domain/people/session.ts';
import { SIGN_IN_MINUTES } from '../../../domain/people/single-sign-on.ts';
import type { WaysIn } from '../../../domain/people/ways-in.ts';
import { type Html, html } from '../../../html/html.ts';
import type { RateLimited } from '../../../service/outcome.ts';
import type {
  NotAdmitted,
  NotAdmittedReason,
  NotProven,
  NotProvenReason,
} from '../../../service/sign-in/single-sign-on/completion.ts';
import type { ProviderFailure } from '../../../service/sign-in/single-sign-on/provider.ts';
import { guideUrl, PROFILE_URL, SIGN_IN_URL } from '../../http/addresses.ts';
import { problemOf } from '../../http/problem.ts';
import type { RequestContext, SignedInContext } from '../../http/request-context.ts';
import type { View } from '../../http/view.ts';
import { errorPage } from '../../markup/error.ts';
import { passwordLink } from '../../markup/parts.ts';

// Pages that say why a sign-in at the identity provider failed. If a form waits for the proof, `back` is a form with a button
// back to the page that asks for a proof.

const AGAIN = { name: 'Go to the sign-in', href: SIGN_IN_URL };

/**
 * Returns what the person can do next: with `back`, return to the page that asks for a proof; otherwise, sign in again, or sign
 * in with a password.
 */
const waysOn = (back?: Html) => (back === undefined ? { link: AGAIN, aside: passwordLink() } : { form: back });

const LOST = `It began in another browser, was completed before, or took longer than ${SIGN_IN_MINUTES} minutes.`;

export function lostPage(context: RequestContext, back?: Html): View {
  return errorPage(context, {
    status: 400,
    title: 'This sign-in cannot be completed',
    message: `${LOST} Start again.`,
    ...waysOn(back),
  });
}

/**
 * Returns the page that a signed-in person gets in place of `lostPage`, for example after reloading the page that follows a
 * proof.
 */
export function overPage(context: SignedInContext): View {
  return errorPage(context, {
    status: 400,
    title: 'This sign-in is over',
    message: `${LOST} You are signed in. If you were about to do something, begin it again: for ${PROOF_MINUTES} minutes after a proof, no page asks for another one.`,
    link: { name: 'Go to My profile', href: PROFILE_URL },
  });
}

export function tooManyPage(context: RequestContext, limited: RateLimited, back?: Html): View {
  const { message } = problemOf(limited);
  const view = errorPage(context, { status: 429, title: 'Too many attempts', message, ...waysOn(back) });
  return { ...view, headers: { 'Retry-After': String(limited.retryAfterSeconds) } };
}

const REASONS: Record<NotAdmittedReason, string> = {
  'no-email': 'It did not say which verified e-mail address is yours. Ask an administrator of your organization.',
  'foreign-domain':
    'Your e-mail address there is not one of your organization. Ask an administrator of your organization.',
  'no-account': 'There is no account for you here yet. Ask an administrator of your organization to invite you.',
  'other-person':
    'The account with your e-mail address belongs to another person there. Ask an administrator to unlink it, on the page of the user.',
  deactivated: 'Your account here is deactivated. Ask an administrator of your organization.',
};

export function notAdmittedPage(context: RequestContext, { reason }: NotAdmitted): View {
  const message = html`<p>You signed in at your organization’s identity provider.</p><p>${REASONS[reason]}</p>`;
  return errorPage(context, { status: 403, title: 'Charter cannot let you in', message, ...waysOn() });
}

const NO_PROOF: Record<NotProvenReason, Html> = {
  'no-time': html`<p>Your organization’s identity provider does not say when you signed in there. So Charter cannot tell whether somebody else uses your session.</p>`,
  'not-anew': html`<p>Your organization’s identity provider did not ask you to sign in anew. So Charter cannot tell whether somebody else uses your session.</p>`,
  'other-session': html`<p>You signed in there as somebody else than here, or you are no longer signed in here.</p>`,
};

/** Returns advice for people whose provider does not prove who they are. The advice depends on their other ways to sign in. */
function otherProofs({ hasPassword, passkeys }: WaysIn): Html {
  const own = [passkeys > 0 && 'passkey', hasPassword && 'password'].filter((each) => each !== false).join(' or your ');
  return html`${own !== '' && html`<p>Go back and use your ${own}.</p>`}
<p>${own === '' ? 'Ask' : 'If you cannot, ask'} an administrator or a manager of your organization for a new link. They make it under <strong>People</strong>, on your page. Open the link, continue with single sign-on and, within ${PROOF_MINUTES} minutes, add a passkey under <strong>My profile</strong>. From then on, the passkey is your proof.</p>`;
}

const FOR_ADMINISTRATORS = html`<p>For administrators: the guide <a href="${guideUrl('single-sign-on')}#proofs-by-the-provider">Single sign-on</a> says what the provider has to send.</p>`;

/**
 * Returns the page for a sign-in at the provider that proved nothing. `ways` is `null` if no form waits for the proof any more;
 * otherwise `back` leads to the waiting form.
 */
export function notProvenPage(
  context: RequestContext,
  { reason }: NotProven,
  { ways, back }: { readonly ways: WaysIn | null; readonly back: Html | undefined },
): View {
  const help = html`${ways !== null && otherProofs(ways)}${FOR_ADMINISTRATORS}`;
  const message = html`${NO_PROOF[reason]}${reason !== 'other-session' && help}`;
  const title = 'Charter needs another proof';
  return errorPage(context, { status: 403, title, message, link: AGAIN, form: back });
}

const FAILURES: Record<
  ProviderFailure['kind'],
  { readonly status: number; readonly title: string; readonly message: string }
> = {
  unreachable: {
    status: 503,
    title: 'Your identity provider does not answer',
    message: 'Charter cannot reach the identity provider of your organization. Try again in a few minutes.',
  },
  denied: {
    status: 403,
    title: 'Your identity provider did not sign you in',
    message: 'It ended the sign-in. Start again, or ask an administrator of your organization.',
  },
  misconfigured: {
    status: 502,
    title: 'Single sign-on is not set up correctly',
    message:
      'The identity provider refuses Charter. An administrator of your organization has to correct the settings.',
  },
  'not-valid': {
    status: 502,
    title: 'Your identity provider gave no valid answer',
    message:
      'Charter could not verify it, so nobody is signed in. Start again. If it happens again, ask an administrator.',
  },
};

/**
 * Returns the page for a failure at the provider. Does not show the provider's error message, which administrators find in the
 * audit log.
 */
export function failurePage(context: RequestContext, { kind }: ProviderFailure, back?: Html): View {
  return errorPage(context, { ...FAILURES[kind], ...waysOn(back) });
}
