import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { Browser } from '../dashboard/dashboard.ts';
import { newBrowser as newBrowserAt, useDashboard } from '../dashboard/dashboard-server.ts';
import { formsOf } from '../dashboard/forms.ts';
import { type Authenticator, provePasskey } from '../dashboard/passkeys.ts';
import { addSecondFactor, ageProofs, createAccount, givePasskey, PASSWORD } from '../data/accounts.ts';
import { listAuditEventsOf } from '../data/actors.ts';
import { startSmtp } from '../servers/smtp.ts';
import { useCompanies } from './companies.ts';

export const SETTINGS = '/organization/sign-in';

/** The URL of the server with HTTPS, which passkeys need. */
export const SECURE_URL = 'https://charter.example.org';

/** Starts servers for organizations that can require single sign-on and have a break-glass administrator each. */
export async function useRequirement() {
  const smtp = await startSmtp();
  afterAll(() => smtp.close());
  const mail = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
  const { dashboard, db, provider, newBrowser, ...companies } = await useCompanies({ mail });
  const secure = await useDashboard({ databaseUrl: dashboard.databaseUrl, publicUrl: SECURE_URL, mail });

  /** Returns a browser that uses HTTPS, with the session of another browser. */
  function secureBrowser(from?: Browser): Browser {
    const browser = newBrowserAt(secure);
    if (from !== undefined) browser.cookies.set('__Host-charter', from.cookies.get('charter') ?? '');
    return browser;
  }

  const withPassword = (browser: Browser, email: string) =>
    browser.submit('/sign-in?with=password', { email, password: PASSWORD }, '/sign-in');

  /**
   * Creates an organization with an administrator who is signed in by single sign-on, a break-glass administrator with all ways
   * to sign in, and a member.
   */
  async function company() {
    const theirs = await companies.company();
    const { scope, administrator, domain } = theirs;
    const breakGlass = await createAccount(db, { scope, role: 'administrator' });
    const data = { name: 'Berta', email: `berta@${domain}` };
    await db.prisma.user.updateMany({ where: { id: breakGlass.userId }, data });
    const { uri } = await addSecondFactor(db, breakGlass, dashboard.now());
    await givePasskey(db, breakGlass);
    const browser = newBrowser();
    const person = { sub: administrator.email, email: administrator.email };
    const toConfirm = await companies.signIn(browser, administrator.email, person);
    await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
    return { ...theirs, breakGlass: { ...breakGlass, ...data }, uri, browser };
  }

  const requireSingleSignOn = (browser: Browser, { userId }: { readonly userId: string }) =>
    browser.submit(SETTINGS, { break_glass: userId }, `${SETTINGS}/require`);

  /** Creates an organization as `company` does, and makes it require single sign-on. */
  async function requiringCompany() {
    const found = await company();
    const { headers } = await requireSingleSignOn(found.browser, found.breakGlass);
    expect(headers['location']).toBe(`${SETTINGS}?done=required`);
    return found;
  }

  /** Checks that the person can give a proof with the passkey, but not with a password, even in a hand-made request. */
  async function expectProofByPasskeyOnly(browser: Browser, actor: Actor, authenticator: Authenticator): Promise<void> {
    const path = '/profile/api-keys';
    await ageProofs(db, actor);
    const asked = await browser.submit(`${path}/new`, { name: 'Late' }, path);
    expect([asked.status, asked.text.includes('proof_password')]).toEqual([403, false]);
    const { form_token, sealed_form } = Object.fromEntries(formsOf(asked.text).flatMap(({ fields }) => fields));
    expect((await browser.post(path, { form_token, sealed_form, proof_password: PASSWORD })).status).toBe(422);
    expect((await provePasskey(browser, asked, authenticator)).status).toBe(200);
  }

  /** Returns the reasons of the failed sign-ins in the organization, oldest first. */
  const refusalReasonsOf = async (actor: Pick<Actor, 'scope'>) =>
    (await listAuditEventsOf(db, actor)).flatMap(({ action, detail }) =>
      action === 'user.sign_in_failed' && typeof detail === 'object' && detail !== null && 'why' in detail
        ? [detail['why']]
        : [],
    );

  return {
    ...{ dashboard, secure, smtp, db, provider, newBrowser, secureBrowser, withPassword },
    ...{ company, requiringCompany, requireSingleSignOn, expectProofByPasskeyOnly, refusalReasonsOf },
  };
}
