import { mayGovern } from '../../domain/people/role.ts';
import { parseJson } from '../../domain/resources/json.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { MAX_RECEIVER_BODY_BYTES } from '../../domain/webhooks/webhook-endpoint.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { type DeliveryDetails, getDelivery, resendDelivery, sendTestEvent } from '../../service/webhooks/deliveries.ts';
import { MAX_READ_ATTEMPTS, type WebhookAttempt } from '../../store/webhooks/webhook-history.ts';
import { deliveryUrl, endpointUrl } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { doneNotice, facts, head, postForm } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { exactInstant, instant } from '../markup/words.ts';
import { conflictPage } from '../routing/errors.ts';
import { breakable, deliveryState, eventName, isUnderWay, responseWords } from './cells.ts';
import { endpointIdOf, hostOf, messageIdOf } from './context.ts';

/** The confirmations of actions, by the value of the query parameter "done". */
const DONE = new Map([
  ['resent', 'The event is sent again.'],
  ['test', 'The test event is on its way.'],
]);

export async function showDelivery(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken, query, now } = context;
  const ids = { endpointId: endpointIdOf(context), messageId: messageIdOf(context) };
  const delivery = await getDelivery(dashboard.db, actor, ids);
  const resend =
    mayGovern(actor.role) &&
    postForm(
      { action: deliveryUrl(ids.endpointId, ids.messageId, 'resend'), formToken },
      html`<button class="button">${icon('rotate')}Resend</button>`,
    );
  const title = eventName(delivery);
  const main = html`${head({
    title: breakable(title),
    up: { name: hostOf(delivery), href: `${endpointUrl(ids.endpointId)}#deliveries` },
    lead: html`<span class="breakable">${delivery.url}</span>`,
    action: resend,
  })}
<div data-live="notice">${isUnderWay(stateOf(delivery), now) && notice(query.get('done') ?? '')}</div>
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>${about(delivery, now)}</section>
<section data-live="attempts" aria-labelledby="attempts">${attemptSection(delivery)}</section>
<section data-live="sent" class="card" aria-labelledby="sent">${sentSection(delivery)}</section>`;
  return page(context, { title: `${title}, webhook delivery`, main });
}

/** Returns the confirmation of an action. The page shows it until the attempt has ended and its result is shown. */
function notice(done: string): Html | false {
  const words = DONE.get(done);
  if (words === undefined) return false;
  return doneNotice(
    html`${words} This page shows the result as soon as it is there.<noscript> Reload it to see whether it is.</noscript>`,
  );
}

function stateOf(delivery: DeliveryDetails) {
  return { ...delivery, lastNumber: delivery.log[0]?.number ?? null };
}

function about(delivery: DeliveryDetails, now: Date): Html {
  const { messageId, attempts, createdAt } = delivery;
  const state = stateOf(delivery);
  return facts([
    {
      name: 'Status',
      value: html`<span data-live="status" role="status">${deliveryState(state, now)}${isUnderWay(state, now) && html`<span data-refresh></span>`}</span>`,
    },
    { name: 'Attempts', value: html`<span data-live="count">${attempts}</span>` },
    { name: 'Created', value: instant(createdAt) },
    { name: 'Event id', value: html`<code>${messageId}</code>` },
  ]);
}

function attemptSection({ log, attempts }: DeliveryDetails): Html {
  const isCut = attempts > MAX_READ_ATTEMPTS;
  return html`<h2 id="attempts">Attempts</h2>
${isCut && html`<p class="quiet">The latest ${MAX_READ_ATTEMPTS} of ${formatNumber(attempts)} are shown.</p>`}
${
  log.length === 0
    ? html`<p class="quiet">No attempt has ended yet.</p>`
    : html`<div class="card flush">${table({
        name: 'attempts',
        label: `${formatCount(log.length, 'attempt')}, the latest first`,
        columns: ['Attempt', 'Time', 'Duration', 'Response'],
        rows: log.map((attempt) => ({ cells: cells(attempt) })),
      })}</div>`
}`;
}

function cells(attempt: WebhookAttempt) {
  return [
    html`<span class="strong">${attempt.number}</span>`,
    exactInstant(attempt.at),
    `${formatNumber(attempt.durationMs)} ms`,
    html`${responseWords(attempt)}${responseBody(attempt)}`,
  ];
}

/** Returns the body of the receiver's response; `false` if there was no response or the actor may not see it. */
function responseBody({ responseBody: body, status, number }: WebhookAttempt): Html | false {
  if (body === null || status === null) return false;
  if (body.length === 0) return html`<span class="under">Without a body</span>`;
  return html`<details class="more"><summary>Body<span class="unseen"> of the response to attempt ${number}</span></summary><pre class="text">${shownText(body)}</pre>${body.length === MAX_RECEIVER_BODY_BYTES && html`<p class="small quiet">The first ${formatNumber(MAX_RECEIVER_BODY_BYTES)} bytes.</p>`}</details>`;
}

/**
 * Returns the bytes as text. Leaves out an incomplete character at the end. Replaces control and format characters, which could
 * change how the page is displayed.
 */
function shownText(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes, { stream: true });
  return text.replaceAll('\r\n', '\n').replaceAll(/(?![\n\t])\p{C}/gu, '\ufffd');
}

function sentSection({ body, messageId, log }: DeliveryDetails): Html {
  const timestamp = log[0] === undefined ? 'the time of the attempt' : Math.floor(log[0].at.getTime() / 1000);
  return html`<h2 id="sent">What was sent</h2>
<h3>Headers</h3>
<pre class="text">content-type: application/json
webhook-id: ${messageId}
webhook-timestamp: ${timestamp}
webhook-signature: v1,…
user-agent: Charter/…</pre>
<p class="quiet small">The timestamp is that of the latest attempt, in seconds since 1970. Charter computes the signature for each attempt and does not keep it.</p>
<h3>Body</h3>
${
  body === null
    ? html`<p class="quiet">The event is no longer kept.</p>`
    : html`<pre class="text">${JSON.stringify(parseJson(body), null, 2)}</pre>
<p class="quiet small">Shown with line breaks; it was sent without them.</p>`
}`;
}

export async function resend(context: SignedInContext): Promise<View> {
  const ids = { endpointId: endpointIdOf(context), messageId: messageIdOf(context) };
  const outcome = await resendDelivery(context.dashboard.db, context.actor, ids);
  const href = deliveryUrl(ids.endpointId, ids.messageId);
  if (outcome.kind === 'conflict') return conflictPage(context, outcome, { name: 'See the delivery', href });
  return redirect(`${href}?done=resent`);
}

export async function sendTest(context: SignedInContext): Promise<View> {
  const endpointId = endpointIdOf(context);
  const outcome = await sendTestEvent(context.dashboard.db, context.actor, { endpointId });
  if (outcome.kind === 'conflict')
    return conflictPage(context, outcome, { name: 'See the endpoint', href: endpointUrl(endpointId) });
  return redirect(`${deliveryUrl(endpointId, outcome.messageId)}?done=test`);
}
