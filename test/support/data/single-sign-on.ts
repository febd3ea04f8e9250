import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { WebhookTargets } from '../../../src/domain/webhooks/forbidden-address.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import type { ProviderClient } from '../../../src/service/sign-in/single-sign-on/provider.ts';
import { vouchForDomain } from '../../../src/service/sign-in-settings/domains.ts';
import { type RulesContent, saveConnection, saveRules } from '../../../src/service/sign-in-settings/single-sign-on.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { placeOfClientSecret } from '../../../src/store/sql/secrets.ts';
import type { Browser, Page } from '../dashboard/dashboard.ts';

/** Where the providers of the tests are. */
export const LOCAL: WebhookTargets = { allowHttp: true, allowedNetworks: ['127.0.0.1'] };

export const PUBLIC_URL = 'http://charter.example.org';

/** A connection of the administrator's organization, with the verified domain of the administrator's e-mail. */
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

/** Links the user without a sign-in, at a provider that does not exist. */
export async function linkDirectly({ prisma, keyring }: Database, { scope, userId }: Actor): Promise<void> {
  const { organizationId } = scope;
  const issuer = 'https://login.example';
  const clientSecret = keyring.encrypt(Buffer.from('secret'), placeOfClientSecret(organizationId));
  await prisma.ssoConnection.create({ data: { organizationId, issuer, clientId: 'charter', clientSecret } });
  await prisma.ssoIdentity.create({ data: { organizationId, userId, issuer, subject: userId } });
}

/** Types the e-mail at the sign-in. Returns the URL at the provider. */
export async function beginWith(browser: Browser, email: string, next = '/profile'): Promise<string> {
  const page = await browser.submit(`/sign-in?next=${encodeURIComponent(next)}`, { email }, '/sign-in');
  const url = urlIn(page);
  if (url === null) throw new Error(`The sign-in of ${email} leads to no provider: ${page.status}.`);
  return url;
}

/** Continues at the page that a tile of the provider opens. Returns the URL at the provider. */
export async function beginAtTile(browser: Browser, start: string): Promise<string> {
  const [path = ''] = start.split('?');
  return urlIn(await browser.submit(start, {}, path)) ?? '';
}

/** Where a page leads on by itself. */
export function urlIn({ headers }: Page): string | null {
  return /^0; url=(.*)$/.exec(headers['refresh'] ?? '')?.[1] ?? null;
}
