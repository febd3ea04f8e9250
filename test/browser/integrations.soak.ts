import type { Page } from 'playwright-core';
import { apiStatus, chooseFromMenu, createKey, openOwnKeys } from '../support/browser/key-steps.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';
import { giveKey } from '../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../support/data/integrations.ts';

const site = await useSite({ script: AXE_SCRIPT });
const { db } = site.server;

async function openIntegrations(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Organization', exact: true }).click();
  await page.getByRole('link', { name: 'Integrations', exact: true }).click();
}

async function createIntegration(page: Page, name: string): Promise<void> {
  await openIntegrations(page);
  await page.getByRole('link', { name: 'Create an integration' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Role').selectOption('member');
  await page.getByRole('button', { name: 'Create integration' }).click();
  await page.getByText(`${name} is created.`).waitFor();
}

describe.each([
  ['with JavaScript', {}],
  ['without JavaScript', { javaScriptEnabled: false }],
])('%s', (_, options) => {
  test('a manager creates an integration with a key, suspends it and reactivates it', async () => {
    const { manager } = await site.team();
    const page = await site.visitAs(manager, options);
    await createIntegration(page, 'Nightly import');
    await page.getByRole('link', { name: 'API keys', exact: true }).last().click();
    const key = await createKey(page, 'Production');
    expect(await apiStatus(site.server, key)).toBe(200);
    await openIntegrations(page);
    await page.getByRole('link', { name: 'Nightly import' }).first().click();
    await page.getByRole('link', { name: 'Suspend' }).click();
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Nightly import is suspended.').waitFor();
    expect(await apiStatus(site.server, key)).toBe(401);
    await page.getByRole('button', { name: 'Reactivate' }).click();
    await page.getByText('Nightly import is active again').waitFor();
    expect(await apiStatus(site.server, key)).toBe(200);
  });

  test('an owner moves their own key to the integration, and still finds it in the list of moved keys', async () => {
    const { member } = await site.team();
    const integration = await giveIntegration(db, member, { name: 'Enrolment sync' });
    await giveIntegrationKey(db, member, integration, { name: 'Production' });
    const { key } = await giveKey(db, member, { name: 'Production' });
    const page = await site.visitAs(member, options);
    await openOwnKeys(page);
    await chooseFromMenu(page, 'Production', 'Move');
    await page.getByRole('button', { name: 'Move' }).click();
    await page.getByText('Enrolment sync has a key named "Production" already.').waitFor();
    await page.getByLabel('Name').fill('Production, moved');
    await page.getByRole('button', { name: 'Move' }).click();
    await page.getByText('Production, moved was moved here from Mei Tanaka.').waitFor();
    expect(await apiStatus(site.server, key)).toBe(200);
    await openOwnKeys(page);
    await page.getByRole('heading', { name: 'Moved to integrations' }).waitFor();
    await page.getByRole('link', { name: 'Production, moved' }).click();
    await page.getByText('from Mei Tanaka').waitFor();
  });

  test('an administrator who demotes or deactivates an owner chooses another one first', async () => {
    const { administrator, manager } = await site.team();
    const integration = await giveIntegration(db, manager, { name: 'Enrolment sync' });
    const { key } = await giveIntegrationKey(db, manager, integration);
    const page = await site.visitAs(administrator, options);
    await page.goto(`/people/users/${manager.userId}`);
    await page.getByLabel('Role').selectOption('viewer');
    await page.getByRole('button', { name: 'Change role' }).click();
    await page.getByText('owns 1 integration').waitFor();
    await page.getByLabel('New owner of the integrations').fill(manager.email);
    await page.getByRole('button', { name: 'Change role' }).click();
    await page.getByText(`The role of ${manager.name} is now Viewer.`).waitFor();
    await page.getByRole('link', { name: 'Deactivate' }).click();
    await page.getByLabel('New owner of the integrations').fill('nobody@example.test');
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText('Please correct').waitFor();
    await page.getByLabel('New owner of the integrations').fill(administrator.email);
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText(`${manager.name} is deactivated`).waitFor();
    expect(await apiStatus(site.server, key)).toBe(200);
    await openIntegrations(page);
    await page.getByRole('cell', { name: administrator.name }).waitFor();
  });
});

test('an administrator takes an integration without an active owner, which every page of the organization names', async () => {
  const { administrator, member } = await site.team();
  await giveIntegration(db, member, { name: 'Enrolment sync' });
  // As a server of the version before does.
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt: new Date() } });
  const page = await site.visitAs(administrator);
  await page.getByRole('link', { name: 'Organization', exact: true }).click();
  await page.getByText('An integration has no active owner.').waitFor();
  await page.getByRole('link', { name: 'See the integrations' }).click();
  await page.getByRole('link', { name: 'Enrolment sync' }).first().click();
  await page.getByRole('button', { name: 'Take ownership' }).click();
  await page.getByText(`${administrator.name} is the owner now.`).waitFor();
  expect(await page.getByText('has no active owner').count()).toBe(0);
});

test('a member who owns an integration reaches it from the navigation, and changes nothing about it', async () => {
  const { member, viewer } = await site.team();
  await giveIntegration(db, member, { name: 'Enrolment sync' });
  const page = await site.visitAs(member);
  await page.getByRole('link', { name: 'Organization', exact: true }).click();
  await page.getByRole('link', { name: 'Enrolment sync' }).first().click();
  for (const name of ['Change', 'Suspend']) expect(await page.getByRole('link', { name }).count()).toBe(0);
  const other = await site.visitAs(viewer);
  expect(await other.getByRole('link', { name: 'Organization', exact: true }).count()).toBe(0);
});

test('the pages of integrations pass the layout checks', async () => {
  const { administrator, manager, member } = await site.team();
  const name = 'Enrolment sync of all partner universities, weekdays';
  const integration = await giveIntegration(db, manager, { name });
  const description =
    'Copies parent programs to the enrolment system every quarter of an hour.\nRuns in the data centre.';
  await db.prisma.user.updateMany({
    where: { id: integration.id },
    data: { description, noticeEmail: 'team@northwind.example' },
  });
  const idle = await giveIntegration(db, member, { name: 'Reporting', role: 'viewer' });
  const long = await giveIntegration(db, manager, {
    name: 'Wolfeschlegelsteinhausenbergerdorff'.repeat(6).slice(0, 200),
  });
  await giveIntegrationKey(db, manager, integration, { name: 'Production' });
  const { id: keyId } = await giveKey(db, manager, { name: 'Laptop of a contractor' });
  const page = await site.sharedPage();
  await site.switchTo(administrator, page);
  const wrong: string[] = [];
  const visit = async (title: string, path: string) => {
    await page.goto(path);
    wrong.push(...(await look(page, title)));
  };
  const [list, one] = ['/organization/integrations', `/organization/integrations/${integration.id}`];
  await visit('integrations', list);
  await visit('integrations-suspended', `${list}?state=suspended`);
  await visit('integration-new', `${list}/new`);
  await page.getByRole('button', { name: 'Create integration' }).click();
  wrong.push(...(await look(page, 'integration-new-refused')));
  await visit('integration', one);
  await visit('integration-long-name', `${list}/${long.id}`);
  await visit('integration-long-name-keys', `${list}/${long.id}/api-keys`);
  await visit('integration-change', `${one}/change`);
  await visit('integration-suspend', `${one}/suspend`);
  await visit('integration-keys', `${one}/api-keys`);
  await visit('integration-key-create', `${one}/api-keys/new`);
  await visit('key-move', `/people/users/${manager.userId}/api-keys/${keyId}/move`);
  await page.getByLabel('Integration').selectOption({ label: `${name} (may read and write)` });
  await page.getByRole('button', { name: 'Move' }).click();
  wrong.push(...(await look(page, 'key-moved')));
  await visit('keys-moved', `/people/users/${manager.userId}/api-keys`);
  await visit('integration-key', `${one}/api-keys/${keyId}`);
  await visit('user-demote', `/people/users/${manager.userId}/role?role=viewer`);
  await visit('user-deactivate-owner', `/people/users/${manager.userId}/deactivate`);
  await page.getByLabel('New owner of the integrations').fill('nobody');
  await page.getByRole('button', { name: 'Deactivate' }).click();
  wrong.push(...(await look(page, 'user-deactivate-owner-refused')));
  await visit('organization-keys-of-integrations', '/organization/api-keys');
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt: new Date() } });
  await visit('integrations-without-owner', list);
  await visit('integration-without-owner', `${list}/${idle.id}`);
  await visit('audit-log-integrations', '/organization/audit-log?action=key.moved');
  await site.switchTo(manager, page);
  await visit('integration-of-owner', one);
  expect(wrong).toEqual([]);
});
