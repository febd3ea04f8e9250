import type { Actor } from '../../domain/actor.ts';
import { passwordCharacters } from '../../domain/password.ts';
import { count } from '../../domain/words.ts';
import type { Problem } from '../http/errors.ts';
import { type Html, html } from '../markup/html.ts';
import {
  badge,
  done as doneNotice,
  emailText,
  facts,
  head,
  passwordField,
  postForm,
  problemSummary,
} from '../markup/parts.ts';
import { ROLE_WORDS } from '../markup/words.ts';

export const DONE = new Map([
  ['password', 'Your password is changed. Every other session of yours has ended.'],
  ['factor-off', 'Your second factor is off.'],
]);

export const UP = { name: 'My profile', href: '/profile' };

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
  { name: 'E-mail', value: emailText(actor.email) },
  { name: 'Organization', value: actor.organizationName },
  { name: 'Role', value: html`${name}<span class="under">${meaning}</span>` },
])}</section>
<section class="card" aria-labelledby="signing-in"><h2 id="signing-in">Signing in</h2>
<div class="setting"><div><h3>Password</h3><p class="quiet">Changing it ends every other session of yours.</p></div><a class="button" href="/profile/password">Change password</a></div>
<div class="setting"><div><h3>Second factor ${actor.hasSecondFactor ? badge('good', 'On') : badge('neutral', 'Off')}</h3>
<p class="quiet">${actor.hasSecondFactor ? 'Sign-in asks for a code of your authenticator.' : 'A code from your phone beside the password keeps others out, even if they learn it.'}</p></div>
<a class="button" href="/profile/second-factor">${actor.hasSecondFactor ? 'Turn off' : 'Set up'}<span class="unseen"> the second factor</span></a></div>
${
  actor.hasSecondFactor &&
  html`<div class="setting"><div><h3>Recovery codes</h3><p class="quiet">${count(codesLeft, 'recovery code')} left, each for one sign-in without your authenticator.</p></div>
<a class="button" href="/profile/second-factor/recovery-codes">Make new<span class="unseen"> recovery codes</span></a></div>`
}</section>`;
}

type PasswordPageProps = { actor: Actor; formToken: string; problem: Problem | null };

export function password({ actor, formToken, problem }: PasswordPageProps): Html {
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
