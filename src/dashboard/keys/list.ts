import { MAX_ACTIVE_KEYS } from '../../domain/api-key.ts';
import type { KeyAccess } from '../../service/key-access.ts';
import { type KeyDetails, type KeyList, listKeys } from '../../service/list-keys.ts';
import type { View } from '../http/view.ts';
import { type Html, html } from '../markup/html.ts';
import { DOTS, KEY_ICON } from '../markup/icons.ts';
import { page } from '../markup/layout.ts';
import { doneNotice, pager, urlOf } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { day, permissionWords } from '../markup/words.ts';
import { actionsOn, actionUrl } from './actions.ts';
import { keyCell, lastUse, stateCell } from './cells.ts';
import type { KeyContext } from './context.ts';
import { refusalNotice, refusalOf } from './refused.ts';

const DONE = new Map([
  ['renamed', 'The key has its new name.'],
  ['revoked', 'The key is revoked. It is refused from now on.'],
]);

export async function showList(context: KeyContext): Promise<View> {
  const { dashboard, actor, holderId, now, query } = context;
  const after = query.get('after');
  const list = await listKeys(dashboard.db, actor, holderId, { after, now });
  const refused = refusalOf(context, list, 'create');
  const refusal = refused === null ? null : await refusalNotice(context, refused);
  const done = doneNotice(DONE.get(query.get('done') ?? ''));
  return page(context, {
    title: context.isOwn ? 'API keys' : `API keys of ${list.holder.name}`,
    main: html`${context.head(list.holder)}${done}${keyList(context, { list, isFirst: after === null, refusal })}`,
  });
}

type ListProps = {
  readonly list: KeyList;
  readonly isFirst: boolean;
  /** Why the visitor may not create a key here, and whom to contact; null: the visitor may. */
  readonly refusal: Html | null;
};

function keyList({ isOwn, listUrl, now }: KeyContext, { list, isFirst, refusal }: ListProps): Html {
  const create = refusal === null && html`<a class="button primary" href="${listUrl}/new">Create API Key</a>`;
  if (list.keys.length === 0 && isFirst) {
    return html`<section class="card empty" aria-labelledby="keys">${KEY_ICON}
<h2 id="keys">No API keys yet</h2>
<p>With an API key a program, such as a nightly import, can use the API ${isOwn ? 'in your name' : `in the name of ${list.holder.name}`}.${refusal === null && ' Create one key for each program and each environment, so that each can be replaced alone.'}</p>
${refusal ?? html`<p>${create}</p>`}</section>`;
  }
  return html`<section aria-labelledby="keys"><div class="section-head"><h2 id="keys">API keys${isFirst && html` <span class="small">${activeCount(list)}</span>`}</h2>${create}</div>
${refusal}
${list.keys.length === 0 ? html`<div class="card empty"><p>There are no more API keys.</p></div>` : keyTable({ list, listUrl, now })}
${pager({ first: isFirst ? null : listUrl, next: list.next === null ? null : urlOf(listUrl, { after: list.next }) })}</section>`;
}

/** The first list page has all active keys. */
function activeCount({ keys }: KeyList): string {
  return `${keys.filter(({ state }) => state === 'active').length} of ${MAX_ACTIVE_KEYS} active`;
}

type TableProps = { list: KeyList; listUrl: string; now: Date };

function keyTable({ list, listUrl, now }: TableProps): Html {
  return html`<div class="card flush">${table({
    name: 'keys',
    label: `API keys of ${list.holder.name}`,
    columns: ['Name', 'State', 'Permissions', 'Last used', 'Created', 'Actions'],
    rows: list.keys.map((key) => ({ cells: cells(key, { list, listUrl, now }), isEnded: key.state !== 'active' })),
  })}</div>`;
}

function cells(key: KeyDetails, { list, listUrl, now }: TableProps) {
  return [
    keyCell(key, listUrl),
    stateCell(key, now),
    permissionWords(key.permissions),
    lastUse(key, now),
    html`${day(key.createdAt)}<span class="under clamp">by ${key.createdBy ?? 'an operator'}</span>`,
    menu(key, list, listUrl),
  ];
}

function menu(key: KeyDetails, access: KeyAccess, listUrl: string): Html | false {
  const links = actionsOn(key, access).map(
    (action) =>
      html`<li><a href="${actionUrl(key, action, listUrl)}"${action === 'Revoke' && html` class="danger-text"`}>${action}</a></li>`,
  );
  return (
    links.length > 0 &&
    html`<details class="menu"><summary class="dots">${DOTS}<span class="unseen">Actions for key ${key.name}</span></summary><ul>${links}</ul></details>`
  );
}
