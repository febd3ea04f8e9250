import { EVENT_TYPES, type EventType } from '../../domain/resources/events.ts';
import { MAX_ENDPOINTS, MAX_URL_CHARACTERS } from '../../domain/webhooks/webhook-endpoint.ts';
import { html } from '../../html/html.ts';
import { createEndpoint, listEndpoints } from '../../service/webhooks/endpoints.ts';
import { boxes, formId, text } from '../forms/fields.ts';
import { type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { alreadySentPage } from '../forms/one-time-form.ts';
import { NEW_WEBHOOK_URL, WEBHOOKS_URL } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { actionForm, environmentBadge, head } from '../markup/parts.ts';
import { eventTypeChip } from './cells.ts';
import { secretPage } from './secret.ts';

/** The fields of both forms: the form that creates an endpoint and the form that changes one. */
export const CONTENT_FIELDS = {
  url: text({
    label: 'URL',
    hint: 'Where your program receives events, such as https://example.org/webhooks. Charter must be able to reach it over the internet, unless an operator allows other networks.',
    type: 'url',
    attributes: html`maxlength="${MAX_URL_CHARACTERS}" required autocomplete="off" spellcheck="false"`,
    hasFocus: true,
  }),
  eventTypes: boxes({
    label: 'Events',
    options: EVENT_TYPES.map((type) => ({ value: type, words: eventTypeChip(type), hint: meaningOf(type) })),
  }),
};

export const CREATE_FORM = { formId: formId(), ...CONTENT_FIELDS };

export async function showNewWebhook(context: SignedInContext): Promise<View> {
  return newWebhookPage(context, { problem: null, typed: { url: '', eventTypes: EVENT_TYPES } });
}

export async function createWebhook(
  context: SignedInContext,
  { values, typed }: Form<typeof CREATE_FORM>,
): Promise<View> {
  const { dashboard, actor } = context;
  const outcome = await createEndpoint(dashboard.db, actor, { ...values, targets: dashboard.webhooks });
  switch (outcome.kind) {
    case 'issued':
      return secretPage(context, outcome);
    case 'invalid':
    case 'conflict':
      return newWebhookPage(context, { problem: problemOf(outcome), typed });
    case 'already-sent':
      return alreadySentPage(context, 'webhook-endpoint', { name: 'See the webhooks', href: WEBHOOKS_URL });
  }
}

async function newWebhookPage(context: SignedInContext, filled: Filled<typeof CREATE_FORM>): Promise<View> {
  const { actor, dashboard } = context;
  const { problem } = filled;
  const { length: count } = await listEndpoints(dashboard.db, actor);
  const title = 'Add a webhook endpoint';
  const main = html`${head({ title, up: { name: 'Webhooks', href: WEBHOOKS_URL }, lead: 'You see the secret for its signatures once, on the next page.' })}
${problemSummary(problem, CREATE_FORM)}
${
  count >= MAX_ENDPOINTS
    ? html`<div class="notice warn"><p><strong>${count} of ${MAX_ENDPOINTS} endpoints: no more can be added.</strong> <a href="${WEBHOOKS_URL}">Delete one</a> that is not needed any more first.</p></div>`
    : html`<p class="quiet">${count} of ${MAX_ENDPOINTS} endpoints</p>`
}
<div class="card narrow">${actionForm(context, {
    action: NEW_WEBHOOK_URL,
    fields: html`<p>${environmentBadge(dashboard.environment)} The endpoint receives the events of this environment only.</p>
${Object.values(fieldsOf(CREATE_FORM, filled, { context }))}`,
    button: 'Add the endpoint',
    cancel: WEBHOOKS_URL,
  })}</div>`;
  return page(context, { title, main, problem });
}

/** Returns the meaning of an event type, such as "A parent program was changed." for "parent_program.updated". */
function meaningOf(type: EventType): string {
  const [resource = '', change] = type.split('.');
  const noun = resource.replaceAll('_', ' ');
  return `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun} was ${change === 'updated' ? 'changed' : change}.`;
}
