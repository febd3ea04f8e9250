import { formatNumber } from '../../domain/text.ts';
import { DAY_MS } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import { type Conflict, type Done, invalid } from '../../service/outcome.ts';
import { resendFailed } from '../../service/webhooks/deliveries.ts';
import {
  changeEndpoint,
  disableEndpointByUser,
  enableEndpoint,
  getEndpoint,
  removeEndpoint,
} from '../../service/webhooks/endpoints.ts';
import type { WebhookEndpointDetails } from '../../store/webhooks/webhook-endpoints.ts';
import { MAX_RESENT } from '../../store/webhooks/webhook-history.ts';
import { NOT_A_MINUTE, parseMinute, text, withParser } from '../forms/fields.ts';
import { type Fields, type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { endpointUrl, urlOf, WEBHOOKS_URL } from '../http/addresses.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { actionForm, head } from '../markup/parts.ts';
import { conflictPage } from '../routing/errors.ts';
import { endpointIdOf, hostOf } from './context.ts';
import { CONTENT_FIELDS } from './create.ts';

// The pages that change, disable, enable and delete an endpoint.

async function readEndpoint(context: SignedInContext): Promise<WebhookEndpointDetails> {
  return getEndpoint(context.dashboard.db, context.actor, endpointIdOf(context));
}

type Confirmation = {
  readonly title: string;
  readonly content: Html;
  readonly problem?: Problem | null;
  readonly fields?: Fields;
};

function confirmationPage(
  context: SignedInContext,
  endpoint: WebhookEndpointDetails,
  { title, content, problem = null, fields = CONTENT_FIELDS }: Confirmation,
): View {
  const up = { name: hostOf(endpoint), href: endpointUrl(endpoint.id) };
  const main = html`${head({ title, up, lead: html`<span class="breakable">${endpoint.url}</span>` })}
${problemSummary(problem, fields)}
<div class="card narrow">${content}</div>`;
  return page(context, { title, main, problem });
}

export async function showChange(context: SignedInContext): Promise<View> {
  return changePage(context, null);
}

/** Returns the page with the form. `refused` is the refused form; `null` if the form is shown for the first time. */
async function changePage(context: SignedInContext, refused: Filled<typeof CONTENT_FIELDS> | null): Promise<View> {
  const endpoint = await readEndpoint(context);
  const url = endpointUrl(endpoint.id);
  const filled = refused ?? { typed: endpoint, problem: null };
  const content = actionForm(context, {
    action: endpointUrl(endpoint.id, 'change'),
    fields: html`${Object.values(fieldsOf(CONTENT_FIELDS, filled))}
<p class="quiet">Deliveries that wait go to the new URL. Its receiver needs the same secret.</p>`,
    button: 'Save',
    cancel: url,
  });
  return confirmationPage(context, endpoint, { title: 'Change the endpoint', content, problem: filled.problem });
}

export async function change(context: SignedInContext, { values, typed }: Form<typeof CONTENT_FIELDS>): Promise<View> {
  const endpointId = endpointIdOf(context);
  const { actor, dashboard } = context;
  const request = { endpointId, ...values, targets: dashboard.webhooks };
  const outcome = await changeEndpoint(dashboard.db, actor, request);
  if (outcome.kind === 'invalid') return changePage(context, { problem: problemOf(outcome), typed });
  return redirect(`${endpointUrl(endpointId)}?done=changed`);
}

export async function showDisable(context: SignedInContext): Promise<View> {
  const endpoint = await readEndpoint(context);
  const url = endpointUrl(endpoint.id);
  const content = html`<p>Charter sends nothing to a disabled endpoint. Deliveries that wait are kept, and are sent when you enable it again. Changes while it is disabled are not sent later: read them from the feed of events.</p>
${actionForm(context, { action: endpointUrl(endpoint.id, 'disable'), button: 'Disable', kind: 'danger', cancel: url })}`;
  return confirmationPage(context, endpoint, { title: 'Disable the endpoint', content });
}

export async function disable(context: SignedInContext): Promise<View> {
  const endpointId = endpointIdOf(context);
  const outcome = await disableEndpointByUser(context.dashboard.db, context.actor, { endpointId });
  return toEndpoint(context, outcome, 'disabled');
}

export async function enable(context: SignedInContext): Promise<View> {
  const endpointId = endpointIdOf(context);
  const outcome = await enableEndpoint(context.dashboard.db, context.actor, { endpointId });
  return toEndpoint(context, outcome, 'enabled');
}

/** Returns a redirect to the endpoint's page, which confirms the action, or a page that says why the action was refused. */
function toEndpoint(context: SignedInContext, outcome: Done | Conflict, done: string): View {
  const href = endpointUrl(endpointIdOf(context));
  if (outcome.kind === 'done') return redirect(`${href}?done=${done}`);
  return conflictPage(context, outcome, { name: 'See the endpoint', href });
}

export async function showDelete(context: SignedInContext): Promise<View> {
  const endpoint = await readEndpoint(context);
  const url = endpointUrl(endpoint.id);
  const content = html`<div class="notice danger"><p><strong>As soon as you press Delete, Charter sends nothing to this endpoint any more.</strong> Its deliveries, its attempts and its secret are deleted with it. This cannot be undone.</p></div>
${actionForm(context, { action: endpointUrl(endpoint.id, 'delete'), button: 'Delete', kind: 'danger', cancel: url })}`;
  return confirmationPage(context, endpoint, { title: 'Delete the endpoint', content });
}

export async function remove(context: SignedInContext): Promise<View> {
  await removeEndpoint(context.dashboard.db, context.actor, { endpointId: endpointIdOf(context) });
  return redirect(`${WEBHOOKS_URL}?done=deleted`);
}

export const RESEND_FAILED_FORM = {
  since: withParser(
    text({
      label: 'Failed since, UTC',
      hint: `The time of the event. At most ${formatNumber(MAX_RESENT)} events are sent again at once, the oldest first.`,
      type: 'datetime-local',
      attributes: html`required autocomplete="off"`,
    }),
    parseMinute,
  ),
};

export async function showResendFailed(context: SignedInContext): Promise<View> {
  return resendFailedPage(context, null);
}

/** Returns the page with the form. In an empty form (`null`), the time is one day before the endpoint began to fail. */
async function resendFailedPage(
  context: SignedInContext,
  given: Filled<typeof RESEND_FAILED_FORM> | null,
): Promise<View> {
  const endpoint = await readEndpoint(context);
  const dayBefore = new Date((endpoint.failingSince ?? context.now).getTime() - DAY_MS);
  const filled = given ?? {
    typed: { since: dayBefore.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length) },
    problem: null,
  };
  const content = actionForm(context, {
    action: endpointUrl(endpoint.id, 'resend'),
    fields: html`<p>The events whose last attempt failed are sent again at once, with the same ids. Those that would be retried later are sent, too.</p>${fieldsOf(RESEND_FAILED_FORM, filled).since}`,
    button: 'Resend all failed',
    cancel: endpointUrl(endpoint.id),
  });
  const { problem } = filled;
  return confirmationPage(context, endpoint, {
    title: 'Resend failed deliveries',
    content,
    problem,
    fields: RESEND_FAILED_FORM,
  });
}

/** Resends the events from a given time on whose last attempt failed. */
export async function resendAllFailed(
  context: SignedInContext,
  { values, typed }: Form<typeof RESEND_FAILED_FORM>,
): Promise<View> {
  const endpointId = endpointIdOf(context);
  if (!(values.since instanceof Date)) {
    const problem = problemOf(invalid('since', NOT_A_MINUTE));
    return resendFailedPage(context, { typed, problem });
  }
  const { count } = await resendFailed(context.dashboard.db, context.actor, { endpointId, since: values.since });
  return redirect(urlOf(endpointUrl(endpointId), { done: count === 0 ? 'none-resent' : 'resent' }));
}
