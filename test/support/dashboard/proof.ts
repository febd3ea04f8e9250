import { PASSWORD } from '../data/accounts.ts';
import { type Browser, filled, type Page } from './dashboard.ts';
import { formsOf } from './forms.ts';

/** Fills in the page that asks for a proof, and sends it. */
export async function giveProof(
  browser: Browser,
  page: Page | undefined,
  { password = PASSWORD, code }: { password?: string; code?: string } = {},
): Promise<Page> {
  const form = formsOf(page?.text ?? '').find(({ fields }) => fields.some(([name]) => name === 'proof_password'));
  if (form === undefined) throw new Error(`The response, with status ${page?.status}, does not ask for a proof.`);
  return browser.post(form.action, filled(form, { proof_password: password, ...(code && { proof_code: code }) }));
}
