import type { KeyView } from '../../service/list-keys.ts';
import { type Html, html } from '../markup/html.ts';
import { field, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { instant, since } from '../markup/words.ts';
import type { FormFrame } from './create-form.ts';

export type Deed = 'rotate' | 'rename' | 'revoke';

type DeedFrame = FormFrame & {
  readonly key: KeyView;
  readonly now: Date;
  /** The new name, as it was typed. */
  readonly typed: string;
};

const PAGES: Record<Deed, { title: string; page: (frame: DeedFrame) => Html }> = {
  rotate: { title: 'Rotate', page: rotatePage },
  rename: { title: 'Rename', page: renamePage },
  revoke: { title: 'Revoke', page: revokePage },
};

export function deedPage(deed: Deed, frame: DeedFrame): { title: string; main: Html } {
  const { title, page } = PAGES[deed];
  const { key, base, problem } = frame;
  return {
    title: `${title} ${key.name}`,
    main: html`${head({ title: `${title} ${key.name}`, up: { name: 'API keys', href: base } })}
${problemSummary(problem, { name: 'Name' })}
<div class="card narrow">${page(frame)}</div>`,
  };
}

function rotatePage({ base, formToken, onceId, key, now }: DeedFrame): Html {
  if (key.state !== 'active') return over(key, base);
  return html`<p>A new key takes the place of <strong>${key.name}</strong>, with the same permissions and the same expiry. You will see it once, on the next page.</p>
<div class="notice warn"><p><strong>The moment you press Rotate, <code>${key.prefix}…</code> stops working.</strong> Every request that still sends it is refused with 401, so put the new key in place at once. This cannot be undone.</p></div>
${usage(key, now)}
${postForm({ action: `${base}/${key.id}/rotate`, formToken }, html`${hidden('once', onceId)}${buttons('Rotate', 'primary', base)}`)}`;
}

function revokePage({ base, formToken, key, now }: DeedFrame): Html {
  if (key.state !== 'active' && key.state !== 'expired') return over(key, base);
  const effect =
    key.state === 'expired'
      ? html`<p>The key <code>${key.prefix}…</code> has expired and is refused already. Once it is revoked, its name is free for another key.</p>`
      : html`<div class="notice danger"><p><strong>The moment you press Revoke, <code>${key.prefix}…</code> stops working, and nothing takes its place.</strong> Every request that sends it is refused with 401. This cannot be undone.</p></div>`;
  return html`${effect}
${usage(key, now)}
${postForm({ action: `${base}/${key.id}/revoke`, formToken }, buttons('Revoke', 'danger', base))}`;
}

function renamePage({ base, formToken, key, problem, typed }: DeedFrame): Html {
  if (key.state !== 'active') return over(key, base);
  const hint = html`The name of <code>${key.prefix}…</code>. The key itself stays the same.`;
  return postForm(
    { action: `${base}/${key.id}/rename`, formToken },
    html`${field(
      { name: 'name', label: 'Name', hint, errors: problem?.fields },
      (attributes) =>
        html`<input ${attributes} type="text" value="${typed}" maxlength="100" required autocomplete="off">`,
    )}${buttons('Rename', 'primary', base)}`,
  );
}

function buttons(word: string, kind: 'primary' | 'danger', base: string): Html {
  return html`<div class="actions"><button class="button ${kind}">${word}</button><a class="button plain" href="${base}">Cancel</a></div>`;
}

function over({ state, endedAt, endedBy }: KeyView, base: string): Html {
  return html`<p>There is nothing left to do: this key ${state === 'expired' ? 'has' : 'was'} ${state}${state !== 'expired' && html` by ${endedBy ?? 'an operator'}`}${endedAt !== null && html`, ${instant(endedAt)}`}.</p>
<p class="actions"><a class="button" href="${base}">See the list</a></p>`;
}

/** Uses are written once a minute: whoever is about to end a key that is new must not take it for one that nobody uses. */
function usage({ lastUsedAt, expiresAt }: KeyView, now: Date): Html {
  return html`<dl class="facts"><div><dt>Last used</dt><dd>${lastUsedAt === null ? 'Not before the last minute' : since(lastUsedAt, now)}</dd></div>
<div><dt>Expires</dt><dd>${expiresAt === null ? 'Never' : instant(expiresAt)}</dd></div></dl>`;
}
