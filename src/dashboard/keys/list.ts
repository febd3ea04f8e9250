import { count } from '../../domain/words.ts';
import type { KeyList, KeyView } from '../../service/list-keys.ts';
import { type Html, html } from '../markup/html.ts';
import { DOTS, KEY_PICTURE } from '../markup/marks.ts';
import { addressOf, badge, pager } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { day, daysUntil, instant, permissionWords, since } from '../markup/words.ts';

type KeyListProps = {
  readonly list: KeyList;
  readonly isOwn: boolean;
  readonly isFirst: boolean;
  /** Where this user's keys are, such as "/profile/api-keys". */
  readonly base: string;
  readonly now: Date;
  /** Why no key may be made here, and whom to ask; null: one may. */
  readonly refusal: Html | null;
};

export function keyList({ list, isOwn, isFirst, base, now, refusal }: KeyListProps): Html {
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
    name: 'keys',
    label: `API keys of ${list.holder.name}`,
    columns: ['Name', 'State', 'Permissions', 'Last used', 'Created', 'Actions'],
    rows: list.keys.map((key) => ({ cells: cells(key, { list, base, now }), isQuiet: key.state !== 'active' })),
  })}</div>`;
}

type Around = { list: KeyList; base: string; now: Date };

function cells(key: KeyView, { list, base, now }: Around) {
  return [
    html`<span class="key-name">${key.name}</span><code class="prefix">${key.prefix}…</code>`,
    state(key, now),
    permissionWords(key.permissions),
    key.lastUsedAt === null ? html`<span class="quiet">Never</span>` : since(key.lastUsedAt, now),
    html`${day(key.createdAt)}<span class="under clamp">by ${key.createdBy ?? 'an operator'}</span>`,
    menu(key, { list, base, now }),
  ];
}

function state(key: KeyView, now: Date): Html {
  const { state: is, endedAt, endedBy, refusedUses } = key;
  if (is === 'active' || endedAt === null) return html`${badge('good', 'Active')}${life(key, now)}`;
  const word = { expired: 'Expired', rotated: 'Rotated', revoked: 'Revoked' }[is];
  return html`${badge('neutral', word)}${is !== 'expired' && html` <span class="small">by ${endedBy ?? 'an operator'}</span>`}<span class="under">${instant(endedAt)}</span>${
    refusedUses > 0 && html`<span class="under warn-text">Refused ${count(refusedUses, 'time')} since</span>`
  }`;
}

function life({ expiresAt, isExpiringSoon }: KeyView, now: Date): Html {
  if (expiresAt === null) return html`<span class="under">Never expires</span>`;
  const days = daysUntil(expiresAt, now);
  return html`${isExpiringSoon && html` ${badge('warn', days === 0 ? 'Expires today' : `${count(days, 'day')} left`)}`}<span class="under">Expires ${day(expiresAt)}</span>`;
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
    html`<details class="menu"><summary class="dots">${DOTS}<span class="unseen">Actions for key ${name}</span></summary><ul>${links}</ul></details>`
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
