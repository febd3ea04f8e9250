import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { OrganizationScope } from '../../../src/domain/organizations/organization-scope.ts';
import type { MailConfig } from '../../../src/service/mail.ts';
import { type Browser, isIn, type Page } from '../dashboard/dashboard.ts';
import { newBrowser, useDashboard } from '../dashboard/dashboard-server.ts';
import { createAccount } from '../data/accounts.ts';
import { createScope } from '../data/actors.ts';
import { beginWith, connect, LOCAL, PUBLIC_URL } from '../data/single-sign-on.ts';
import { type Making, type TestPerson, useIdentityProvider } from './identity-provider.ts';

// For single sign-on: organizations whose people may sign in at a provider that does what a test tells it to.

export type Company = {
  readonly scope: OrganizationScope;
  readonly domain: string;
  readonly administrator: Actor;
  readonly member: Actor;
  readonly person: TestPerson;
};

export async function useCompanies({ publicUrl = PUBLIC_URL, mail }: { publicUrl?: string; mail?: MailConfig } = {}) {
  const dashboard = await useDashboard({ webhooks: LOCAL, publicUrl, ...(mail && { mail }) });
  const { db } = dashboard;
  const provider = await useIdentityProvider();
  let made = 0;

  /** An organization whose people may sign in at the provider. Its member is linked to the person there. */
  async function company(
    options: { rules?: Parameters<typeof connect>[2]['rules']; at?: typeof provider } = {},
  ): Promise<Company> {
    made += 1;
    const domain = `company-${made}.example`;
    const scope = await createScope(db);
    const named = async (role: 'administrator' | 'member') => {
      const account = await createAccount(db, { scope, role });
      const email = `${role}@${domain}`;
      await db.prisma.user.updateMany({ where: { id: account.userId }, data: { email } });
      return { ...account, email };
    };
    const [administrator, member] = [await named('administrator'), await named('member')];
    const { at = provider, rules = {} } = options;
    await connect(db, administrator, { provider: at, rules });
    const person = { sub: `member-${made}`, email: member.email, email_verified: true };
    const { organizationId } = scope;
    await db.prisma.ssoIdentity.create({
      data: { organizationId, userId: member.userId, issuer: at.issuer, subject: person.sub },
    });
    return { scope, domain, administrator, member, person };
  }

  /** Signs in at the provider, which makes the ID token as it is told. */
  async function signIn(browser: Browser, email: string, person: TestPerson, making: Making = {}): Promise<Page> {
    return browser.get(provider.authorize(await beginWith(browser, email), person, making));
  }

  async function expectNobody(browser: Browser, page: Page, status: number): Promise<void> {
    expect([page.status, await isIn(browser)]).toEqual([status, false]);
  }

  return { dashboard, db, provider, company, newBrowser: () => newBrowser(dashboard), isIn, signIn, expectNobody };
}
