import type { Holder, KeyState } from '../../domain/keys/api-key.ts';
import { type KeyUsage, requestsOf, SHOWN_PERIODS } from '../../domain/keys/key-usage.ts';
import { limitsOf, lowerLimit } from '../../domain/keys/request-limits.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { daysUntil } from '../../domain/time.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { mayHaveUnwrittenUse } from '../../traffic/last-used.ts';
import { type KeyUrls, keysUrlOf, keyUrl, refusedRequestsUrl } from '../http/addresses.ts';
import { badge, emailText } from '../markup/parts.ts';
import { day, instant, permissionWords, ROLE_WORDS, since } from '../markup/words.ts';
import type { KeyContext } from './context.ts';

// Parts that the lists of keys share with a key's own page.

/** Returns the name of the key, as a link to the key's own page, and the prefix of the key. */
export function keyCell(key: Pick<KeyDetails, 'id' | 'name' | 'prefix'>, urls: KeyUrls): Html {
  return html`<a href="${keyUrl(key, urls)}" class="key-name">${key.name}</a><code class="prefix">${key.prefix}…</code>`;
}

export function createdCell({ createdAt, createdBy }: Pick<KeyDetails, 'createdAt' | 'createdBy'>): Html {
  return html`${day(createdAt)}<span class="under clamp">by ${createdBy ?? 'an operator'}</span>`;
}

/** Returns the fact that names the holder of a key. `linked` replaces the holder's plain name, for example with a link. */
export function holderFact(
  { isOwn }: Pick<KeyContext, 'isOwn'>,
  { name, email, role }: KeyAccess['holder'],
  linked: HtmlValue = name,
): { name: string; value: HtmlValue } {
  const who = isOwn ? `You, ${name}` : linked;
  const what = email === null ? 'Integration' : emailText(email);
  return { name: 'Acts for', value: html`${who}<span class="under">${what} · ${ROLE_WORDS[role].name}</span>` };
}

export function holderCell(holder: Holder): Html {
  const { name, email } = holder;
  return html`<a class="clamp" href="${keysUrlOf(holder)}">${name}</a><span class="under">${email === null ? 'Integration' : emailText(email)}</span>`;
}

/** Returns the item for a key in the list of keys that an action will end. */
export function keyLine(key: KeyDetails, listUrl: string, now: Date): Html {
  return html`<li><a href="${keyUrl(key, { listUrl, back: null })}">${key.name}</a> <code class="prefix">${key.prefix}…</code><span class="under">Last used: ${lastUse(key, now)}</span></li>`;
}

const ENDED = { expired: 'Expired', rotated: 'Rotated', revoked: 'Revoked' };

/**
 * Returns the state of a key and when it ended or will end. `urls` are the URLs of the key's pages; `null` if the reader may not
 * open them.
 */
export function stateCell(key: KeyDetails, now: Date, urls: KeyUrls | null): Html {
  const { state, endedAt, expiresAt } = key;
  if (endedAt === null) {
    const end = expiresAt === null ? 'Never expires' : html`Expires ${day(expiresAt)}`;
    return html`${stateBadges(key, now)}<span class="under">${end}</span>`;
  }
  return html`${stateBadges(key, now)}${state !== 'expired' && html` <span class="small">${enderWords(key)}</span>`}<span class="under">${instant(endedAt)}</span>${refusals(key, urls)}`;
}

/** Returns the state of a key without times, which the key's own page shows elsewhere. */
export function stateWords(key: KeyDetails, context: KeyContext): Html {
  return html`${stateBadges(key, context.now)}${refusals(key, context)}`;
}

function stateBadges({ state, expiresAt, isExpiringSoon, isSuspended }: KeyDetails, now: Date): Html {
  if (state !== 'active') return badge('neutral', ENDED[state]);
  return html`${isSuspended ? badge('neutral', 'Suspended') : badge('good', 'Active')}${isExpiringSoon && expiresAt !== null && html` ${badge('warn', soonWords(expiresAt, now))}`}`;
}

function soonWords(expiresAt: Date, now: Date): string {
  const days = daysUntil(expiresAt, now);
  return days === 0 ? 'Expires today' : `${formatCount(days, 'day')} left`;
}

function refusals(key: KeyDetails, urls: KeyUrls | null): Html | false {
  const { refusedUses } = key;
  if (refusedUses === 0) return false;
  const words = `Refused ${formatNumber(refusedUses)} ${refusedUses === 1 ? 'time' : 'times'} since`;
  return html`<span class="under warn-text">${urls === null ? words : html`<a href="${refusedRequestsUrl(key, urls)}">${words}</a>`}</span>`;
}

/** Returns how a key ended, such as "was revoked by Mei Tanaka, 20 Sep 2026, 14:05 UTC". */
export function endWords(key: KeyDetails): Html {
  const { state, endedAt } = key;
  const why = key.isLeaked || key.isUnused ? `because it was ${enderWords(key)}` : enderWords(key);
  return html`${state === 'expired' ? 'has' : 'was'} ${state}${state !== 'expired' && html` ${why}`}${endedAt !== null && html`, ${instant(endedAt)}`}`;
}

/** Returns who ended the key, such as "by Mei Tanaka", or why the key was ended. */
function enderWords({ endedBy, isLeaked, isUnused }: KeyDetails): string {
  if (isLeaked) return 'reported as leaked';
  if (isUnused) return 'not used';
  return `by ${endedBy ?? 'an operator'}`;
}

const EXPIRY_NAMES: Record<KeyState, string> = {
  active: 'Expires',
  expired: 'Expired',
  rotated: 'Would have expired',
  revoked: 'Would have expired',
};

export function expiryFact({ state, expiresAt }: KeyDetails): { name: string; value: HtmlValue } {
  return { name: EXPIRY_NAMES[state], value: expiresAt === null ? 'Never' : instant(expiresAt) };
}

export function permissionsCell(key: Pick<KeyDetails, 'permissions' | 'beyondRole'>): Html {
  return html`${permissionWords(key.permissions)}${beyondRoleWords(key)}`;
}

/** Returns a warning if the key has permissions that the holder's role does not allow, otherwise `false`. */
export function beyondRoleWords({ beyondRole }: Pick<KeyDetails, 'beyondRole'>): Html | false {
  return (
    beyondRole.length > 0 && html`<span class="under warn-text">The role does not allow ${beyondRole.join(', ')}</span>`
  );
}

const FEW_ADDRESSES = 4;

/**
 * Returns the allowed addresses of a key. `lacksList` is true if the key has no list of addresses although the organization now
 * requires one.
 */
export function addressesFact(
  { addresses }: Pick<KeyDetails, 'addresses'>,
  { lacksList }: { readonly lacksList: boolean },
): { name: string; value: HtmlValue } {
  const list = html`<ul class="networks">${addresses.map((network) => html`<li><code>${network}</code></li>`)}</ul>`;
  const value =
    addresses.length === 0
      ? html`Any${lacksList && html`<span class="under warn-text">${NO_ADDRESSES}</span>`}`
      : addresses.length <= FEW_ADDRESSES
        ? list
        : html`<details class="more"><summary>${addresses.length} addresses and subnets</summary>${list}</details>`;
  return { name: 'Allowed addresses', value };
}

/** The warning about a key without a list of addresses, in an organization that requires such lists. */
export const NO_ADDRESSES = 'May write from any address';

type LimitProps = {
  readonly key: Pick<KeyDetails, 'id' | 'requestsPerSecond'>;
  readonly limits: KeyAccess['limits'];
  /** How much the key has been used; `null` if the key was just created. */
  readonly usage: KeyUsage | null;
};

/**
 * Returns the fact about the key's rate limit: the limit, the share of it that the busiest hour used, and the number of requests
 * that it refused.
 */
export function limitFact(
  context: Pick<KeyContext, 'dashboard' | 'listUrl' | 'back'>,
  { key, limits, usage }: LimitProps,
): { name: string; value: HtmlValue } {
  const { requestsPerSecond } = key;
  const { perKey } = limitsOf(limits, context.dashboard.requestLimits);
  const limit = requestsPerSecond === null ? perKey : lowerLimit(perKey, requestsPerSecond);
  const words = limit === 0 ? 'None' : `${formatNumber(limit)} ${limit === 1 ? 'request' : 'requests'} per second`;
  const whose = limit === 0 ? '' : limit === perKey ? 'As each key of the organization. ' : 'A limit of its own. ';
  const use = usage === null ? '' : usageWords(usage, limit);
  return {
    name: 'Rate limit',
    value: html`${words}<span class="under">${whose}${use}</span>${usage !== null && limitedWords(usage, refusedRequestsUrl(key, context, 'limited'))}`,
  };
}

function limitedWords(usage: KeyUsage, url: string): Html | false {
  const limited = usage.hour.reduce((total, each) => total + each.limited, 0);
  return (
    limited > 0 &&
    html`<span class="under warn-text">Refused with 429 in these hours: <a href="${url}">${formatNumber(limited)} ${limited === 1 ? 'request' : 'requests'}</a></span>`
  );
}

function usageWords(usage: KeyUsage, limit: number): string {
  const most = Math.max(...usage.hour.map(requestsOf));
  const share = limit === 0 || most === 0 ? '' : ` (${percentage(most, limit * HOUR_SECONDS)} of the limit)`;
  return `Most in an hour of the last ${SHOWN_PERIODS.hour}: ${formatNumber(most)} ${most === 1 ? 'request' : 'requests'}${share}`;
}

const HOUR_SECONDS = 3600;

function percentage(part: number, whole: number): string {
  const percent = Math.round((100 * part) / whole);
  return percent === 0 ? 'less than 1%' : `${percent}%`;
}

/**
 * Returns when the key was last used. Says "Never" only once every use has been written to the database, because people end keys
 * that were never used.
 */
export function lastUse(key: Pick<KeyDetails, 'lastUsedAt' | 'endedAt'>, now: Date): Html {
  if (key.lastUsedAt !== null) return since(key.lastUsedAt, now);
  return html`<span class="quiet">${mayHaveUnwrittenUse(key, now) ? 'No use recorded yet' : 'Never'}</span>`;
}

export function lastClient(key: Pick<KeyDetails, 'lastUsedNetwork' | 'lastUsedClient'>): Html | false {
  const words = lastClientWords(key);
  return words !== false && html`<span class="under breakable">${words}</span>`;
}

/** Returns words such as "from 192.0.2.1 with curl/8.5.0"; `false` if both the network and the client are unknown. */
export function lastClientWords({
  lastUsedNetwork: network,
  lastUsedClient: client,
}: Pick<KeyDetails, 'lastUsedNetwork' | 'lastUsedClient'>): Html | false {
  if (network === null && client === null) return false;
  return html`${network !== null && `from ${network}`}${client !== null && `${network === null ? '' : ' '}with ${client}`}`;
}
