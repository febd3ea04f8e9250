import { orThrow } from '../../../src/service/outcome.ts';
import { removeDomain } from '../../../src/service/single-sign-on/domains.ts';
import { saveRules } from '../../../src/service/single-sign-on/rules.ts';
import { removeConnection, saveConnection } from '../../../src/service/single-sign-on/settings.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { beginWith, LOCAL, urlIn } from '../../support/data/single-sign-on.ts';
import { type Company, useCompanies } from '../../support/http/companies.ts';
import { startIdentityProvider } from '../../support/http/identity-provider.ts';

const { db, provider, company, newBrowser, isIn, signIn, expectNobody } = await useCompanies();

describe('a change of the settings while the provider is asked', () => {
  /** Signs in as somebody who is linked, and as somebody new. The change is made before the provider's response. */
  async function signInDuring(
    change: (theirs: Company) => Promise<unknown>,
  ): Promise<{ status: number; in: boolean }[]> {
    const results = [];
    for (const isNew of [false, true]) {
      const theirs = await company({ rules: { newPeople: 'viewer' } });
      const email = isNew ? `new@${theirs.domain}` : theirs.member.email;
      const browser = newBrowser();
      const person = isNew ? { sub: crypto.randomUUID(), email } : theirs.person;
      const response = provider.authorize(await beginWith(browser, email), person);
      provider.override = async (_, path) => {
        if (path === '/token') await change(theirs);
        return false;
      };
      const page = await browser.get(response);
      provider.override = null;
      results.push({ status: page.status, in: await isIn(browser) });
      if (isNew) expect(await db.prisma.user.count({ where: { email } })).toBe(0);
    }
    return results;
  }

  const REFUSED = { status: 400, in: false };
  const connection = ({ issuer, clientId, clientSecret } = provider) => ({ issuer, clientId, clientSecret });

  test.each([
    ['to another client', () => ({ ...connection(), clientId: 'another' })],
    ['to another issuer', () => ({ ...connection(), issuer: 'https://login.example' })],
  ])('of the connection %s signs nobody in', async (_, content) => {
    const save = ({ administrator }: Company) =>
      saveConnection(db, administrator, { ...content(), targets: LOCAL }).then(orThrow);
    expect(await signInDuring(save)).toEqual([REFUSED, REFUSED]);
  });

  test('that removes the connection signs nobody in', async () => {
    const remove = ({ administrator }: Company) => removeConnection(db, administrator).then(orThrow);
    expect(await signInDuring(remove)).toEqual([REFUSED, REFUSED]);
  });

  test('that removes the connection, or changes its client, begins no sign-in', async () => {
    const change = ({ administrator }: Company) =>
      saveConnection(db, administrator, { ...connection(), clientId: 'another', targets: LOCAL }).then(orThrow);
    const remove = ({ administrator }: Company) => removeConnection(db, administrator).then(orThrow);
    for (const act of [change, remove]) {
      // A provider whose metadata nobody has read yet.
      const slow = await startIdentityProvider();
      const theirs = await company({ at: slow });
      slow.override = async () => {
        await act(theirs);
        return false;
      };
      const page = await newBrowser().submit('/sign-in', { email: theirs.member.email });
      expect([page.status, urlIn(page)]).toEqual([400, null]);
      const { organizationId } = theirs.administrator.scope;
      expect(await db.prisma.ssoSignIn.count({ where: { organizationId } })).toBe(0);
      await slow.close();
    }
  });

  test('of the rules counts for somebody new', async () => {
    const rules = { newPeople: '', groupsClaim: '', groupRoles: '' };
    const close = ({ administrator }: Company) => saveRules(db, administrator, rules).then(orThrow);
    expect(await signInDuring(close)).toEqual([
      { status: 303, in: true },
      { status: 403, in: false },
    ]);
  });

  test.each([
    [
      'of the client',
      400,
      ({ administrator }: Company) =>
        saveConnection(db, administrator, { ...connection(), clientId: 'another', targets: LOCAL }).then(orThrow),
    ],
    [
      'of the domain',
      403,
      ({ administrator, domain }: Company) => removeDomain(db, administrator, { domain }).then(orThrow),
    ],
  ])('%s refuses a confirmation that waits', async (_, status, change) => {
    const theirs = await company();
    const browser = newBrowser();
    const { email } = theirs.administrator;
    const page = await signIn(browser, theirs.member.email, { sub: crypto.randomUUID(), email });
    const form = await browser.form(page.headers['location'] ?? '');
    await change(theirs);
    const fields = { ...Object.fromEntries(form.fields), password: PASSWORD };
    await expectNobody(browser, await browser.post(form.action, fields), status);
    expect(await db.prisma.ssoIdentity.count({ where: { userId: theirs.administrator.userId } })).toBe(0);
  });
});
