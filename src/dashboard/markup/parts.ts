import type { Environment } from '../../domain/keys/api-key.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { PROFILE_URL, SIGN_IN_URL, urlOf } from '../http/addresses.ts';
import type { RequestContext } from '../http/request-context.ts';
import { ENVIRONMENT_WORDS } from './words.ts';

// Parts that many pages share.

type Tab = { readonly name: string; readonly href: string; readonly isCurrent: boolean };

type Head = {
  readonly title: string | Html;
  readonly lead?: Html | string | undefined;
  /** The parent page, to which the link above the heading leads. */
  readonly up?: { name: string; href: string } | undefined;
  readonly tabs?: { label: string; tabs: readonly Tab[] } | undefined;
  readonly action?: Html | false | undefined;
};

export function head({ title, lead, up, tabs, action }: Head): Html {
  return html`<div class="head">
${up !== undefined && html`<p class="up"><a href="${up.href}">${up.name}</a></p>`}
<div class="head-row"><div><h1>${title}</h1>${lead !== undefined && html`<p class="lead">${lead}</p>`}</div>${action}</div>
${tabs !== undefined && tabBar(tabs)}
</div>`;
}

export function tabBar({ label, tabs }: { label: string; tabs: readonly Tab[] }): Html {
  return html`<nav class="tabs" aria-label="${label}"><ul>${tabs.map(
    ({ name, href, isCurrent }) =>
      html`<li><a href="${href}"${isCurrent && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>`;
}

/** Returns the confirmation of an action, for the page to which the action has redirected. */
export function doneNotice(message: string | Html | undefined): Html | false {
  return message !== undefined && html`<div class="notice good" role="status"><p>${message}</p></div>`;
}

/** Returns a form that is sent by POST. `formToken` ties the form to the session. */
export function postForm({ action, formToken }: { action: string; formToken: string }, content: Html): Html {
  return html`<form method="post" action="${action}" novalidate class="form"><input type="hidden" name="form_token" value="${formToken}">${content}</form>`;
}

export type ActionForm = {
  readonly action: string;
  readonly fields?: HtmlValue;
  /** The text of the button that sends the form. */
  readonly button: string;
  readonly kind?: 'primary' | 'danger';
  /** The URL to which the link "Cancel" leads. */
  readonly cancel: string;
  /** The content after the button. It is not before the button, because the Enter key presses a form's first button. */
  readonly rest?: Html | undefined;
};

export function actionForm(
  { formToken }: Pick<RequestContext, 'formToken'>,
  { action, fields, button, kind = 'primary', cancel, rest }: ActionForm,
): Html {
  return postForm(
    { action, formToken },
    html`${fields}
<div class="actions"><button class="button ${kind}">${button}</button><a class="button plain" href="${cancel}">Cancel</a></div>${rest}`,
  );
}

export function hiddenInput(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/**
 * Returns a text with a button that copies the text. Only a script shows the button; without scripts, people can select the text.
 */
export function copyField({
  id,
  label,
  what = label,
  text,
  rows = 2,
}: {
  id: string;
  label: string;
  /** What the button copies, in words for screen readers. */
  what?: string;
  text: string;
  rows?: number;
}): Html {
  return html`<div class="field copy"><label for="${id}">${label}</label>
<div class="copy-row"><textarea id="${id}" readonly rows="${rows}" spellcheck="false" autocomplete="off" translate="no">${text}</textarea>
<button type="button" class="button" data-copy="${id}" hidden>${icon('copy')}Copy<span class="unseen"> ${what}</span></button></div>
<p class="copied" role="status" aria-live="polite"></p></div>`;
}

/** Returns the e-mail as markup. If the e-mail is too long for a line, the line may break after the "@" and before each dot. */
export function emailText(email: string): Html {
  const parts = shownEmail(email).split(/(?<=@)|(?=\.)/);
  return html`<span class="breakable">${parts.map((part, i) => [i > 0 && html`<wbr>`, part])}</span>`;
}

export function badge(kind: 'good' | 'warn' | 'danger' | 'neutral', text: string): Html {
  return html`<span class="badge ${kind}">${text}</span>`;
}

/** Returns a badge with the environment, so that nobody mistakes production for a test environment. */
export function environmentBadge(environment: Environment): Html {
  return html`<span class="badge environment ${environment}">${ENVIRONMENT_WORDS[environment]}<span class="unseen"> environment</span></span>`;
}

/**
 * Returns a note that names this cell, with a link for people whose account is in another cell; `false` if there are no other
 * cells.
 */
export function cellNote({ dashboard: { common = null } }: RequestContext): Html | false {
  return (
    common !== null &&
    html`<p class="aside quiet">This is Charter for <strong>${common.own.title}</strong>. <a href="${common.url}/sign-in">Sign in elsewhere</a></p>`
  );
}

/** Returns a link to the sign-in page that asks for the e-mail and the password together. */
export function passwordLink(next: string = PROFILE_URL): Html {
  return html`<a href="${urlOf(SIGN_IN_URL, { with: 'password', next })}">Sign in with a password instead</a>`;
}

export function facts(list: readonly { readonly name: string; readonly value: HtmlValue }[]): Html {
  return html`<dl class="facts">${list.map(({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Returns the filters of a list. On a narrow screen, they are folded unless `isOpen`. */
export function filterFold({ isOpen }: { readonly isOpen: boolean }, filters: Html): Html {
  return html`<details class="filter-fold"${isOpen && html` open`}><summary>Filters</summary><div class="filter-fields">${filters}</div></details>`;
}

type Beside = {
  readonly title: string;
  readonly about: Html;
  readonly content: Html;
  /** Whether the card about the subject comes last on narrow screens. True for content that needs no introduction. */
  readonly isLast?: boolean;
};

/**
 * Returns a card with the content, such as a form, and a card about its subject. The card about the subject is above the other
 * or, on wide screens, beside it.
 */
export function beside({ title, about, content, isLast = false }: Beside): Html {
  const aboutCard = html`<section class="card about" aria-labelledby="about"><h2 id="about">${title}</h2>${about}</section>`;
  const card = html`<div class="card">${content}</div>`;
  return html`<div class="beside">${isLast ? [card, aboutCard] : [aboutCard, card]}</div>`;
}

type Pages = {
  readonly isFirst: boolean;
  readonly previous: string | null;
  readonly next: string | null;
  /** Returns the URL of the page at a position in the list, or of the first page if the position is empty. */
  readonly urlAt: (position: Readonly<Record<string, string>>) => string;
  /** The part of the list that the page shows, such as "26–50 of 5,000". */
  readonly part?: string | null;
};

/** Returns links to the previous and the next page of a list; `false` if one page shows the whole list. */
export function pager({ isFirst, previous, next, urlAt, part = null }: Pages): Html | false {
  if (isFirst && previous === null && next === null) return false;
  return html`<nav class="pager" aria-label="Pages">${part !== null && html`<p class="quiet pager-part">${part}</p>`}${
    !isFirst && html`<a class="button" href="${urlAt({})}">First page</a>`
  }${previous !== null && html`<a class="button" href="${urlAt({ before: previous })}" rel="prev">${icon('previous')}Previous page</a>`}${
    next !== null && html`<a class="button" href="${urlAt({ after: next })}" rel="next">Next page${icon('next')}</a>`
  }</nav>`;
}
