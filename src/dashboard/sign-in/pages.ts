import type { OpenLink } from '../../service/access-links.ts';
import type { Problem } from '../http/errors.ts';
import { type Html, html } from '../markup/html.ts';
import { done as doneNotice, field, hidden, passwordField, postForm, problemSummary } from '../markup/parts.ts';

export const DONE = new Map([
  ['signed-out', 'You are signed out.'],
  ['ended', 'That took too long, or the sign-in was ended. Please sign in again.'],
  ['password', 'Your password is set. Sign in with it.'],
]);

type Frame = { formToken: string; problem: Problem | null };

export function signIn({
  email,
  next,
  formToken,
  problem,
  done,
}: Frame & { email: string; next: string; done: string | undefined }): Html {
  return html`<section class="card guest-card"><h1>Sign in</h1>
${doneNotice(done)}${problemSummary(problem, {})}
${postForm(
  { action: '/sign-in', formToken },
  html`${hidden('next', next)}
${field(
  { name: 'email', label: 'E-mail' },
  (attributes) => html`<input ${attributes} type="email" value="${email}" autocomplete="username" required>`,
)}
${passwordField({ name: 'password', label: 'Password', autocomplete: 'current-password' })}
<div class="actions"><button class="button primary wide">Sign in</button></div>`,
)}
<p class="aside"><a href="/forgotten-password">Forgotten your password?</a></p></section>`;
}

export function secondFactor({ next, formToken, problem }: Frame & { next: string }): Html {
  return html`<section class="card guest-card"><h1>Second factor</h1>
${problemSummary(problem, {})}
${postForm(
  { action: '/sign-in/second-factor', formToken },
  html`${hidden('next', next)}
${field(
  {
    name: 'code',
    label: 'Code',
    hint: 'The six digits that your authenticator shows now, or one of your recovery codes.',
  },
  (attributes) =>
    html`<input ${attributes} class="code" type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="40" required autofocus>`,
)}
<div class="actions"><button class="button primary wide">Sign in</button></div>`,
)}
<p class="aside"><a href="/sign-in">Start again</a></p></section>`;
}

export function forgotten({ formToken, canMail, email, problem }: Frame & { canMail: boolean; email: string }): Html {
  if (!canMail) {
    return html`<section class="card guest-card"><h1>Forgotten password</h1>
<p>Ask an administrator or a manager of your organization for a reset link. They find it under <strong>People</strong>, at your name.</p>
<p class="aside"><a href="/sign-in">Back to the sign-in</a></p></section>`;
  }
  return html`<section class="card guest-card"><h1>Forgotten password</h1>
<p>We send you a link with which you choose a new one. It works once, within an hour.</p>
${problemSummary(problem, {})}
${postForm(
  { action: '/forgotten-password', formToken },
  html`${field(
    { name: 'email', label: 'E-mail' },
    (attributes) => html`<input ${attributes} type="email" value="${email}" autocomplete="username" required>`,
  )}
<div class="actions"><button class="button primary wide">Send the link</button></div>`,
)}
<p class="aside"><a href="/sign-in">Back to the sign-in</a></p></section>`;
}

/** The same whoever asked: it tells nobody which e-mails have an account. */
export function askedReset(): Html {
  return html`<section class="card guest-card"><h1>Look into your mail</h1>
<p>If the e-mail belongs to an account here, a link is on its way. If nothing comes within a few minutes, ask an administrator of your organization.</p>
<p class="aside"><a href="/sign-in">Back to the sign-in</a></p></section>`;
}

export function choosePassword({
  link,
  action,
  formToken,
  problem,
  isTooShort,
}: Frame & { link: OpenLink; action: string; isTooShort: boolean }): Html {
  const { name, email, organizationName, kind, passwordCharacters } = link;
  return html`<section class="card guest-card"><h1>Choose your password</h1>
<p>${kind === 'invitation' ? `Welcome to ${organizationName}, ${name}.` : `Hello ${name}.`} You sign in as <strong>${email}</strong>.</p>
${isTooShort && html`<p>Your second factor was removed, and without one your password is too short. Choose a longer one, then sign in with it.</p>`}
${problemSummary(problem, { password: 'Password' })}
${postForm(
  { action, formToken },
  html`<input type="hidden" autocomplete="username" value="${email}">
${passwordField({
  name: 'password',
  label: 'Password',
  autocomplete: 'new-password',
  hint: `At least ${passwordCharacters} characters. A few unrelated words are strong and easy to remember.`,
  errors: problem?.fields,
})}
<div class="actions"><button class="button primary wide">Set the password</button></div>`,
)}</section>`;
}
