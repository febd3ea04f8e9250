import { getKey, type KeyDetails } from '../../service/list-keys.ts';
import type { Problem } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { type Html, html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { head, problemSummary } from '../markup/parts.ts';
import { instant } from '../markup/words.ts';
import { lastUse } from './cells.ts';
import { type KeyContext, toList } from './context.ts';

// Rotating, renaming and revoking a key are confirmed on a page of their own, so that they work without a script.

export function keyIdOf({ params }: KeyContext): string {
  return params['keyId'] ?? '';
}

/** The key that the path names, and what the visitor may do with it. */
export function readKey(context: KeyContext) {
  const { dashboard, actor, holderId, now } = context;
  return getKey(dashboard.db, actor, { keyId: keyIdOf(context), userId: holderId, now });
}

type Confirmation = {
  /** "Rotate": the start of the title. */
  readonly verb: string;
  readonly key: KeyDetails;
  readonly content: Html;
  readonly problem?: Problem | null;
};

export function confirmationPage(context: KeyContext, { verb, key, content, problem = null }: Confirmation): View {
  const title = `${verb} ${key.name}`;
  const main = html`${head({ title, up: { name: 'API keys', href: context.listUrl } })}
${problemSummary(problem, { name: 'Name' })}
<div class="card narrow">${content}</div>`;
  return page(context, { title, main, problem });
}

/** The key has ended: the message says who ended it and when. */
export function conflictPage(context: KeyContext, message: string): View {
  const title = 'This cannot be done now';
  return page(context, { title, status: 409, main: errorPage({ status: 409, title, message, link: toList(context) }) });
}

export function buttons(label: string, kind: 'primary' | 'danger', listUrl: string): Html {
  return html`<div class="actions"><button class="button ${kind}">${label}</button><a class="button plain" href="${listUrl}">Cancel</a></div>`;
}

/** In place of the form, for a key that has ended. */
export function alreadyEnded({ state, endedAt, endedBy }: KeyDetails, listUrl: string): Html {
  return html`<p>There is nothing left to do: this key ${state === 'expired' ? 'has' : 'was'} ${state}${state !== 'expired' && html` by ${endedBy ?? 'an operator'}`}${endedAt !== null && html`, ${instant(endedAt)}`}.</p>
<p class="actions"><a class="button" href="${listUrl}">See the list</a></p>`;
}

export function usage(key: KeyDetails, now: Date): Html {
  return html`<dl class="facts"><div><dt>Last used</dt><dd>${lastUse(key, now)}</dd></div>
<div><dt>Expires</dt><dd>${key.expiresAt === null ? 'Never' : instant(key.expiresAt)}</dd></div></dl>`;
}
