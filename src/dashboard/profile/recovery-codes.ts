import { formatInstant } from '../../domain/format.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { RECOVERY_CODES } from '../../domain/people/recovery-code.ts';
import { html } from '../../html/html.ts';
import { renewRecoveryCodes } from '../../service/sign-in-settings/second-factor.ts';
import { PROFILE_URL, RECOVERY_CODES_URL, SECOND_FACTOR_URL } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { copyField, head, hidden, postForm, problemSummary } from '../markup/parts.ts';

const UP = { name: 'My profile', href: PROFILE_URL };

export async function showRenew(context: SignedInContext): Promise<View> {
  return renewPage(context, null);
}

export async function renew(context: SignedInContext, form: Form<'form_id'>): Promise<View> {
  const { dashboard, actor, token } = context;
  const formId = readFormId(context, form.text('form_id'));
  const outcome = await renewRecoveryCodes(dashboard.db, actor, { token, formId });
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
${problemSummary(problem, {})}
<div class="card narrow"><p>You get ${RECOVERY_CODES} new codes. Each opens your account once without your authenticator. The earlier codes stop working at once.</p>
${postForm(
  { action: RECOVERY_CODES_URL, formToken: context.formToken },
  html`${hidden('form_id', newFormId(context))}<div class="actions"><button class="button primary">Regenerate codes</button><a class="button plain" href="${PROFILE_URL}">Cancel</a></div>`,
)}</div>`;
  return page(context, { title, main, problem });
}

export function codesPage(context: SignedInContext, title: string, codes: readonly string[]): View {
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

/** A data: URL: the file is part of the page, so that the server needs no copy of the codes and nothing can ask for them again. */
function fileUrl(text: string): string {
  return `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
}
