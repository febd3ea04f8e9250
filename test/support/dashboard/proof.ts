import { codeAt, PASSWORD } from '../data/accounts.ts';
import { type Browser, type Fields, fillForm, type Page } from './dashboard.ts';
import { formsOf, textOf } from './forms.ts';

/** Fills in and sends the form of the page that asks for a proof. */
export async function giveProof(
  browser: Browser,
  page: Page | undefined,
  { password = PASSWORD, code }: { password?: string; code?: string } = {},
): Promise<Page> {
  const form = formsOf(page?.text ?? '').find(({ fields }) => fields.some(([name]) => name === 'proof_password'));
  if (form === undefined) throw new Error(`The response, with status ${page?.status}, does not ask for a proof.`);
  return browser.post(form.action, fillForm(form, { proof_password: password, ...(code && { proof_code: code }) }));
}

const URL = '/profile/second-factor';

/** Starts to set up a second factor. Returns the form that turns it on, with the current code of an authenticator. */
export async function confirmationOf(browser: Browser, now: Date): Promise<{ path: string; fields: Fields }> {
  const { text } = await browser.submit(URL);
  const [, uri = ''] = /href="(otpauth:[^"]*)"/.exec(text) ?? [];
  const form = formsOf(text).find(({ action }) => action === `${URL}/confirm`);
  if (form === undefined) throw new Error('The set-up has no form for the code.');
  return { path: form.action, fields: fillForm(form, { code: codeAt(textOf(uri), now) }) };
}
