import { formatCount } from '../../../domain/format.ts';
import { type Html, html } from '../../../html/html.ts';
import type { SignInSettings } from '../../../service/single-sign-on/settings.ts';
import { ALLOW_PASSWORDS_URL, PROFILE_URL, REQUIRE_URL } from '../../addresses.ts';
import type { SignedInContext } from '../../http/request-context.ts';
import { noMailWords } from '../../markup/key-notices.ts';
import { badge, emailText, field, postForm } from '../../markup/parts.ts';
import { instant } from '../../markup/words.ts';
import type { Retry } from './retry.ts';

export const REQUIREMENT_LABELS = { break_glass: 'Break-glass administrator' };

export function requirementSection(
  context: SignedInContext,
  { connection, candidates, breakGlassId, shutOut }: SignInSettings,
  { breakGlass, problem }: Retry,
): Html | false {
  if (connection === null) return false;
  const { enforcedAt } = connection;
  const chosen = breakGlass ?? breakGlassId;
  const isRequired = enforcedAt !== null;
  const { formToken } = context;
  return html`<section class="card" aria-labelledby="require"><h2 id="require">Require single sign-on ${isRequired && badge('good', 'Required')}</h2>
<p class="quiet">${isRequired ? html`Since ${instant(enforcedAt)}.` : 'First sign in by single sign-on yourself. All sessions by password or passkey end.'} Nobody signs in with a password or a passkey any more, except one administrator for emergencies, who has both. ${useWords(context)} API keys are not affected.</p>
${shutOutNotice(shutOut, isRequired)}
${
  candidates.length === 0
    ? html`<p>That needs an administrator with a password and a passkey, and there is none yet. Administrators add passkeys under <a href="${PROFILE_URL}">My profile</a>.</p>`
    : postForm(
        { action: REQUIRE_URL, formToken },
        html`${field(
          { name: 'break_glass', label: REQUIREMENT_LABELS.break_glass, errors: problem?.fields },
          (attributes) =>
            html`<select ${attributes}>${candidates.map(({ id, name, email }) => html`<option value="${id}"${id === chosen && html` selected`}>${name} (${email})</option>`)}</select>`,
        )}<div class="actions"><button class="button">${isRequired ? 'Change the administrator' : 'Require single sign-on'}</button></div>`,
      )
}
${isRequired && postForm({ action: ALLOW_PASSWORDS_URL, formToken }, html`<div class="actions"><button class="button danger-plain">Stop requiring it</button></div>`)}</section>`;
}

/** Who learns that the break-glass administrator has signed in. */
function useWords(context: SignedInContext): Html {
  const noMail = noMailWords(context);
  return noMail === false
    ? html`All administrators get a mail when that account is used.`
    : html`The audit log records each use of that account.${noMail}`;
}

function shutOutNotice({ people, total }: SignInSettings['shutOut'], isRequired: boolean): Html | false {
  const others = total - people.length;
  return (
    total > 0 &&
    html`<div class="notice warn"><p><strong>${formatCount(total, 'person', 'people')} ${isRequired ? 'cannot sign in' : 'could not sign in any more'}.</strong> Their e-mail is of no verified domain, and your provider has not signed them in yet:</p>
<ul>${people.map(({ name, email }) => html`<li>${name}, ${emailText(email)}</li>`)}${others > 0 && html`<li>and ${formatCount(others, 'other')}</li>`}</ul></div>`
  );
}
