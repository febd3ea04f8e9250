import { renderSVG } from 'uqr';
import type { Actor } from '../../domain/actor.ts';
import { passwordCharacters } from '../../domain/password.ts';
import type { Problem } from '../errors.ts';
import { type Html, html } from '../html.ts';
import {
  badge,
  copyField,
  done as doneNotice,
  facts,
  field,
  head,
  passwordField,
  postForm,
  problemSummary,
} from './parts.ts';
import { count, ROLE_WORDS } from './words.ts';

export const DONE = new Map([
  ['password', 'Your password is changed. Every other session of yours has ended.'],
  ['factor-off', 'Your second factor is off.'],
]);

const UP = { name: 'My profile', href: '/profile' };

export function profileHead(current: 'details' | 'api-keys'): Html {
  return head({
    title: 'My profile',
    tabs: {
      label: 'Profile pages',
      tabs: [
        { name: 'Details', href: '/profile', isCurrent: current === 'details' },
        { name: 'API keys', href: '/profile/api-keys', isCurrent: current === 'api-keys' },
      ],
    },
  });
}

export function profile({
  actor,
  codesLeft,
  done,
}: {
  actor: Actor;
  codesLeft: number;
  done: string | undefined;
}): Html {
  const { name, meaning } = ROLE_WORDS[actor.role];
  return html`${profileHead('details')}${doneNotice(done)}
<section class="card" aria-labelledby="you"><h2 id="you">You</h2>
${facts([
  { name: 'Name', value: actor.name },
  { name: 'E-mail', value: actor.email },
  { name: 'Organization', value: actor.organizationName },
  { name: 'Role', value: html`${name}<span class="under">${meaning}</span>` },
])}</section>
<section class="card" aria-labelledby="signing-in"><h2 id="signing-in">Signing in</h2>
<div class="setting"><div><h3>Password</h3><p class="quiet">Changing it ends every other session of yours.</p></div><a class="button" href="/profile/password">Change password</a></div>
<div class="setting"><div><h3>Second factor ${actor.hasSecondFactor ? badge('good', 'On') : badge('neutral', 'Off')}</h3>
<p class="quiet">${actor.hasSecondFactor ? `Sign-in asks for a code of your authenticator. ${count(codesLeft, 'recovery code')} left.` : 'A code from your phone beside the password keeps others out, even if they learn it.'}</p></div>
<a class="button" href="/profile/second-factor">${actor.hasSecondFactor ? 'Turn off' : 'Set up'}<span class="unseen"> the second factor</span></a></div></section>`;
}

type Frame = { actor: Actor; formToken: string; problem: Problem | null };

export function password({ actor, formToken, problem }: Frame): Html {
  return html`${head({ title: 'Change password', up: UP })}
${problemSummary(problem, { current_password: 'Current password', password: 'New password' })}
<div class="card narrow">${postForm(
    { action: '/profile/password', formToken },
    html`<input type="hidden" autocomplete="username" value="${actor.email}">
${passwordField({ name: 'current_password', label: 'Current password', autocomplete: 'current-password', errors: problem?.fields })}
${passwordField({
  name: 'password',
  label: 'New password',
  autocomplete: 'new-password',
  hint: `At least ${passwordCharacters(actor.hasSecondFactor)} characters. A few unrelated words are strong and easy to remember.`,
  errors: problem?.fields,
})}
<div class="actions"><button class="button primary">Change password</button><a class="button plain" href="/profile">Cancel</a></div>`,
  )}</div>`;
}

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
<p>You get a secret to put into it, then confirm with a first code. After that, each sign-in asks for the password and a code.</p>
${postForm(
  { action: '/profile/second-factor', formToken },
  html`<div class="actions"><button class="button primary">Set up</button><a class="button plain" href="/profile">Cancel</a></div>`,
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

export function recoveryCodes(codes: readonly string[]): Html {
  return html`${head({ title: 'Your second factor is on', up: UP })}
<div class="card narrow" data-secret>
<div class="notice warn"><p><strong>These recovery codes will not be shown again.</strong> Each opens your account once, should you lose your authenticator. Keep them where your phone is not.</p></div>
${copyField({ id: 'codes', label: 'Recovery codes', text: codes.join('\n'), rows: codes.length })}
<p class="actions"><a class="button primary" href="/profile">I have kept them</a></p></div>`;
}

/** Drawn here: the secret goes to nobody else. */
function qrCode(text: string): string {
  return `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { border: 4 }))}`;
}
