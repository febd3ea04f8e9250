import {
  isIntegrationRole,
  mayManageIntegrations,
  mayTakeKeysOf,
  mayTakeKeysOfOwned,
} from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import { listIntegrationsForChoice } from '../../service/integrations/integrations.ts';
import { moveKey } from '../../service/keys/move-key.ts';
import { invalid } from '../../service/outcome.ts';
import type { NamedIntegration } from '../../store/integrations/integrations.ts';
import { select, text } from '../forms/fields.ts';
import { type Filled, type Form, fieldsOf } from '../forms/form.ts';
import { integrationKeysUrl, NEW_INTEGRATION_URL, urlOf } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import { redirect, type View } from '../http/view.ts';
import { INTEGRATION_ROLE_MEANING } from '../markup/words.ts';
import { confirmationPage, keyOf, refusedPage } from './confirmation.ts';
import type { KeyContext } from './context.ts';

type MoveProps = { readonly integrations: readonly NamedIntegration[] };

export const MOVE_FORM = {
  integration: select({
    label: 'Integration',
    attributes: html`required`,
    options: ({ integrations }: MoveProps) => [
      ...(integrations.length > 1 ? [{ value: '', words: 'Choose an integration' }] : []),
      ...integrations.map(({ id, name, role }) => ({
        value: id,
        words: `${name}${isIntegrationRole(role) ? ` (may ${INTEGRATION_ROLE_MEANING[role]})` : ''}`,
      })),
    ],
  }),
  name: text({
    label: 'Name',
    hint: 'Unique among the keys of the integration.',
    attributes: html`maxlength="100" required autocomplete="off"`,
  }),
};

export async function showMove(context: KeyContext): Promise<View> {
  return movePage(context, null);
}

export async function move(context: KeyContext, { values, typed }: Form<typeof MOVE_FORM>): Promise<View> {
  const { integration: integrationId, name } = values;
  if (integrationId === '') {
    return movePage(context, { problem: problemOf(invalid('integration', 'must be chosen.')), typed });
  }
  const request = { ...keyOf(context), integrationId, name };
  const outcome = await moveKey(context.dashboard.db, context.actor, request);
  switch (outcome.kind) {
    case 'done':
      return redirect(urlOf(integrationKeysUrl(integrationId), { done: 'moved', key: request.keyId }));
    case 'invalid':
    case 'name-taken':
      return movePage(context, { problem: problemOf(outcome), typed });
    case 'conflict':
    case 'refused':
      return refusedPage(context, outcome);
  }
}

/** Returns the page with the form. `refused` is the refused form; `null` if the form is shown for the first time. */
async function movePage(context: KeyContext, refused: Filled<typeof MOVE_FORM> | null): Promise<View> {
  return confirmationPage(context, 'move', {
    fields: MOVE_FORM,
    problem: refused?.problem ?? null,
    show: async (key, access) => {
      const integrations = await listChoices(context, access);
      if (integrations.length === 0) return { words: noIntegration(context) };
      const filled = refused ?? { typed: { integration: '', name: key.name }, problem: null };
      return {
        form: { fields: Object.values(fieldsOf(MOVE_FORM, filled, { integrations })) },
        words: html`<p>The key itself stays the same, so nothing has to be deployed. From then on, it acts for the integration: it stays valid when the user leaves, and the role of the integration limits it.</p>
<div class="notice"><p>It keeps its permissions, its expiry, its allowed addresses and its rate limit. A key cannot be moved back.</p></div>`,
      };
    },
  });
}

async function listChoices({ dashboard, actor }: KeyContext, { policy }: KeyAccess): Promise<NamedIntegration[]> {
  const all = await listIntegrationsForChoice(dashboard.db, actor);
  return all.filter(({ role }) => mayTakeKeysOf(actor.role, role) || mayTakeKeysOfOwned(actor.role, role, policy));
}

function noIntegration({ actor, backUrl }: KeyContext): Html {
  return html`<p>There is no integration to which you can move the key.</p>
<p class="actions">${mayManageIntegrations(actor.role) && html`<a class="button primary" href="${NEW_INTEGRATION_URL}">Create an integration</a>`}<a class="button plain" href="${backUrl}">Cancel</a></p>`;
}
