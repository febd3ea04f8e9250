import { isPermission } from '../../domain/people/role.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { checkAddresses } from '../../service/keys/key-rules.ts';
import { listAllKeys, type OrganizationKey, type OrganizationKeyList } from '../../service/keys/organization-keys.ts';
import type { AttentionCounts, KeyOrder } from '../../store/keys/key-lists.ts';
import { type Form, fieldsOf, typedOf } from '../forms/form.ts';
import { keysUrlOf, ORGANIZATION_KEYS_URL, urlOf } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { keyMenu } from '../keys/actions.ts';
import { holderCell, keyCell, lastUse, NO_ADDRESSES, permissionsCell, stateCell } from '../keys/cells.ts';
import { actionNotice } from '../keys/list.ts';
import { backFrom, FILTERS, type FilterValues, findKeyUrl } from '../keys/search.ts';
import { page } from '../markup/layout.ts';
import { organizationHead } from '../markup/organization-head.ts';
import { filterFold, hiddenInput, pager, tabBar } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { day } from '../markup/words.ts';

export async function showOrganizationKeys(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now, query } = context;
  const values = typedOf(FILTERS, query);
  const { search, holder, permission, use, expiry, addresses, state } = values;
  const isActive = state !== 'ended';
  const list = await listAllKeys(dashboard.db, actor, {
    filters: {
      search,
      holder,
      permission: isPermission(permission) ? permission : null,
      isUnused: use === 'never',
      isExpiringSoon: expiry === 'soon',
      lacksAddresses: addresses === 'none',
    },
    isActive,
    order: orderOf(values),
    now,
    after: query.get('after'),
    before: query.get('before'),
  });
  const isFirst = !query.has('after') && !query.has('before');
  const done = await actionNotice(context, query.get('user') ?? '', list.keys);
  const main = html`${organizationHead('api-keys', actor)}${done}${notice(query.get('notice') ?? '')}
${filterForm(context, values)}
<section aria-labelledby="keys"><h2 id="keys" class="unseen">API keys</h2>
${stateTabs(values, list, isActive)}
${attentionWords(list.counts)}
${list.keys.length === 0 ? noKeys(values, isFirst) : keyTable(list, context)}
${pager({
  isFirst,
  previous: list.previous,
  next: list.next,
  urlAt: (position) => urlOf(ORGANIZATION_KEYS_URL, { ...values, ...position }),
  part:
    list.keys.length === 0
      ? null
      : `${list.keys.length} of ${formatNumber(isActive ? list.counts.active : list.counts.ended)}`,
})}</section>`;
  return page(context, { title: 'API keys of the organization', main });
}

/** Returns the order of the list. The default for keys that expire soon is the order of their expiry. */
function orderOf({ expiry, order }: FilterValues): KeyOrder {
  if (order === 'oldest') return 'oldest';
  return expiry === 'soon' && order !== 'latest' ? 'expiry' : 'latest';
}

/**
 * Handles the search, which is sent by POST because a whole key must not get into a URL: browser histories and proxy logs contain
 * URLs. The key is only hashed, and not stored.
 */
export async function searchOrganizationKeys(
  context: SignedInContext,
  { values, typed }: Form<typeof FILTERS>,
): Promise<View> {
  const target = await findKeyUrl(context, values.search, backFrom(new URLSearchParams()));
  return redirect(target ?? urlOf(ORGANIZATION_KEYS_URL, typed));
}

const NOTICES = new Map([
  ['unknown', 'No API key of your organization is exactly this key. The list shows the keys with the same prefix.'],
  [
    'mistyped',
    'This key is mistyped or incomplete: its checksum is wrong. The list shows the keys with the same prefix.',
  ],
]);

function notice(name: string): Html | false {
  const text = NOTICES.get(name);
  return text !== undefined && html`<div class="notice warn" role="status"><p>${text}</p></div>`;
}

function filterForm({ formToken }: SignedInContext, values: FilterValues): Html {
  const { state, search, ...fields } = fieldsOf(FILTERS, { typed: values, problem: null }, values);
  const { permission, use, expiry, addresses, order, holder } = values;
  return html`<form class="card filters" method="post" action="${ORGANIZATION_KEYS_URL}" role="search" aria-label="API keys">
${hiddenInput('form_token', formToken)}${state}
<div class="filter-row">${search}
<div class="actions"><button class="button primary">${icon('search')}Search</button><a class="button plain" href="${ORGANIZATION_KEYS_URL}">Clear</a></div></div>
${filterFold(
  { isOpen: [holder, permission, use, expiry, addresses, order].some((value) => value !== '') },
  html`${Object.values(fields)}
<div class="actions"><button class="button">Apply</button></div>`,
)}</form>`;
}

function stateTabs(values: FilterValues, { counts }: OrganizationKeyList, isActive: boolean): Html {
  const link = (state: '' | 'ended') => urlOf(ORGANIZATION_KEYS_URL, { ...values, state });
  return tabBar({
    label: 'Status',
    tabs: [
      { name: `Active (${formatNumber(counts.active)})`, href: link(''), isCurrent: isActive },
      { name: `Ended (${formatNumber(counts.ended)})`, href: link('ended'), isCurrent: !isActive },
    ],
  });
}

/** Returns the numbers of keys that need attention, with links to lists of these keys; `false` if all numbers are 0. */
export function attentionWords({
  expiringSoon,
  unused,
  lackingAddresses,
  requiresAddresses,
}: AttentionCounts): Html | false {
  const lacking = requiresAddresses ? lackingAddresses : 0;
  const link = (count: number, words: string, filters: Partial<FilterValues>) =>
    html`<a href="${urlOf(ORGANIZATION_KEYS_URL, filters)}">${words}: ${formatNumber(count)}</a>`;
  if (expiringSoon === 0 && unused === 0 && lacking === 0) return false;
  return html`<p class="attention">${expiringSoon > 0 && link(expiringSoon, 'Expiring soon', { expiry: 'soon' })}${
    unused > 0 && html` ${link(unused, 'No use recorded', { use: 'never' })}`
  }${lacking > 0 && html` ${link(lacking, NO_ADDRESSES, { addresses: 'none' })}`}</p>`;
}

function noKeys({ state }: FilterValues, isFirst: boolean): Html {
  if (!isFirst) return html`<div class="card empty"><p>There are no more API keys.</p></div>`;
  const what = state === 'ended' ? 'ended API key' : 'active API key';
  return html`<div class="card empty"><h3>No API keys</h3><p>No ${what} of your organization matches.</p><p><a class="button" href="${ORGANIZATION_KEYS_URL}">Show all active keys</a></p></div>`;
}

function keyTable(
  { keys, counts: { requiresAddresses } }: Pick<OrganizationKeyList, 'keys' | 'counts'>,
  { query, now }: SignedInContext,
): Html {
  const back = backFrom(query);
  return html`<div class="card flush">${table({
    name: 'organization-keys',
    label: `${formatCount(keys.length, 'API key')} of the organization`,
    columns: ['Key', 'Acts for', 'Status', 'Permissions', 'Last used', 'Actions'],
    rows: keys.map((key) => ({ cells: cells(key, { back, now, requiresAddresses }), isEnded: key.state !== 'active' })),
  })}</div>`;
}

function cells(
  key: OrganizationKey,
  { back, now, requiresAddresses }: { back: string; now: Date; requiresAddresses: boolean },
) {
  const urls = { listUrl: keysUrlOf(key.holder), back };
  const lacks = key.state === 'active' && checkAddresses(key, { requiresAddresses }) !== null;
  return [
    keyCell(key, urls),
    holderCell(key.holder),
    stateCell(key, now, urls),
    html`${permissionsCell(key)}${lacks && html`<span class="under warn-text">${NO_ADDRESSES}</span>`}`,
    html`${lastUse(key, now)}<span class="under">Created ${day(key.createdAt)}${key.createdBy !== key.holder.name && ` by ${key.createdBy ?? 'an operator'}`}</span>`,
    keyMenu(key, key, urls),
  ];
}
