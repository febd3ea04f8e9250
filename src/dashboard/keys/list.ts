import { MAX_ACTIVE_KEYS } from '../../domain/keys/api-key.ts';
import { mayManageIntegrations } from '../../domain/people/role.ts';
import { formatCount } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon, KEY_ICON } from '../../html/icons.ts';
import { findKey, type KeyDetails, type KeyList, listKeys, MAX_MOVED_KEYS } from '../../service/keys/list-keys.ts';
import { MAX_COUNTED_KEYS } from '../../store/keys/key-lists.ts';
import { guideUrl, keysUrlOf, newKeyUrl, urlOf } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { doneNotice, pager, tabBar } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { boundedCount, day } from '../markup/words.ts';
import { keyMenu } from './actions.ts';
import { createdCell, keyCell, lastUse, permissionsCell, stateCell } from './cells.ts';
import { refusalNotice, refusalOf } from './confirmation.ts';
import { type KeyContext, keyIdOf, requireHolderKind } from './context.ts';

export async function showList(context: KeyContext): Promise<View> {
  const { dashboard, actor, holderId, now, query } = context;
  const [after, before] = [query.get('after'), query.get('before')];
  const isActive = query.get('state') !== 'ended';
  const list = await listKeys(dashboard.db, actor, holderId, { isActive, after, before, now });
  requireHolderKind(context, list.holder);
  const refused = refusalOf(context, list, 'create');
  const refusal = refused === null ? null : await refusalNotice(context, refused);
  const done = await actionNotice(context, holderId, list.keys);
  const isFirst = after === null && before === null;
  return page(context, {
    title: context.isOwn ? 'API keys' : `API keys of ${list.holder.name}`,
    main: html`${context.head(list.holder)}${done}${keyList(context, { list, isActive, isFirst, refusal })}${movedKeys(context, list)}`,
  });
}

/** Returns the URL of the list, with the parameters for the confirmation of an action on the key. */
export function listUrlAfter(action: 'renamed' | 'restricted' | 'revoked', context: KeyContext): string {
  const { back, backUrl, holderId } = context;
  const done = { done: action, key: keyIdOf(context) };
  if (back === null) return urlOf(backUrl, done);
  // The organization's list can find the key only with the id of the holder.
  const query = new URLSearchParams({ ...done, user: holderId });
  return `${backUrl}${backUrl.includes('?') ? '&' : '?'}${query}`;
}

/**
 * Returns the confirmation of an action on a key. Reads the key's state, because anybody can make a link that confirms an action
 * that did not happen. `keys` are the keys on the page.
 */
export async function actionNotice(
  context: SignedInContext,
  userId: string,
  keys: readonly KeyDetails[],
): Promise<Html | false> {
  const { dashboard, actor, now, query } = context;
  const [action, keyId] = [query.get('done'), query.get('key')];
  if (action === null || keyId === null) return false;
  const listed = keys.find(({ id }) => id === keyId);
  const key = listed ?? (await findKey(dashboard.db, actor, { userId, keyId, now }));
  if (key === null) return false;
  if (action === 'renamed') return doneNotice(`The key is now named ${key.name}.`);
  if (action === 'restricted') return doneNotice(`${key.name} may be used ${placesWords(key)}, from now on.`);
  if (action === 'moved' && key.movedFrom !== null)
    return doneNotice(`${key.name} was moved here from ${key.movedFrom}. The key itself is the same.`);
  if (action !== 'revoked' || key.state !== 'revoked') return false;
  return doneNotice(`${key.name} was revoked. It is refused from now on.`);
}

function placesWords({ addresses }: KeyDetails): string {
  if (addresses.length === 0) return 'from any address';
  return `from ${formatCount(addresses.length, 'address or subnet', 'addresses and subnets')}`;
}

type ListProps = {
  readonly list: KeyList;
  /** Whether the list contains active keys rather than ended ones. */
  readonly isActive: boolean;
  readonly isFirst: boolean;
  /** Why the actor may not create a key here, and whom to contact; `null` if the actor may create one. */
  readonly refusal: Html | null;
};

function keyList(context: KeyContext, { list, isActive, isFirst, refusal }: ListProps): Html {
  const { isOwn, listUrl } = context;
  const { counts, holder, keys } = list;
  const create =
    refusal === null &&
    html`<a class="button primary" href="${newKeyUrl(listUrl)}">${icon('create')}Create API Key</a>`;
  if (counts.active === 0 && counts.ended === 0) {
    return html`<section class="card empty" aria-labelledby="keys">${KEY_ICON}
<h2 id="keys">No API keys yet</h2>
<p>With an API key a program, such as a nightly import, can use the API ${isOwn ? 'in your name' : `in the name of ${holder.name}`}.${refusal === null && ' Create one key for each program and each environment, so that each can be replaced alone.'} <a href="${guideUrl('getting-started')}">Getting started</a> has the first requests.</p>
${refusal ?? html`<p>${create}</p>`}</section>`;
  }
  const state = isActive ? null : 'ended';
  return html`<section aria-labelledby="keys"><div class="section-head"><h2 id="keys">API keys <span class="small">${counts.active} of ${MAX_ACTIVE_KEYS} active</span></h2>${create}</div>
${refusal}
${stateTabs(listUrl, counts, isActive)}
${keys.length === 0 ? noKeys({ isActive, isFirst, listUrl }) : keyTable(context, list)}
${pager({
  isFirst,
  previous: list.previous,
  next: list.next,
  urlAt: (position) => urlOf(listUrl, { state, ...position }),
  part: keys.length === 0 ? null : `${keys.length} of ${countWords(isActive ? counts.active : counts.ended)}`,
})}</section>`;
}

/** Returns a section about the user's keys that were moved to integrations. Their history is on the pages of the integrations. */
function movedKeys({ actor, now }: KeyContext, { moved, holder }: KeyList): Html | false {
  if (moved.length === 0) return false;
  const mayFollow = mayManageIntegrations(actor.role) || actor.ownsIntegrations;
  return html`<section aria-labelledby="moved"><h2 id="moved">Moved to integrations</h2>
${moved.length === MAX_MOVED_KEYS && html`<p class="quiet">The last ${MAX_MOVED_KEYS} keys that were moved.</p>`}
<div class="card flush">${table({
    name: 'moved-keys',
    label: `API keys that were moved from ${holder.name} to integrations`,
    columns: ['Key', 'Integration', 'Status', 'Moved'],
    rows: moved.map((key) => ({
      cells: [
        mayFollow
          ? keyCell(key, { listUrl: keysUrlOf(key.holder), back: null })
          : html`<span class="key-name">${key.name}</span><code class="prefix">${key.prefix}…</code>`,
        mayFollow ? html`<a class="clamp" href="${keysUrlOf(key.holder)}">${key.holder.name}</a>` : key.holder.name,
        stateCell(key, now, mayFollow ? { listUrl: keysUrlOf(key.holder), back: null } : null),
        key.movedAt !== null && day(key.movedAt),
      ],
      isEnded: key.state !== 'active',
    })),
  })}</div></section>`;
}

function stateTabs(listUrl: string, counts: KeyList['counts'], isActive: boolean): Html {
  return tabBar({
    label: 'Status',
    tabs: [
      { name: `Active (${countWords(counts.active)})`, href: listUrl, isCurrent: isActive },
      { name: `Ended (${countWords(counts.ended)})`, href: urlOf(listUrl, { state: 'ended' }), isCurrent: !isActive },
    ],
  });
}

function countWords(count: number): string {
  return boundedCount(count, MAX_COUNTED_KEYS);
}

type NoKeys = { readonly isActive: boolean; readonly isFirst: boolean; readonly listUrl: string };

function noKeys({ isActive, isFirst, listUrl }: NoKeys): Html {
  if (!isFirst) return html`<div class="card empty"><p>There are no more API keys.</p></div>`;
  return isActive
    ? html`<div class="card empty"><p>No API key is active. <a href="${urlOf(listUrl, { state: 'ended' })}">See those that have ended</a></p></div>`
    : html`<div class="card empty"><p>No API key has ended.</p></div>`;
}

function keyTable(context: KeyContext, list: KeyList): Html {
  const { now } = context;
  return html`<div class="card flush">${table({
    name: 'keys',
    label: `API keys of ${list.holder.name}`,
    columns: ['Name', 'Status', 'Permissions', 'Last used', 'Created', 'Actions'],
    rows: list.keys.map((key) => ({
      cells: [
        keyCell(key, context),
        stateCell(key, now, context),
        permissionsCell(key),
        lastUse(key, now),
        createdCell(key),
        keyMenu(key, list, context),
      ],
      isEnded: key.state !== 'active',
    })),
  })}</div>`;
}
