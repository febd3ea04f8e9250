import { renderSVG } from 'uqr';
import { shownEmail } from '../../domain/people/email.ts';
import { PASSWORD_CHARACTERS } from '../../domain/people/password.ts';
import { RECOVERY_CODES } from '../../domain/people/ways-in.ts';
import { formatInstant } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import {
  type Authenticator,
  beginSecondFactor,
  confirmSecondFactor,
  findPendingSecret,
  removeSecondFactor,
  renewRecoveryCodes,
} from '../../service/sign-in-settings/second-factor.ts';
import { hiddenField, ONE_TIME_FORM, secret, text } from '../forms/fields.ts';
import { type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { alreadySentPage } from '../forms/one-time-form.ts';
import {
  CONFIRM_SECOND_FACTOR_URL,
  PROFILE_URL,
  RECOVERY_CODES_URL,
  REMOVE_SECOND_FACTOR_URL,
  SECOND_FACTOR_URL,
} from '../http/addresses.ts';
import { formTokenOf, sessionCookie } from '../http/cookies.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { actionForm, copyField, head, postForm } from '../markup/parts.ts';

// The signed-in person's own second factor. The pages show the authenticator's secret, ask for a first code to confirm it, and
// show the recovery codes.

const UP = { name: 'My profile', href: PROFILE_URL };

type ConfirmProps = {
  /** The authenticator's secret; `null` if a refused form did not contain it, so that the page cannot show it. */
  readonly authenticator: Authenticator | null;
};

export const CONFIRM_FORM = {
  secret: hiddenField(),
  code: secret(
    text({
      label: 'Code',
      hint: ({ authenticator }: ConfirmProps) =>
        html`${authenticator !== null && html`<strong>2.</strong> `}The six digits that your authenticator shows now.`,
      attributes: html`class="code" inputmode="numeric" autocomplete="one-time-code" maxlength="10" required`,
    }),
  ),
};

export async function showSecondFactor(context: SignedInContext): Promise<View> {
  return secondFactorPage(context, null);
}

export async function begin(context: SignedInContext): Promise<View> {
  const { dashboard, actor, token } = context;
  const outcome = await beginSecondFactor(dashboard.db, actor, { token });
  if (outcome.kind !== 'secret-made') return secondFactorPage(context, problemOf(outcome));
  return confirmPage(context, { problem: null, authenticator: outcome });
}

export async function confirm(context: SignedInContext, { values }: Form<typeof CONFIRM_FORM>): Promise<View> {
  const { dashboard, actor, token, now } = context;
  const outcome = await confirmSecondFactor(dashboard.db, actor, { code: values.code, token, now });
  if (outcome.kind !== 'codes-made') {
    const authenticator = await findPendingSecret(dashboard.db, actor, { secret: values.secret });
    return confirmPage(context, { problem: problemOf(outcome), authenticator });
  }
  // The session has a new token, from which the form tokens on the next page must be derived.
  const renewed = { ...context, token: outcome.token, formToken: formTokenOf(outcome.token) };
  const view = codesPage(renewed, 'Your second factor is on', outcome.recoveryCodes);
  return { ...view, cookies: [sessionCookie(outcome.token, dashboard.isHttps)] };
}

export async function remove(context: SignedInContext): Promise<View> {
  const { dashboard, actor, token } = context;
  const outcome = await removeSecondFactor(dashboard.db, actor, { token });
  if (outcome.kind !== 'done') return secondFactorPage(context, problemOf(outcome));
  return redirect(`${PROFILE_URL}?done=factor-off`);
}

function secondFactorPage(context: SignedInContext, problem: Problem | null): View {
  const main = html`${head({ title: 'Second factor', up: UP })}
${problemSummary(problem)}
<div class="card narrow">${context.actor.hasSecondFactor ? removeForm(context) : beginForm(context)}</div>`;
  return page(context, { title: 'Second factor', main, problem, formUrl: SECOND_FACTOR_URL });
}

function removeForm(context: SignedInContext): Html {
  return html`<p>Sign-in asks for a code from your authenticator. After you turn this off, your password alone opens your account. One shorter than ${PASSWORD_CHARACTERS} characters must be replaced at the next sign-in.</p>
${actionForm(context, { action: REMOVE_SECOND_FACTOR_URL, button: 'Turn off', kind: 'danger', cancel: PROFILE_URL })}`;
}

function beginForm(context: SignedInContext): Html {
  return html`<p>You need an authenticator: an app on your phone, or a password manager, that makes six-digit codes.</p>
<p>You get a secret for it, then confirm with a first code. After that, each sign-in with the password asks for a code, too. Turning it on ends your other sessions.</p>
${actionForm(context, { action: SECOND_FACTOR_URL, button: 'Set up', cancel: PROFILE_URL })}`;
}

function confirmPage(
  context: SignedInContext,
  { problem, authenticator }: ConfirmProps & { readonly problem: Problem | null },
): View {
  const typed = { secret: authenticator?.secret ?? '' };
  const fields = fieldsOf(CONFIRM_FORM, { typed, problem }, { authenticator });
  const title = 'Set up a second factor';
  const main = html`${head({ title, up: UP })}
${problemSummary(problem, CONFIRM_FORM)}
<div class="card narrow" ${authenticator !== null && 'data-secret'}>
${
  authenticator !== null &&
  html`<p><strong>1.</strong> Scan this code with your authenticator, or type the secret below into it. On the phone itself, <a href="${authenticator.uri}">open it in the app</a>.</p>
<p><img class="qr" src="${qrCode(authenticator.uri)}" width="200" height="200" alt="QR code of the secret below"></p>
${copyField({ id: 'secret', label: 'Secret', text: authenticator.secret.replace(/.{4}(?=.)/g, '$& ') })}`
}
${postForm(
  { action: CONFIRM_SECOND_FACTOR_URL, formToken: context.formToken },
  html`${Object.values(fields)}
<div class="actions"><button class="button primary">Turn on</button><a class="button plain" href="${SECOND_FACTOR_URL}">Start again</a></div>`,
)}</div>`;
  return page(context, { title, main, problem, formUrl: SECOND_FACTOR_URL });
}

/** Returns the QR code as a data: URL. The server draws the code, so that no other service gets the secret. */
function qrCode(text: string): string {
  return `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { border: 4 }))}`;
}

export async function showRenew(context: SignedInContext): Promise<View> {
  return renewPage(context, null);
}

export async function renew(context: SignedInContext, { values }: Form<typeof ONE_TIME_FORM>): Promise<View> {
  const { dashboard, actor, token } = context;
  const outcome = await renewRecoveryCodes(dashboard.db, actor, { token, ...values });
  switch (outcome.kind) {
    case 'codes-made':
      return codesPage(context, 'Your new recovery codes', outcome.recoveryCodes);
    case 'conflict':
      return renewPage(context, problemOf(outcome));
    case 'already-sent':
      return alreadySentPage(context, 'recovery-codes', UP);
  }
}

function renewPage(context: SignedInContext, problem: Problem | null): View {
  if (!context.actor.hasSecondFactor) return redirect(SECOND_FACTOR_URL);
  const title = 'Regenerate recovery codes';
  const main = html`${head({ title, up: UP })}
${problemSummary(problem)}
<div class="card narrow"><p>You get ${RECOVERY_CODES} new codes. Each opens your account once without your authenticator. The earlier codes stop working at once.</p>
${actionForm(context, { action: RECOVERY_CODES_URL, fields: fieldsOf(ONE_TIME_FORM, { typed: {}, problem }, { context }).formId, button: 'Regenerate codes', cancel: PROFILE_URL })}</div>`;
  return page(context, { title, main, problem });
}

function codesPage(context: SignedInContext, title: string, codes: readonly string[]): View {
  const { actor, now } = context;
  const text = `Charter recovery codes of ${shownEmail(actor.email)}, made on ${formatInstant(now)}.
Each opens the account once without the authenticator. They replace all earlier ones.

${codes.join('\n')}
`;
  const main = html`${head({ title, up: UP })}
<div class="card narrow" data-secret>
<div class="notice warn"><p><strong>These recovery codes will not be shown again.</strong> Each opens your account once, in case you lose your authenticator. Do not keep them on your phone.</p></div>
${copyField({ id: 'codes', label: 'Recovery codes', text: codes.join('\n'), rows: codes.length })}
<p class="actions"><a class="button" href="${fileUrl(text)}" download="charter-recovery-codes.txt">Download as a text file</a><a class="button primary" href="${PROFILE_URL}">I have kept them</a></p></div>`;
  return page(context, { title, main });
}

/**
 * Returns the file with the codes as a data: URL in the page. A later request could not get the file, because the server keeps no
 * copy of the codes.
 */
function fileUrl(text: string): string {
  return `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
}
