import { STATUS_CODES } from 'node:http';
import { formatCount } from '../../domain/text.ts';
import { formatDay } from '../../domain/time.ts';
import { type DisabledReason, MAX_FAILING_DAYS, TEST_EVENT_TYPE } from '../../domain/webhooks/webhook-endpoint.ts';
import { type Html, html } from '../../html/html.ts';
import { MAX_COUNTED_DELIVERIES, type WebhookEndpointDetails } from '../../store/webhooks/webhook-endpoints.ts';
import type { ListedWebhookDelivery, WebhookDelivery } from '../../store/webhooks/webhook-history.ts';
import { badge } from '../markup/parts.ts';
import { boundedCount, exactInstant, instant } from '../markup/words.ts';

// Parts that the list of endpoints shares with an endpoint's own pages.

export const DISABLED_WORDS: Record<DisabledReason, string> = {
  user: 'By an administrator',
  gone: 'Its receiver responded with 410 Gone',
  failing: `Every attempt of ${MAX_FAILING_DAYS} days failed`,
};

export function endpointState({ disabledAt, disabledReason, failingSince, pending }: WebhookEndpointDetails): Html {
  const waiting =
    pending > 0 &&
    html`<span class="under">${boundedCount(pending, MAX_COUNTED_DELIVERIES)} ${pending === 1 ? 'delivery waits' : 'deliveries wait'}</span>`;
  if (disabledAt !== null && disabledReason !== null) {
    const kind = disabledReason === 'user' ? 'neutral' : 'danger';
    return html`${badge(kind, 'Disabled')}<span class="under">${DISABLED_WORDS[disabledReason]}</span><span class="under">${instant(disabledAt)}</span>${waiting}`;
  }
  if (failingSince !== null)
    return html`${badge('warn', 'Failing')}<span class="under">Since ${instant(failingSince)}</span>${waiting}`;
  return html`${badge('good', 'Enabled')}${waiting}`;
}

/** Returns the last day with an attempt that had this outcome. The counts of each day are kept for 30 days. */
export function lastDay(
  { days }: Pick<WebhookEndpointDetails, 'days'>,
  outcome: 'succeeded' | 'failed',
  now: Date,
): Html {
  const last = days.findLast((day) => day[outcome] > 0);
  if (last === undefined) return html`<span class="quiet">None in 30 days</span>`;
  const date = last.startsAt.toISOString().slice(0, 10);
  const isToday = date === now.toISOString().slice(0, 10);
  return html`<time datetime="${date}">${isToday ? 'Today' : formatDay(last.startsAt)}</time>`;
}

export function eventTypeChips(types: readonly string[]): Html {
  return html`<span class="chips">${types.map((type) => html`${eventTypeChip(type)} `)}</span>`;
}

export function eventTypeChip(type: string): Html {
  return html`<code>${breakable(type)}</code>`;
}

/** Returns the event types in a short form for lists, such as "parent_program created, deleted". */
export function eventTypeWords(types: readonly string[]): Html {
  const changes = Map.groupBy(types, (type) => type.split('.')[0] ?? '');
  return html`<span class="chips">${[...changes].map(
    ([resource, all]) =>
      html`<code>${resource}</code> <span>${all.map((type) => type.slice(resource.length + 1)).join(', ')}</span> `,
  )}</span>`;
}

/** Returns a host or an event type as markup. The line may break after each dot. */
export function breakable(text: string): Html {
  const [first = '', ...others] = text.split('.');
  return html`${first}${others.map((part) => html`.<wbr>${part}`)}`;
}

/** Returns words such as "in 12 seconds" or "in 3 hours". */
function waitWords(at: Date, now: Date): string {
  const seconds = Math.max(1, Math.round((at.getTime() - now.getTime()) / 1000));
  if (seconds < 2 * 60) return `in ${formatCount(seconds, 'second')}`;
  if (seconds < 2 * 3600) return `in ${formatCount(Math.round(seconds / 60), 'minute')}`;
  return `in ${formatCount(Math.round(seconds / 3600), 'hour')}`;
}

export function eventName({ isTest, eventType }: Pick<WebhookDelivery, 'isTest' | 'eventType'>): string {
  if (isTest) return TEST_EVENT_TYPE;
  return eventType ?? 'Event no longer kept';
}

type State = Pick<WebhookDelivery, 'state' | 'attempts' | 'nextAttemptAt'> & {
  readonly lastNumber: ListedWebhookDelivery['lastNumber'];
  readonly isDisabled: boolean;
};

export function deliveryState(delivery: State, now: Date): Html {
  const { state, attempts, nextAttemptAt, isDisabled } = delivery;
  if (state === 'succeeded') return badge('good', 'Delivered');
  if (state === 'failed') return html`${badge('danger', 'Failed')}<span class="under">No further attempt</span>`;
  const isDue = nextAttemptAt === null || nextAttemptAt <= now;
  if (isBeingSent(delivery, now)) return badge('neutral', 'Being sent');
  if (isDisabled) return html`${badge('neutral', 'Waiting')}<span class="under">Until the endpoint is enabled</span>`;
  if (attempts === 0) return badge('neutral', 'Waiting');
  return html`${badge('warn', 'Retrying')}<span class="under">Next attempt: ${isDue ? 'now' : waitWords(nextAttemptAt, now)}</span>${!isDue && html`<span class="under">${exactInstant(nextAttemptAt)}</span>`}`;
}

/**
 * Returns whether an attempt is in progress. An attempt whose process was killed has no result. It counts as in progress until
 * its lease has expired.
 */
function isBeingSent({ attempts, nextAttemptAt, lastNumber }: State, now: Date): boolean {
  return attempts > (lastNumber ?? 0) && nextAttemptAt !== null && nextAttemptAt > now;
}

/** Returns whether the result of an attempt can be expected within seconds. */
export function isUnderWay(delivery: State, now: Date): boolean {
  const { state, nextAttemptAt, isDisabled } = delivery;
  if (state !== 'pending') return false;
  const isDue = nextAttemptAt === null || nextAttemptAt <= now;
  return isBeingSent(delivery, now) || (isDue && !isDisabled);
}

/** Returns the status of the response, such as "204 No Content", or why there was no response. */
export function responseWords({ status, error }: { readonly status: number | null; readonly error: string }): Html {
  if (status === null) return html`<span class="breakable">${error}</span>`;
  return html`<span class="strong">${status}</span> ${STATUS_CODES[status]}`;
}
