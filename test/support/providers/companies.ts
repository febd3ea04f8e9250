import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { OrganizationScope } from '../../../src/domain/organizations/organization-scope.ts';
import type { MailConfig } from '../../../src/service/mail.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { vouchForDomain } from '../../../src/service/sign-in/single-sign-on/domains.ts';
import type { ProviderClient } from '../../../src/service/sign-in/single-sign-on/provider.ts';
import { type RulesContent, saveConnection, saveRules } from '../../../src/service/sign-in/single-sign-on/settings.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { type Browser, isIn, type Page } from '../dashboard/dashboard.ts';
import { newBrowser, useDashboard } from '../dashboard/dashboard-server.ts';
import { createAccount } from '../data/accounts.ts';
import { createScope } from '../data/actors.ts';
import { LOCAL } from '../data/webhooks.ts';
import { type Making, type TestPerson, useIdentityProvider } from './identity-provider.ts';

// Organizations for tests of single sign-on. Their people sign in at a provider that behaves as the test says.

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

  /** Creates an organization whose people can sign in at the provider. `member` is linked to `person` there. */
  async function company(
    options: { rules?: Parameters<typeof connect>[2]['rules']; at?: typeof provider } = {},
  ): Promise<Company> {
    made += 1;
    const domain = `company-${made}.example`;
    const scope = await createScope(db);
    const createNamed = async (role: 'administrator' | 'member') => {
      const account = await createAccount(db, { scope, role });
      const email = `${role}@${domain}`;
      await db.prisma.user.updateMany({ where: { id: account.userId }, data: { email } });
      return { ...account, email };
    };
    const [administrator, member] = [await createNamed('administrator'), await createNamed('member')];
    const { at = provider, rules = {} } = options;
    await connect(db, administrator, { provider: at, rules });
    const person = { sub: `member-${made}`, email: member.email, email_verified: true };
    const { organizationId } = scope;
    await db.prisma.ssoIdentity.create({
      data: { organizationId, userId: member.userId, issuer: at.issuer, subject: person.sub },
    });
    return { scope, domain, administrator, member, person };
  }

  /** Signs in at the provider. `making` changes the ID token. */
  async function signIn(browser: Browser, email: string, person: TestPerson, making: Making = {}): Promise<Page> {
    return browser.get(provider.authorize(await beginWith(browser, email), person, making));
  }

  async function expectNobody(browser: Browser, page: Page, status: number): Promise<void> {
    expect([page.status, await isIn(browser)]).toEqual([status, false]);
  }

  return { dashboard, db, provider, company, newBrowser: () => newBrowser(dashboard), isIn, signIn, expectNobody };
}

export const PUBLIC_URL = 'http://charter.example.org';

/** Connects the administrator's organization with a provider, and verifies the domain of the administrator's e-mail address. */
export async function connect(
  db: Database,
  administrator: Actor,
  {
    provider,
    rules = {},
    domain = administrator.email.split('@')[1] ?? '',
  }: { provider: ProviderClient; rules?: Partial<RulesContent>; domain?: string },
): Promise<void> {
  const { issuer, clientId, clientSecret } = provider;
  orThrow(await saveConnection(db, administrator, { issuer, clientId, clientSecret, targets: LOCAL }));
  orThrow(await saveRules(db, administrator, { newPeople: '', groupsClaim: '', groupRoles: '', ...rules }));
  await vouchForDomain(db, administrator.scope, { domain });
}

/** Enters the e-mail address on the sign-in page. Returns the URL at the provider. */
export async function beginWith(browser: Browser, email: string, next = '/profile'): Promise<string> {
  const page = await browser.submit(`/sign-in?next=${encodeURIComponent(next)}`, { email }, '/sign-in');
  const url = urlIn(page);
  if (url === null) throw new Error(`The sign-in of ${email} leads to no provider: ${page.status}.`);
  return url;
}

/** Submits the page that the provider's tile opens. Returns the URL at the provider. */
export async function beginAtTile(browser: Browser, start: string): Promise<string> {
  const [path = ''] = start.split('?');
  return urlIn(await browser.submit(start, {}, path)) ?? '';
}

/** Returns the URL that a page redirects to with the header Refresh; `null` if there is none. */
export function urlIn({ headers }: Page): string | null {
  return /^0; url=(.*)$/.exec(headers['refresh'] ?? '')?.[1] ?? null;
}
