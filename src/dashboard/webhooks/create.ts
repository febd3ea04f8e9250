import {
  EVENT_TYPES,
  type EventType,
  MAX_ENDPOINTS,
  MAX_URL_CHARACTERS,
} from '../../domain/webhooks/webhook-endpoint.ts';
import { type Html, html } from '../../html/html.ts';
import { createWebhookEndpoint } from '../../service/webhooks/endpoints.ts';
import { listWebhooks } from '../../service/webhooks/webhooks.ts';
import { NEW_WEBHOOK_URL, WEBHOOKS_URL } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { environmentBadge, field, fieldError, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { eventTypeChip } from './cells.ts';
import { secretPage } from './secret.ts';

export async function showNewWebhook(context: SignedInContext): Promise<View> {
  return newWebhookPage(context, { problem: null, values: { url: '', eventTypes: EVENT_TYPES } });
}

export async function createWebhook(
  context: SignedInContext,
  form: Form<'url' | 'form_id' | 'event_types'>,
): Promise<View> {
  const { dashboard, actor } = context;
  const formId = readFormId(context, form.text('form_id'));
  const values = { url: form.text('url'), eventTypes: form.all('event_types') };
  const outcome = await createWebhookEndpoint(dashboard.db, actor, { ...values, formId, targets: dashboard.webhooks });
  switch (outcome.kind) {
    case 'issued':
      return secretPage(context, outcome);
    case 'invalid':
    case 'conflict':
      return newWebhookPage(context, { problem: problemOf(outcome), values });
    case 'already-sent':
      return alreadySentPage(context, 'webhook-endpoint', { name: 'See the webhooks', href: WEBHOOKS_URL });
  }
}

type Props = { readonly problem: Problem | null; readonly values: ContentValues };

async function newWebhookPage(context: SignedInContext, { problem, values }: Props): Promise<View> {
  const { actor, dashboard, formToken } = context;
  const { length: count } = await listWebhooks(dashboard.db, actor);
  const title = 'Add a webhook endpoint';
  const main = html`${head({ title, up: { name: 'Webhooks', href: WEBHOOKS_URL }, lead: 'You see the secret for its signatures once, on the next page.' })}
${problemSummary(problem, CONTENT_LABELS)}
${
  count >= MAX_ENDPOINTS
    ? html`<div class="notice warn"><p><strong>${count} of ${MAX_ENDPOINTS} endpoints: no more can be added.</strong> <a href="${WEBHOOKS_URL}">Delete one</a> that is not needed any more first.</p></div>`
    : html`<p class="quiet">${count} of ${MAX_ENDPOINTS} endpoints</p>`
}
<div class="card narrow">${postForm(
    { action: NEW_WEBHOOK_URL, formToken },
    html`${hidden('form_id', newFormId(context))}
<p>${environmentBadge(dashboard.environment)} The endpoint receives the events of this environment only.</p>
${contentFields(values, problem)}
<div class="actions"><button class="button primary">Add the endpoint</button><a class="button plain" href="${WEBHOOKS_URL}">Cancel</a></div>`,
  )}</div>`;
  return page(context, { title, main, problem });
}

export const CONTENT_LABELS = { url: 'URL', event_types: 'Events' };

/** The values of the fields. */
export type ContentValues = { readonly url: string; readonly eventTypes: readonly string[] };

export function contentFields({ url, eventTypes }: ContentValues, problem: Problem | null): Html {
  const errors = problem?.fields ?? {};
  return html`${field(
    {
      name: 'url',
      label: CONTENT_LABELS.url,
      hint: 'Where your program receives events, such as https://example.org/webhooks. The internet must be able to reach it.',
      errors,
    },
    (attributes) =>
      html`<input ${attributes} type="url" value="${url}" maxlength="${MAX_URL_CHARACTERS}" required autocomplete="off" spellcheck="false">`,
  )}
<fieldset class="field" id="event_types" tabindex="-1"><legend>${CONTENT_LABELS.event_types}</legend>
${fieldError('event_types', CONTENT_LABELS.event_types, errors['event_types'] ?? [])}
${EVENT_TYPES.map(
  (type) =>
    html`<label class="choice"><input type="checkbox" name="event_types" value="${type}"${eventTypes.includes(type) && html` checked`}>
<span>${eventTypeChip(type)}<span class="hint">${meaningOf(type)}</span></span></label>`,
)}</fieldset>`;
}

/** "A parent program was changed." for "parent_program.updated". */
function meaningOf(type: EventType): string {
  const [resource = '', change] = type.split('.');
  const noun = resource.replaceAll('_', ' ');
  return `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun} was ${change === 'updated' ? 'changed' : change}.`;
}
