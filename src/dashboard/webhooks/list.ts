import { mayGovern } from '../../domain/people/role.ts';
import { MAX_ENDPOINTS } from '../../domain/webhooks/webhook-endpoint.ts';
import { type Html, html } from '../../html/html.ts';
import { icon, WEBHOOK_ICON } from '../../html/icons.ts';
import { listEndpoints } from '../../service/webhooks/endpoints.ts';
import type { WebhookEndpointDetails } from '../../store/webhooks/webhook-endpoints.ts';
import { endpointUrl, guideUrl, NEW_WEBHOOK_URL } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { organizationHead } from '../markup/organization-head.ts';
import { doneNotice } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { breakable, endpointState, eventTypeWords, lastDay } from './cells.ts';
import { hostOf, pathOf } from './context.ts';

/** Shows the organization's webhook endpoints. An organization has at most ten. */
export async function showWebhooks(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now, query } = context;
  const endpoints = await listEndpoints(dashboard.db, actor);
  const main = html`${organizationHead('webhooks', actor)}
${doneNotice(query.get('done') === 'deleted' ? 'The endpoint and its deliveries are deleted.' : undefined)}
${endpoints.length === 0 ? noEndpoints(context) : endpointList(context, endpoints, now)}`;
  return page(context, { title: 'Webhooks', main });
}

const ADD: Html = html`<a class="button primary" href="${NEW_WEBHOOK_URL}">${icon('create')}Add an endpoint</a>`;
const GUIDE: Html = html`<a href="${guideUrl('managing-webhooks')}">About webhooks</a>`;

function noEndpoints({ actor }: SignedInContext): Html {
  return html`<section class="card empty" aria-labelledby="webhooks">${WEBHOOK_ICON}
<h2 id="webhooks">No webhook endpoints yet</h2>
<p>With a webhook endpoint, a program of yours learns of each change of a parent program within seconds: Charter sends the change to its URL. ${GUIDE}</p>
${mayGovern(actor.role) ? html`<p>${ADD}</p>` : html`<p class="quiet">Administrators can add one.</p>`}</section>`;
}

function endpointList({ actor }: SignedInContext, endpoints: readonly WebhookEndpointDetails[], now: Date): Html {
  const mayAdd = mayGovern(actor.role) && endpoints.length < MAX_ENDPOINTS;
  return html`<section aria-labelledby="webhooks"><div class="section-head"><h2 id="webhooks">Webhook endpoints <span class="small">${endpoints.length} of ${MAX_ENDPOINTS}</span></h2>${mayAdd && ADD}</div>
<p class="quiet">Charter sends each change of a parent program to these URLs. ${GUIDE}</p>
<div class="card flush">${table({
    name: 'webhooks',
    label: 'Webhook endpoints',
    columns: ['Endpoint', 'Status', 'Events', 'Last success', 'Last failure'],
    rows: endpoints.map((endpoint) => ({ cells: cells(endpoint, now), isEnded: endpoint.disabledAt !== null })),
  })}</div></section>`;
}

function cells(endpoint: WebhookEndpointDetails, now: Date) {
  return [
    html`<a class="key-name" href="${endpointUrl(endpoint.id)}">${breakable(hostOf(endpoint))}</a><code class="prefix clamp breakable">${pathOf(endpoint)}</code>`,
    endpointState(endpoint),
    eventTypeWords(endpoint.eventTypes),
    lastDay(endpoint, 'succeeded', now),
    lastDay(endpoint, 'failed', now),
  ];
}
