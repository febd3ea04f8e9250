import type { PeriodUse } from '../../domain/keys/key-usage.ts';
import { mayGovern } from '../../domain/people/role.ts';
import { formatNumber } from '../../domain/text.ts';
import { DAY_MS } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { type DeliveryListPage, listDeliveries } from '../../service/webhooks/deliveries.ts';
import { getEndpoint } from '../../service/webhooks/endpoints.ts';
import type { WebhookEndpointDetails } from '../../store/webhooks/webhook-endpoints.ts';
import { type ListedWebhookDelivery, MAX_RESENT } from '../../store/webhooks/webhook-history.ts';
import { deliveryUrl, endpointUrl, urlOf, WEBHOOKS_URL } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { chartFigure } from '../markup/chart.ts';
import { page } from '../markup/layout.ts';
import { doneNotice, facts, head, pager, postForm, tabBar } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { instant, since } from '../markup/words.ts';
import {
  breakable,
  DISABLED_WORDS,
  deliveryState,
  endpointState,
  eventName,
  eventTypeChips,
  lastDay,
  responseWords,
} from './cells.ts';
import { endpointIdOf, hostOf } from './context.ts';

/**
 * The confirmations by the value of the query parameter "done". Anybody can make a link with that parameter, so a function
 * returns `undefined` if the state of the endpoint contradicts the confirmation.
 */
const DONE = new Map<string, (endpoint: WebhookEndpointDetails) => string | undefined>([
  ['changed', () => 'The endpoint is saved.'],
  [
    'resent',
    () =>
      `Failed deliveries are sent again now, at most ${formatNumber(MAX_RESENT)} at once. Refresh shows their results.`,
  ],
  ['none-resent', () => 'No delivery since then has failed.'],
  [
    'disabled',
    ({ disabledAt }) => (disabledAt === null ? undefined : 'The endpoint is disabled. Deliveries that wait are kept.'),
  ],
  [
    'enabled',
    ({ disabledAt }) =>
      disabledAt === null
        ? 'The endpoint is enabled. Deliveries that are due are sent now, the others at their next attempt.'
        : undefined,
  ],
]);

export async function showWebhook(context: SignedInContext): Promise<View> {
  const { actor, dashboard, query } = context;
  const isFailed = query.get('state') === 'failed';
  const [after, before] = [query.get('after'), query.get('before')];
  const endpointId = endpointIdOf(context);
  const endpoint = await getEndpoint(dashboard.db, actor, endpointId);
  const deliveries = await listDeliveries(dashboard.db, actor, { endpointId, isFailed, after, before });
  const main = html`${head({
    title: breakable(hostOf(endpoint)),
    up: { name: 'Webhooks', href: WEBHOOKS_URL },
    lead: html`<span class="breakable">${endpoint.url}</span>`,
    action: mayGovern(actor.role) && actions(context, endpoint),
  })}
${doneNotice(DONE.get(query.get('done') ?? '')?.(endpoint))}
${endpoint.disabledReason !== null && endpoint.disabledReason !== 'user' && repairNotice(endpoint.disabledReason)}
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>${about(endpoint, context.now)}</section>
${attemptSection(endpoint, context.now)}
${deliverySection(context, { endpoint, deliveries, isFailed, isFirst: after === null && before === null })}`;
  return page(context, { title: `${hostOf(endpoint)}, webhook endpoint`, main });
}

function actions({ formToken }: SignedInContext, { id, disabledAt }: WebhookEndpointDetails): Html {
  const turn =
    disabledAt === null
      ? html`<a class="button" href="${endpointUrl(id, 'disable')}">${icon('revoke')}Disable</a>`
      : postForm(
          { action: endpointUrl(id, 'enable'), formToken },
          html`<button class="button primary">Enable</button>`,
        );
  return html`<div class="actions">${turn}<a class="button" href="${endpointUrl(id, 'change')}">${icon('rename')}Change</a><a class="button" href="${endpointUrl(id, 'rotate')}">${icon('rotate')}Rotate secret</a><a class="button danger-plain" href="${endpointUrl(id, 'delete')}">Delete</a></div>`;
}

function repairNotice(reason: 'gone' | 'failing'): Html {
  return html`<div class="notice warn"><p><strong>${DISABLED_WORDS[reason]}, so Charter has disabled the endpoint.</strong> Repair the receiver, then enable the endpoint. For changes while it was disabled, read the feed of events.</p></div>`;
}

function about(endpoint: WebhookEndpointDetails, now: Date): Html {
  const { eventTypes, createdAt, createdBy, previousSecretUntil } = endpoint;
  return facts([
    { name: 'Status', value: endpointState(endpoint) },
    { name: 'Events', value: eventTypeChips(eventTypes) },
    { name: 'Last success', value: lastDay(endpoint, 'succeeded', now) },
    { name: 'Last failure', value: lastDay(endpoint, 'failed', now) },
    {
      name: 'Added',
      value: html`${instant(createdAt)}<span class="under">by ${createdBy ?? 'an operator'}</span>`,
    },
    {
      name: 'Secret',
      value:
        previousSecretUntil !== null && previousSecretUntil > now
          ? html`Rotated<span class="under">The previous one also signs until ${instant(previousSecretUntil)}</span>`
          : 'Shown once, when it was made',
    },
  ]);
}

const SHOWN_DAYS = 7;

function attemptSection({ days }: WebhookEndpointDetails, now: Date): Html {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const byStart = new Map(days.map((day) => [day.startsAt.getTime(), day]));
  const uses = Array.from({ length: SHOWN_DAYS }, (_, i): PeriodUse => {
    const start = today - (SHOWN_DAYS - 1 - i) * DAY_MS;
    const { succeeded = 0, failed = 0 } = byStart.get(start) ?? {};
    return { startsAt: new Date(start), successful: succeeded, refused: 0, failed };
  });
  return html`<section class="card" aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>
<p class="quiet">An attempt is successful if the receiver responds with 2xx within 15 seconds. Days are in UTC.</p>
<div class="use">${chartFigure({ period: 'day', title: `Last ${SHOWN_DAYS} days`, counted: 'Attempts', outcomes: ['successful', 'failed'], uses })}</div></section>`;
}

type Deliveries = {
  readonly endpoint: WebhookEndpointDetails;
  readonly deliveries: DeliveryListPage;
  /** Whether the list contains only deliveries without a further attempt. */
  readonly isFailed: boolean;
  readonly isFirst: boolean;
};

function deliverySection(
  { actor, formToken, now }: SignedInContext,
  { endpoint, deliveries: { deliveries, previous, next }, isFailed, isFirst }: Deliveries,
): Html {
  const url = endpointUrl(endpoint.id);
  const state = isFailed ? 'failed' : null;
  const resend =
    mayGovern(actor.role) &&
    html`<a class="button" href="${endpointUrl(endpoint.id, 'resend')}">${icon('rotate')}Resend all failed</a>`;
  const test =
    !isFailed &&
    mayGovern(actor.role) &&
    postForm(
      { action: endpointUrl(endpoint.id, 'test'), formToken },
      html`<button class="button">Send a test event</button>`,
    );
  const none = isFailed
    ? 'No delivery has failed for good. Deliveries that will be retried are under All.'
    : isFirst
      ? 'Nothing was sent yet. Charter sends an event at the next change of a parent program, or when an administrator sends a test event.'
      : 'There are no more deliveries.';
  return html`<section aria-labelledby="deliveries"><div class="section-head"><h2 id="deliveries">Deliveries</h2><div class="actions"><a class="button" href="${urlOf(url, { state })}#deliveries">Refresh</a>${resend}${test}</div></div>
${tabBar({
  label: 'Status',
  tabs: [
    { name: 'All', href: `${url}#deliveries`, isCurrent: !isFailed },
    { name: 'Failed', href: `${urlOf(url, { state: 'failed' })}#deliveries`, isCurrent: isFailed },
  ],
})}
${
  deliveries.length === 0
    ? html`<p class="quiet">${none}</p>`
    : html`<div class="card flush">${table({
        name: 'deliveries',
        label: 'Deliveries, the latest first',
        columns: ['Event', 'Status', 'Attempts', 'Last attempt', 'Response'],
        rows: deliveries.map((delivery) => ({ cells: cells(delivery, endpoint, now) })),
      })}</div>`
}
${pager({ isFirst, previous, next, urlAt: (position) => `${urlOf(url, { state, ...position })}#deliveries` })}</section>`;
}

function cells(delivery: ListedWebhookDelivery, endpoint: WebhookEndpointDetails, now: Date) {
  const { messageId, createdAt, attempts, lastAt, lastNumber, lastStatus, lastError } = delivery;
  const isDisabled = endpoint.disabledAt !== null;
  return [
    html`<a class="key-name" href="${deliveryUrl(endpoint.id, messageId)}">${breakable(eventName(delivery))}</a><span class="under">${instant(createdAt)}</span>`,
    deliveryState({ ...delivery, isDisabled }, now),
    attempts,
    lastAt === null ? '—' : since(lastAt, now),
    lastNumber === null ? '—' : responseWords({ status: lastStatus, error: lastError ?? '' }),
  ];
}
