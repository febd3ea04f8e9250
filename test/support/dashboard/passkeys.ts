import { Authenticator, type Deviation } from './authenticator.ts';
import { type Browser, filled, type Page } from './dashboard.ts';
import { formsOf, type PageForm } from './forms.ts';

/** The form of the page that the script for passkeys would send. */
function passkeyFormIn(page: Page): PageForm {
  const form = formsOf(page.text).find(({ fields }) => fields.some(([name]) => name === 'credential'));
  if (form === undefined) throw new Error(`The response, with status ${page.status}, has no form for a passkey.`);
  return form;
}

/** The options that the script would pass to the browser. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
export async function optionsFrom(browser: Browser, page: Page): Promise<any> {
  const [, url = ''] = /data-options="([^"]*)"/.exec(page.text) ?? [];
  const form_token = new Map(passkeyFormIn(page).fields).get('form_token');
  const response = await browser.post(url, { form_token });
  if (response.status !== 200) throw new Error(`The options are refused with ${response.status}: ${response.text}`);
  return JSON.parse(response.text);
}

/** Sends the form of the page with this response of an authenticator. */
export async function sendCredential(
  browser: Browser,
  page: Page,
  { credential, name }: { credential: string; name?: string },
): Promise<Page> {
  const form = passkeyFormIn(page);
  return browser.post(form.action, filled(form, { credential, ...(name !== undefined && { name }) }));
}

type Adding = { readonly name?: string; readonly counter?: number; readonly deviation?: Deviation };

/** Adds a passkey to the account of a signed-in person, whose proof must be fresh. */
export async function addPasskeyTo(
  browser: Browser,
  origin: string,
  { name = 'Laptop', counter = 1, deviation = {} }: Adding = {},
): Promise<Authenticator> {
  const authenticator = new Authenticator(origin, { counter });
  const page = await browser.get('/profile/passkeys/new');
  const credential = authenticator.create(await optionsFrom(browser, page), deviation);
  const { status } = await sendCredential(browser, page, { credential, name });
  if (status !== 303) throw new Error(`The passkey is refused with ${status}.`);
  return authenticator;
}

/** Answers the page that asks for a proof. */
export async function provePasskey(browser: Browser, page: Page, authenticator: Authenticator | null): Promise<Page> {
  if (authenticator === null) throw new Error('There is no passkey.');
  const credential = authenticator.get(await optionsFrom(browser, page));
  return sendCredential(browser, page, { credential });
}

/** Signs in with the passkey, from the first request for the page on. */
export async function signInWithPasskey(
  browser: Browser,
  authenticator: Authenticator,
  deviation: Deviation = {},
): Promise<Page> {
  const page = await browser.get('/sign-in');
  const credential = authenticator.get(await optionsFrom(browser, page), deviation);
  return sendCredential(browser, page, { credential });
}
