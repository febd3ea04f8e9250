import { suspendOrganization } from '../../src/service/operator/organizations.ts';
import { apiStatus, createKey, openOwnKeys } from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';
import { giveKey, NOBODY } from '../support/data/actors.ts';

const site = await useSite();

const SECTIONS = [
  { role: 'administrator', sections: ['My profile', 'People', 'Organization'], refused: [] },
  {
    role: 'manager',
    sections: ['My profile', 'People', 'Organization'],
    refused: ['/organization', '/organization/audit-log'],
  },
  { role: 'member', sections: ['My profile'], refused: ['/organization', '/people/users', '/people/users/invite'] },
  {
    role: 'viewer',
    sections: ['My profile'],
    refused: ['/organization/audit-log.csv', `/people/users/${NOBODY}/api-keys`],
  },
] as const;

test.each(SECTIONS)(
  'the navigation of the $role shows $sections, and other sections are refused with 403',
  async ({ role, sections, refused }) => {
    const team = await site.team();
    const page = await site.visitAs(team[role]);
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await navigation.waitFor();
    expect(await navigation.getByRole('link').allInnerTexts()).toEqual(sections);
    for (const section of sections) {
      await navigation.getByRole('link', { name: section }).click();
      expect(await navigation.locator('[aria-current]').innerText()).toBe(section);
    }
    for (const path of refused) {
      const response = await page.goto(path);
      expect({ path, status: response?.status() }).toEqual({ path, status: 403 });
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('You may not open this page');
    }
  },
);

test('the empty key list says what a key is for and how to make one', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await openOwnKeys(page);
  await page.getByRole('heading', { name: 'No API keys yet' }).waitFor();
  expect(await page.getByRole('main').innerText()).toContain(
    'With an API key a program, such as a nightly import, can use the API in your name.',
  );
  expect(await apiStatus(site.server, await createKey(page, 'The first'))).toBe(200);
});

test('a viewer learns which administrator to contact, and cannot open the form', async () => {
  const { viewer, administrator } = await site.team();
  const page = await site.visitAs(viewer);
  await openOwnKeys(page);
  const told = await page.getByRole('main').innerText();
  expect(told).toContain('You may not create API keys. Contact an administrator or support.');
  expect(told).toContain('Adaeze Okafor');
  const link = page.getByRole('link', { name: administrator.email });
  expect(await link.getAttribute('href')).toBe(`mailto:${administrator.email}`);
  expect(await page.getByRole('link', { name: 'Create API Key' }).count()).toBe(0);
  expect((await page.goto('/profile/api-keys/new'))?.status()).toBe(403);
  expect(await page.getByRole('link', { name: administrator.email }).count()).toBe(1);
});

test('every page says that the organization is suspended, and its keys get 403', async () => {
  const { administrator, organizationId } = await site.team();
  const { key } = await giveKey(site.server.db, administrator);
  await suspendOrganization(site.server.db, organizationId);
  const page = await site.visitAs(administrator);
  for (const path of ['/profile', '/profile/api-keys', '/people/users', '/organization', '/organization/audit-log']) {
    await page.goto(path);
    expect(await page.getByText('Northwind Learning Alliance is suspended.').count()).toBe(1);
  }
  await page.goto('/profile/api-keys');
  expect(await page.getByRole('link', { name: 'Create API Key' }).count()).toBe(0);
  expect(await apiStatus(site.server, key)).toBe(403);
});

test('a deactivated user loses the session with the next click, and the keys at once', async () => {
  const { administrator, member } = await site.team();
  const { key } = await giveKey(site.server.db, member);
  const theirs = await site.visitAs(member);
  await theirs.getByRole('heading', { name: 'My profile' }).waitFor();
  const page = await site.visitAs(administrator);
  await page.goto(`/people/users/${member.userId}`);
  await page.getByRole('link', { name: 'Deactivate' }).click();
  expect(await page.getByRole('main').innerText()).toContain('1 active API key of Mei Tanaka is revoked for good');
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('Mei Tanaka is deactivated:').waitFor();
  expect(await apiStatus(site.server, key)).toBe(401);
  await theirs.getByRole('link', { name: 'API keys' }).click();
  await theirs.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText(' is active again').waitFor();
  expect(await apiStatus(site.server, key)).toBe(401);
});

test('the last administrator cannot deactivate their own account and learns why', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator);
  await page.goto(`/people/users/${administrator.userId}/deactivate`);
  await page.getByRole('button', { name: 'Deactivate' }).click();
  expect(await page.getByRole('alert').innerText()).toMatch(/last .*administrator/i);
});
