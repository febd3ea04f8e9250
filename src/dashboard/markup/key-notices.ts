import { type KeyNotice, LIMITED_PER_HOUR, MAX_SHOWN_NOTICES, type ShownKind } from '../../domain/keys/key-notice.ts';
import { formatNumber } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import {
  DISMISS_URL,
  INTEGRATIONS_URL,
  integrationKeysUrl,
  integrationUrl,
  keysUrlOf,
  keyUrl,
  OWN_KEYS_URL,
  PROFILE_URL,
} from '../http/addresses.ts';
import { askedUrl, type SignedInContext } from '../http/request-context.ts';
import { hiddenInput, postForm } from './parts.ts';
import { day, instant } from './words.ts';

/** Returns a warning for pages with settings about mails if the server cannot send mails; otherwise `false`. */
export function noMailWords({ dashboard: { outbox, publicUrl } }: SignedInContext): Html | false {
  const canMail = outbox.canSend && publicUrl !== undefined;
  return (
    !canMail &&
    html` <span class="warn-text">This server cannot send mail: its operator has not configured that.</span>`
  );
}

const PROFILE_PAGES: readonly string[] = [PROFILE_URL, OWN_KEYS_URL];
/** The maximum number of notices on a page. When a person dismisses one, the next appears. */
const SHOWN = 3;

/**
 * Returns the notices about the keys of the signed-in user and of the integrations that the user owns. The profile pages show
 * all; the pages of an integration, only those about its keys. Returns `false` if there are none.
 */
export function keyNotices(context: SignedInContext): Html | false {
  const { actor, path } = context;
  const notices = PROFILE_PAGES.includes(path)
    ? actor.keyNotices
    : actor.keyNotices.filter(({ holder }) => holder.kind === 'integration' && isAbout(path, holder));
  if (notices.length === 0) return false;
  const further = notices.length - SHOWN;
  return html`<section class="notice warn key-notices" aria-label="Notices about API keys"><ul class="notice-lines">${notices
    .slice(0, SHOWN)
    .map((notice) => html`<li class="notice-line">${line(notice, context)}${dismissal(notice, context)}</li>`)}</ul>${
    further > 0 &&
    html`<p class="quiet">${formatNumber(further)}${notices.length === MAX_SHOWN_NOTICES && ' or more'} further ${further === 1 ? 'notice' : 'notices'}</p>`
  }</section>`;
}

function isAbout(path: string, { id }: KeyNotice['holder']): boolean {
  return [INTEGRATIONS_URL, integrationUrl(id), integrationKeysUrl(id)].includes(path);
}

const WORDS: Record<ShownKind, (notice: KeyNotice) => Html> = {
  expires: ({ endsAt }) =>
    html`expires on ${endsAt !== null && instant(endsAt)}. Before then, rotate it with a new expiry, or create a second key and change to it without an interruption.`,
  unused: ({ endsAt }) =>
    html`is not used, and ends on ${endsAt !== null && instant(endsAt)} unless it is used before.`,
  ended: ({ createdAt }) => html`was ended on ${day(createdAt)}, because it was not used.`,
  limited: ({ createdAt }) =>
    html`was refused by its rate limit more than ${LIMITED_PER_HOUR} times in an hour, on ${day(createdAt)}. Its page shows the limit and the hours. Spread the requests, use batches, and wait as long as Retry-After says.`,
};

function line(notice: KeyNotice, { actor }: SignedInContext): Html {
  const { kind, keyId, keyName, keyPrefix, holder } = notice;
  const listUrl = holder.id === actor.userId ? OWN_KEYS_URL : keysUrlOf(holder);
  return html`<p class="notice-text"><a class="strong" href="${keyUrl({ id: keyId }, { listUrl, back: null })}">${keyName}</a> <code class="prefix">${keyPrefix}…</code>${holder.kind === 'integration' && ` of ${holder.name}`} ${WORDS[kind](notice)}</p>`;
}

function dismissal({ id, keyName }: KeyNotice, context: SignedInContext): Html {
  return postForm(
    { action: DISMISS_URL, formToken: context.formToken },
    html`${hiddenInput('notice', id)}${hiddenInput('next', askedUrl(context))}<button class="button plain small">Dismiss<span class="unseen"> the notice about ${keyName}</span></button>`,
  );
}
