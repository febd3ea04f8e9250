import {
  isIntegrationRole,
  mayManageIntegrations,
  mayTakeKeysOf,
  mayTakeKeysOfOwned,
} from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import { listIntegrationsForChoice } from '../../service/integrations/integrations.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { moveKey } from '../../service/keys/move-key.ts';
import { invalid } from '../../service/outcome.ts';
import type { NamedIntegration } from '../../store/integrations/integrations.ts';
import { integrationKeysUrl, NEW_INTEGRATION_URL, urlOf } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { INTEGRATION_ROLE_MEANING } from '../integrations/form.ts';
import { field } from '../markup/parts.ts';
import { actionForm, confirmationPage, keyOf, refusedPage } from './confirmation.ts';
import type { KeyContext } from './context.ts';

type Values = { readonly integration: string; readonly name: string };

export async function showMove(context: KeyContext): Promise<View> {
  return movePage(context, null);
}

export async function move(context: KeyContext, form: Form<'integration' | 'name'>): Promise<View> {
  const values = { integration: form.text('integration'), name: form.text('name') };
  if (values.integration === '') {
    const problem = problemOf(invalid('integration', 'must be chosen.'));
    return movePage(context, { problem, values });
  }
  const request = { ...keyOf(context), integrationId: values.integration, name: values.name };
  const outcome = await moveKey(context.dashboard.db, context.actor, request);
  switch (outcome.kind) {
    case 'done':
      return redirect(urlOf(integrationKeysUrl(values.integration), { done: 'moved', key: request.keyId }));
    case 'invalid':
    case 'name-taken':
      return movePage(context, { problem: problemOf(outcome), values });
    case 'conflict':
    case 'refused':
      return refusedPage(context, outcome);
  }
}

/** `retry`: the form was refused, and is shown again with the values that were sent. */
async function movePage(context: KeyContext, retry: { problem: Problem; values: Values } | null): Promise<View> {
  const problem = retry?.problem ?? null;
  return confirmationPage(context, 'move', {
    problem,
    show: async (key, access) => {
      const integrations = await choicesOf(context, access);
      if (integrations.length === 0) return { content: noIntegration(context) };
      const values = retry?.values ?? { integration: '', name: key.name };
      return { content: moveForm(context, key, { problem, values, integrations }) };
    },
  });
}

/** The integrations for which the actor may create keys, too. */
async function choicesOf({ dashboard, actor }: KeyContext, { policy }: KeyAccess): Promise<NamedIntegration[]> {
  const all = await listIntegrationsForChoice(dashboard.db, actor);
  return all.filter(({ role }) => mayTakeKeysOf(actor.role, role) || mayTakeKeysOfOwned(actor.role, role, policy));
}

function noIntegration({ actor, backUrl }: KeyContext): Html {
  return html`<p>There is no integration to which you can move the key.</p>
<p class="actions">${mayManageIntegrations(actor.role) && html`<a class="button primary" href="${NEW_INTEGRATION_URL}">Create an integration</a>`}<a class="button plain" href="${backUrl}">Cancel</a></p>`;
}

type FormProps = {
  readonly problem: Problem | null;
  readonly values: Values;
  readonly integrations: readonly NamedIntegration[];
};

function moveForm(context: KeyContext, key: KeyDetails, { problem, values, integrations }: FormProps): Html {
  const errors = problem?.fields;
  const fields = html`${field(
    { name: 'integration', label: 'Integration', errors },
    (attributes) =>
      html`<select ${attributes} required>${integrations.length > 1 && html`<option value="">Choose an integration</option>`}${integrations.map(
        ({ id, name, role }) =>
          html`<option value="${id}"${id === values.integration && html` selected`}>${name}${isIntegrationRole(role) && ` (may ${INTEGRATION_ROLE_MEANING[role]})`}</option>`,
      )}</select>`,
  )}
${field(
  { name: 'name', label: 'Name', hint: 'Unique among the keys of the integration.', errors },
  (attributes) =>
    html`<input ${attributes} type="text" value="${values.name}" maxlength="100" required autocomplete="off">`,
)}`;
  return html`<p>The key itself stays the same, so nothing has to be deployed. From then on, it acts for the integration: it stays valid when the user leaves, and the role of the integration limits it.</p>
<div class="notice"><p>It keeps its permissions, its expiry, its allowed addresses and its rate limit. A key cannot be moved back.</p></div>
${actionForm(context, key, { action: 'move', fields })}`;
}
