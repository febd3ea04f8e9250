import { INTEGRATION_ROLES } from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import {
  changeIntegration,
  createIntegration,
  type IntegrationRequest,
  MAX_DESCRIPTION_CHARACTERS,
} from '../../service/integrations/change-integration.ts';
import { getIntegration } from '../../service/integrations/integrations.ts';
import { INTEGRATIONS_URL, integrationUrl, NEW_INTEGRATION_URL } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { noMailWords } from '../markup/key-notices.ts';
import { page } from '../markup/layout.ts';
import { beside, field, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { ROLE_WORDS } from '../markup/words.ts';
import { integrationIdOf } from './integration-head.ts';

export const FIELDS = ['name', 'description', 'role', 'owner', 'notice_email'] as const;
type FieldName = (typeof FIELDS)[number];

const LABELS: Record<FieldName, string> = {
  name: 'Name',
  description: 'Description',
  role: 'Role',
  owner: 'Owner',
  notice_email: 'E-mail for notices',
};

function requestOf(form: Pick<Form<FieldName>, 'text'>): IntegrationRequest {
  return {
    name: form.text('name'),
    description: form.text('description'),
    role: form.text('role'),
    owner: form.text('owner'),
    noticeEmail: form.text('notice_email'),
  };
}

export async function showCreateIntegration(context: SignedInContext): Promise<View> {
  const values = { name: '', description: '', role: 'viewer', owner: context.actor.email, noticeEmail: '' };
  return createPage(context, { values, problem: null });
}

export async function create(context: SignedInContext, form: Form<FieldName | 'form_id'>): Promise<View> {
  const { dashboard, actor } = context;
  const values = requestOf(form);
  const formId = readFormId(context, form.text('form_id'));
  const outcome = await createIntegration(dashboard.db, actor, { ...values, formId });
  switch (outcome.kind) {
    case 'created':
      return redirect(`${integrationUrl(outcome.id)}?done=created`);
    case 'invalid':
    case 'conflict':
      return createPage(context, { values, problem: problemOf(outcome) });
    case 'already-sent':
      return alreadySentPage(context, 'integration', { name: 'See the integrations', href: INTEGRATIONS_URL });
  }
}

type Props = { readonly values: IntegrationRequest; readonly problem: Problem | null };

function createPage(context: SignedInContext, props: Props): View {
  const title = 'Create an integration';
  const main = html`${head({ title, up: { name: 'Integrations', href: INTEGRATIONS_URL } })}
${problemSummary(props.problem, LABELS)}
${beside({
  title: 'What an integration is',
  isLast: true,
  about: html`<p>A program that uses the API, such as a nightly import. It has API keys, but no password: nobody signs in as an integration.</p>
<p>Its keys stay valid when a person leaves. Its role limits all of its keys, and its owner answers for it.</p>`,
  content: postForm(
    { action: NEW_INTEGRATION_URL, formToken: context.formToken },
    html`${hidden('form_id', newFormId(context))}${fields(context, props)}
<div class="actions"><button class="button primary">Create integration</button><a class="button plain" href="${INTEGRATIONS_URL}">Cancel</a></div>`,
  ),
})}`;
  return page(context, { title, main, problem: props.problem });
}

export async function showChangeIntegration(context: SignedInContext): Promise<View> {
  return changePage(context, null);
}

export async function change(context: SignedInContext, form: Form<FieldName>): Promise<View> {
  const id = integrationIdOf(context);
  const values = requestOf(form);
  const outcome = await changeIntegration(context.dashboard.db, context.actor, { id, ...values });
  if (outcome.kind !== 'done') return changePage(context, { values, problem: problemOf(outcome) });
  return redirect(`${integrationUrl(id)}?done=changed`);
}

async function changePage(context: SignedInContext, retry: Props | null): Promise<View> {
  const { dashboard, actor, now, formToken } = context;
  const integration = await getIntegration(dashboard.db, actor, { id: integrationIdOf(context), now });
  const { name, description, role, ownerEmail, isOwnerActive, noticeEmail } = integration;
  const values = { name, description, role, owner: isOwnerActive ? ownerEmail : actor.email, noticeEmail };
  const props = retry ?? { values, problem: null };
  const url = integrationUrl(integration.id);
  const title = `Change ${name}`;
  const main = html`${head({ title, up: { name, href: url } })}
${problemSummary(props.problem, LABELS)}
<div class="card narrow">${postForm(
    { action: integrationUrl(integration.id, 'change'), formToken },
    html`${fields(context, props)}
<div class="actions"><button class="button primary">Save</button><a class="button plain" href="${url}">Cancel</a></div>`,
  )}</div>`;
  return page(context, { title, main, problem: props.problem });
}

function fields(context: SignedInContext, { values, problem }: Props): Html {
  const errors = problem?.fields;
  const described = (name: FieldName, hint?: string | Html) => ({ name, label: LABELS[name], hint, errors });
  return html`${field(
    described('name', 'The program that uses the API, such as “Nightly import”. Unique in your organization.'),
    (attributes) =>
      html`<input ${attributes} type="text" value="${values.name}" maxlength="200" autocomplete="off" required>`,
  )}
${field(
  described('description', 'Optional: what it does, and where it runs.'),
  (attributes) =>
    html`<textarea ${attributes} rows="3" maxlength="${MAX_DESCRIPTION_CHARACTERS}">${values.description}</textarea>`,
)}
${field(
  described('role', 'What the keys of the integration may do at most.'),
  (attributes) =>
    html`<select ${attributes}>${INTEGRATION_ROLES.toReversed().map(
      (role) =>
        html`<option value="${role}"${role === values.role && html` selected`}>${ROLE_WORDS[role].name}: ${INTEGRATION_ROLE_MEANING[role]}</option>`,
    )}</select>`,
)}
${field(
  described('owner', 'The e-mail of the user who answers for it. The owner sees the integration and its keys.'),
  (attributes) =>
    html`<input ${attributes} type="email" value="${values.owner}" maxlength="254" autocomplete="off" required>`,
)}
${field(
  described('notice_email', html`Optional: an address, such as that of a team.${noMailWords(context)}`),
  (attributes) =>
    html`<input ${attributes} type="email" value="${values.noticeEmail}" maxlength="254" autocomplete="off">`,
)}`;
}

/** What the keys of an integration with this role may do. */
export const INTEGRATION_ROLE_MEANING = { member: 'read and write', viewer: 'only read' };
