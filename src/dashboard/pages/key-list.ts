import { count } from '../../domain/words.ts';
import type { KeyList, KeyView } from '../../service/list-keys.ts';
import { type Html, html } from '../html.ts';
import { DOTS, KEY_PICTURE } from './marks.ts';
import { addressOf, badge, pager } from './parts.ts';
import { table } from './table.ts';
import { day, daysUntil, instant, permissionChip, since } from './words.ts';

export type KeyListView = {
  readonly list: KeyList;
  readonly isOwn: boolean;
  readonly isFirst: boolean;
  /** Where this user's keys are, such as "/profile/api-keys". */
  readonly base: string;
  readonly now: Date;
  /** Why no key may be made here, and whom to ask; null: one may. */
  readonly refusal: Html | null;
};

export function keyList({ list, isOwn, isFirst, base, now, refusal }: KeyListView): Html {
  const create = refusal === null && html`<a class="button primary" href="${base}/new">Create API Key</a>`;
  if (list.keys.length === 0 && isFirst) {
    return html`<section class="card empty" aria-labelledby="keys">${KEY_PICTURE}
<h2 id="keys">No API keys yet</h2>
<p>An API key lets a program of yours, such as a nightly import, use the API ${isOwn ? 'in your name' : `in the name of ${list.holder.name}`}.${refusal === null && ' Make one key for each program and each environment, so that each can be replaced alone.'}</p>
${refusal ?? html`<p>${create}</p>`}</section>`;
  }
  return html`<section aria-labelledby="keys"><div class="section-head"><h2 id="keys">API keys</h2>${create}</div>
${refusal}
${list.keys.length === 0 ? html`<div class="card empty"><p>There are no more API keys.</p></div>` : keyTable({ list, base, now })}
${pager({ first: isFirst ? null : base, next: list.next === null ? null : addressOf(base, { after: list.next }) })}</section>`;
}

function keyTable({ list, base, now }: Around): Html {
  return html`<div class="card flush">${table({
    label: `API keys of ${list.holder.name}`,
    columns: ['Name', 'Permissions', 'Created', 'Last used', 'Expires', 'State', 'Actions'],
    rows: list.keys.map((key) => ({ cells: cells(key, { list, base, now }), isQuiet: key.state !== 'active' })),
  })}</div>`;
}

type Around = { list: KeyList; base: string; now: Date };

function cells(key: KeyView, { list, base, now }: Around) {
  return [
    html`<span class="key-name">${key.name}</span><code class="prefix">${key.prefix}…</code>`,
    html`<span class="chips">${key.permissions.map((permission) => permissionChip(permission))}</span>`,
    html`${day(key.createdAt)}<span class="under">by ${key.createdBy ?? 'an operator'}</span>`,
    key.lastUsedAt === null ? html`<span class="quiet">Never</span>` : since(key.lastUsedAt, now),
    expiry(key, now),
    state(key),
    menu(key, { list, base, now }),
  ];
}

function expiry({ expiresAt, isExpiringSoon }: KeyView, now: Date): Html {
  if (expiresAt === null) return html`Never`;
  if (!isExpiringSoon) return day(expiresAt);
  const days = daysUntil(expiresAt, now);
  return html`${day(expiresAt)}<span class="under">${badge('warn', days === 0 ? 'Expires today' : `In ${count(days, 'day')}`)}</span>`;
}

function state({ state: is, endedAt, endedBy, refusedUses }: KeyView): Html {
  if (is === 'active' || endedAt === null) return badge('good', 'Active');
  const word = { expired: 'Expired', rotated: 'Rotated', revoked: 'Revoked' }[is];
  return html`${badge('neutral', word)}<span class="under">${is !== 'expired' && html`by ${endedBy ?? 'an operator'}<br>`}${instant(endedAt)}</span>${
    refusedUses > 0 && html`<span class="under warn-text">Refused ${count(refusedUses, 'time')} since</span>`
  }`;
}

/** What can still be done with it: an expired key can only be revoked, which frees its name. */
function menu({ id, name, state: is }: KeyView, { list, base }: Around): Html | false {
  const takes = list.refusal === null && is === 'active' ? ['Rotate', 'Rename'] : [];
  const ends = list.mayRevoke && (is === 'active' || is === 'expired') ? ['Revoke'] : [];
  const links = [...takes, ...ends].map(
    (word) =>
      html`<li><a href="${base}/${id}/${word.toLowerCase()}"${word === 'Revoke' && html` class="danger-text"`}>${word}</a></li>`,
  );
  return (
    links.length > 0 &&
    html`<details class="menu"><summary class="dots">${DOTS}<span class="unseen">Actions for ${name}</span></summary><ul>${links}</ul></details>`
  );
}

/** Whom to ask, by name and address. */
export function contacts(
  message: string,
  administrators: readonly { readonly name: string; readonly email: string }[],
): Html {
  return html`<div class="notice"><p><strong>${message}</strong></p>
${
  administrators.length > 0 &&
  html`<ul class="contacts">${administrators.map(
    ({ name, email }) => html`<li>${name} <a href="mailto:${mailAddress(email)}">${email}</a></li>`,
  )}</ul>`
}</div>`;
}

/** RFC 6068 section 2: a "?" in the address would begin the mail's other headers. */
function mailAddress(email: string): string {
  return encodeURIComponent(email).replace('%40', '@');
}
