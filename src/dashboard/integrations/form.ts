import { INTEGRATION_ROLES } from '../../domain/people/role.ts';
import { html } from '../../html/html.ts';
import {
  changeIntegration,
  createIntegration,
  MAX_DESCRIPTION_CHARACTERS,
} from '../../service/integrations/change-integration.ts';
import { getIntegration } from '../../service/integrations/integrations.ts';
import { formId, lines, select, text } from '../forms/fields.ts';
import { emptyOf, type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { alreadySentPage } from '../forms/one-time-form.ts';
import { INTEGRATIONS_URL, integrationUrl, NEW_INTEGRATION_URL } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { noMailWords } from '../markup/key-notices.ts';
import { page } from '../markup/layout.ts';
import { actionForm, beside, head } from '../markup/parts.ts';
import { INTEGRATION_ROLE_MEANING, ROLE_WORDS } from '../markup/words.ts';
import { integrationIdOf } from './integration-head.ts';

/** The fields of both forms: the form that creates an integration and the form that changes one. */
export const CONTENT_FIELDS = {
  name: text({
    label: 'Name',
    hint: 'The program that uses the API, such as “Nightly import”. Unique in your organization.',
    attributes: html`maxlength="200" autocomplete="off" required`,
    hasFocus: true,
  }),
  description: lines({
    label: 'Description',
    hint: 'Optional: what it does, and where it runs.',
    attributes: html`rows="3" maxlength="${MAX_DESCRIPTION_CHARACTERS}"`,
  }),
  role: select({
    label: 'Role',
    hint: 'What the keys of the integration may do at most.',
    options: INTEGRATION_ROLES.toReversed().map((role) => ({
      value: role,
      words: `${ROLE_WORDS[role].name}: ${INTEGRATION_ROLE_MEANING[role]}`,
    })),
  }),
  owner: text({
    label: 'Owner',
    hint: 'The e-mail of the user who answers for it. The owner sees the integration and its keys.',
    type: 'email',
    attributes: html`maxlength="254" autocomplete="off" required`,
  }),
  noticeEmail: text({
    label: 'E-mail for notices',
    hint: ({ context }: { readonly context: SignedInContext }) =>
      html`Optional: an address, such as that of a team.${noMailWords(context)}`,
    type: 'email',
    attributes: html`maxlength="254" autocomplete="off"`,
  }),
};

export const CREATE_FORM = { formId: formId(), ...CONTENT_FIELDS };

type Filling = Filled<typeof CONTENT_FIELDS>;

export async function showCreateIntegration(context: SignedInContext): Promise<View> {
  const typed = { ...emptyOf(CONTENT_FIELDS), role: 'viewer', owner: context.actor.email };
  return createPage(context, { typed, problem: null });
}

export async function create(context: SignedInContext, { values, typed }: Form<typeof CREATE_FORM>): Promise<View> {
  const outcome = await createIntegration(context.dashboard.db, context.actor, values);
  switch (outcome.kind) {
    case 'created':
      return redirect(`${integrationUrl(outcome.id)}?done=created`);
    case 'invalid':
    case 'conflict':
      return createPage(context, { typed, problem: problemOf(outcome) });
    case 'already-sent':
      return alreadySentPage(context, 'integration', { name: 'See the integrations', href: INTEGRATIONS_URL });
  }
}

function createPage(context: SignedInContext, filled: Filling): View {
  const { problem } = filled;
  const title = 'Create an integration';
  const main = html`${head({ title, up: { name: 'Integrations', href: INTEGRATIONS_URL } })}
${problemSummary(problem, CREATE_FORM)}
${beside({
  title: 'What an integration is',
  isLast: true,
  about: html`<p>A program that uses the API, such as a nightly import. It has API keys, but no password: nobody signs in as an integration.</p>
<p>Its keys stay valid when a person leaves. Its role limits all of its keys, and its owner answers for it.</p>`,
  content: actionForm(context, {
    action: NEW_INTEGRATION_URL,
    fields: Object.values(fieldsOf(CREATE_FORM, filled, { context })),
    button: 'Create integration',
    cancel: INTEGRATIONS_URL,
  }),
})}`;
  return page(context, { title, main, problem });
}

export async function showChangeIntegration(context: SignedInContext): Promise<View> {
  return changePage(context, null);
}

export async function change(context: SignedInContext, { values, typed }: Form<typeof CONTENT_FIELDS>): Promise<View> {
  const id = integrationIdOf(context);
  const outcome = await changeIntegration(context.dashboard.db, context.actor, { id, ...values });
  if (outcome.kind !== 'done') return changePage(context, { typed, problem: problemOf(outcome) });
  return redirect(`${integrationUrl(id)}?done=changed`);
}

/** Returns the page with the form. `refused` is the refused form; `null` if the form is shown for the first time. */
async function changePage(context: SignedInContext, refused: Filling | null): Promise<View> {
  const { dashboard, actor, now } = context;
  const integration = await getIntegration(dashboard.db, actor, { id: integrationIdOf(context), now });
  const { name, ownerEmail, isOwnerActive } = integration;
  const owner = isOwnerActive ? ownerEmail : actor.email;
  const filled = refused ?? { typed: { ...integration, owner }, problem: null };
  const url = integrationUrl(integration.id);
  const title = `Change ${name}`;
  const main = html`${head({ title, up: { name, href: url } })}
${problemSummary(filled.problem, CONTENT_FIELDS)}
<div class="card narrow">${actionForm(context, { action: integrationUrl(integration.id, 'change'), fields: Object.values(fieldsOf(CONTENT_FIELDS, filled, { context })), button: 'Save', cancel: url })}</div>`;
  return page(context, { title, main, problem: filled.problem });
}
