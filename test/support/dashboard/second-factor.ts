import { codeAt } from '../data/accounts.ts';
import { type Browser, type Fields, filled } from './dashboard.ts';
import { formsOf, textOf } from './forms.ts';

const URL = '/profile/second-factor';

/** Sets up a second factor. Returns the form that turns it on, with the code of an authenticator. */
export async function confirmationOf(browser: Browser, now: Date): Promise<{ path: string; fields: Fields }> {
  const { text } = await browser.submit(URL);
  const [, uri = ''] = /href="(otpauth:[^"]*)"/.exec(text) ?? [];
  const form = formsOf(text).find(({ action }) => action === `${URL}/confirm`);
  if (form === undefined) throw new Error('The set-up has no form for the code.');
  return { path: form.action, fields: filled(form, { code: codeAt(textOf(uri), now) }) };
}
