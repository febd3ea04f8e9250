import { formatCount } from '../../domain/format.ts';
import { type Html, html } from '../../html/html.ts';
import { NEW_OWNER } from '../../service/integrations/hand-over.ts';
import type { NamedIntegration } from '../../store/integrations/integrations.ts';
import { integrationUrl } from '../addresses.ts';
import type { Problem } from '../http/problem.ts';
import { field } from '../markup/parts.ts';

export const NEW_OWNER_LABEL = 'New owner of the integrations';

/** The integrations whose owner is about to be deactivated or demoted. */
export function ownedIntegrations(
  { name }: { readonly name: string },
  owned: readonly NamedIntegration[],
): Html | false {
  if (owned.length === 0) return false;
  const [what, their] = [formatCount(owned.length, 'integration'), owned.length === 1 ? 'its' : 'their'];
  return html`<h2>Integrations</h2>
<p>${name} owns ${what}. ${owned.length === 1 ? 'It keeps' : 'They keep'} working with ${their} API keys, and need${owned.length === 1 && 's'} somebody who answers for ${owned.length === 1 ? 'it' : 'them'}.</p>
<ul class="lines">${owned.map((each) => html`<li><a href="${integrationUrl(each.id)}">${each.name}</a></li>`)}</ul>`;
}

type FieldProps = { readonly value: string; readonly problem: Problem | null };

export function newOwnerField(
  { value, problem }: FieldProps,
  hint = 'The e-mail of an active user of your organization.',
): Html {
  return field(
    { name: NEW_OWNER, label: NEW_OWNER_LABEL, hint, errors: problem?.fields },
    (attributes) =>
      html`<input ${attributes} type="email" value="${value}" maxlength="254" autocomplete="off" required>`,
  );
}
