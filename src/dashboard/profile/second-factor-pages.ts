import { renderSVG } from 'uqr';
import type { Actor } from '../../domain/actor.ts';
import type { Problem } from '../http/errors.ts';
import { type Html, html } from '../markup/html.ts';
import { copyField, field, head, hidden, passwordField, postForm, problemSummary } from '../markup/parts.ts';
import { UP } from './pages.ts';

type Frame = { actor: Actor; formToken: string; problem: Problem | null };

export function secondFactor({ actor, formToken, problem }: Frame): Html {
  return html`${head({ title: 'Second factor', up: UP })}
${problemSummary(problem, { password: 'Password' })}
<div class="card narrow">${
    actor.hasSecondFactor
      ? html`<p>Sign-in asks for a code of your authenticator. Turned off, your password alone opens your account.</p>
${postForm(
  { action: '/profile/second-factor/remove', formToken },
  html`${passwordField({ name: 'password', label: 'Password', autocomplete: 'current-password', errors: problem?.fields })}
<div class="actions"><button class="button danger">Turn off</button><a class="button plain" href="/profile">Cancel</a></div>`,
)}`
      : html`<p>You need an authenticator: an app on your phone, or a password manager, that makes codes of six digits.</p>
<p>You get a secret to put into it, then confirm with a first code. After that, each sign-in asks for the password and a code. Turning it on ends every other session of yours.</p>
${postForm(
  { action: '/profile/second-factor', formToken },
  html`${passwordField({ name: 'password', label: 'Password', autocomplete: 'current-password', hint: 'Once more, so that nobody else sets it up at your screen.', errors: problem?.fields })}
<div class="actions"><button class="button primary">Set up</button><a class="button plain" href="/profile">Cancel</a></div>`,
)}`
  }</div>`;
}

export function confirmFactor({
  formToken,
  problem,
  begun,
}: Omit<Frame, 'actor'> & { begun: { secret: string; uri: string } | null }): Html {
  return html`${head({ title: 'Set up a second factor', up: UP })}
${problemSummary(problem, { code: 'Code' })}
<div class="card narrow" ${begun !== null && 'data-secret'}>
${
  begun !== null &&
  html`<p><strong>1.</strong> Scan this with your authenticator, or put the secret below into it. On the phone itself, <a href="${begun.uri}">open it in the app</a>.</p>
<p><img class="qr" src="${qrCode(begun.uri)}" width="200" height="200" alt="QR code of the secret below"></p>
${copyField({ id: 'secret', label: 'Secret', text: begun.secret.replace(/.{4}(?=.)/g, '$& ') })}`
}
${postForm(
  { action: '/profile/second-factor/confirm', formToken },
  html`${field(
    {
      name: 'code',
      label: 'Code',
      hint: html`${begun !== null && html`<strong>2.</strong> `}The six digits that your authenticator shows now.`,
      errors: problem?.fields,
    },
    (attributes) =>
      html`<input ${attributes} class="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="10" required>`,
  )}
<div class="actions"><button class="button primary">Turn on</button><a class="button plain" href="/profile/second-factor">Start again</a></div>`,
)}</div>`;
}

export function renewCodes({
  formToken,
  problem,
  action,
  onceId,
}: Omit<Frame, 'actor'> & { action: string; onceId: string }): Html {
  return html`${head({ title: 'New recovery codes', up: UP })}
${problemSummary(problem, { password: 'Password' })}
<div class="card narrow"><p>You get ten new codes, each of which opens your account once in place of your authenticator. The moment they are made, the earlier ones stop working.</p>
${postForm(
  { action, formToken },
  html`${hidden('once', onceId)}
${passwordField({ name: 'password', label: 'Password', autocomplete: 'current-password', errors: problem?.fields })}
<div class="actions"><button class="button primary">Make new codes</button><a class="button plain" href="/profile">Cancel</a></div>`,
)}</div>`;
}

export function recoveryCodes({ title, codes }: { title: string; codes: readonly string[] }): Html {
  return html`${head({ title, up: UP })}
<div class="card narrow" data-secret>
<div class="notice warn"><p><strong>These recovery codes will not be shown again.</strong> Each opens your account once, should you lose your authenticator. Keep them where your phone is not.</p></div>
${copyField({ id: 'codes', label: 'Recovery codes', text: codes.join('\n'), rows: codes.length })}
<p class="actions"><a class="button primary" href="/profile">I have kept them</a></p></div>`;
}

/** Drawn here: the secret goes to nobody else. */
function qrCode(text: string): string {
  return `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { border: 4 }))}`;
}
