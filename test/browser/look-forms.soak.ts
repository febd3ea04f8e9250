import { suspendOrganization } from '../../src/service/operator/organizations.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';
import { codeAt, openSession } from '../support/data/accounts.ts';
import { giveKey } from '../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../support/data/integrations.ts';
import { createRealisticTeam } from '../support/data/team.ts';

// Applies the checks of look.soak.ts to the pages that open after a form, and to the pages about integrations.

const site = await useSite({ script: AXE_SCRIPT });
const { db } = site.server;
const page = await site.sharedPage();
const WEBHOOKS = '/organization/webhooks';

let wrong: string[] = [];
beforeEach(() => {
  wrong = [];
});

/** Checks the page at the path, or the open page if there is no path. */
async function see(name: string, path?: string): Promise<void> {
  if (path !== undefined) await page.goto(path);
  wrong.push(...(await look(page, name)));
}

async function send(name: string, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await see(name);
}

test('pages that a form leads to pass the layout checks', async () => {
  const { administrator, member, keyId, usedKeyId, organizationId } = await createRealisticTeam(db);
  await site.switchTo(administrator, page);
  await page.goto('/profile/api-keys/new');
  await send('key-create-refused', 'Create API Key');
  await page.getByLabel('Name').fill('Warehouse export');
  await send('key-created', 'Create API Key');
  await page.goto(`/profile/api-keys/${keyId}/rotate`);
  await send('key-rotated', 'Rotate');
  await page.reload();
  await see('sent-already');
  await page.goto(`/people/users/${member.userId}/api-keys/${usedKeyId}/revoke`);
  await send('key-revoke-refused', 'Revoke');
  await page.goto(`/people/users/${member.userId}/api-keys/${usedKeyId}/restrict`);
  await page.getByLabel('Allowed addresses').fill('example.org');
  await page.getByLabel('Requests per second').fill('x');
  await send('key-restrict-refused', 'Save');
  await page.getByLabel('Allowed addresses').fill('192.0.2.0/24');
  await page.getByLabel('Requests per second').fill('20');
  await send('key-restrict-locks-out', 'Save');
  await page.goto('/organization');
  await page.getByLabel('Require allowed addresses').check();
  await send('organization-requires-addresses', 'Save policy');
  await see('organization-keys-without-addresses', '/organization/api-keys?addresses=none');
  await see('key-rotate-requires-addresses', `/people/users/${member.userId}/api-keys/${usedKeyId}/rotate`);
  await see('key-create-requires-addresses', '/profile/api-keys/new');
  await page.goto(`/people/users/${member.userId}`);
  await send('reset-link', 'Make a reset link');
  await page.goto('/profile/second-factor');
  await send('second-factor-secret', 'Set up');
  const uri = (await page.getByRole('link', { name: 'open it in the app' }).getAttribute('href')) ?? '';
  await page.getByLabel('Code').fill(codeAt(uri, new Date()));
  await send('second-factor-recovery-codes', 'Turn on');
  await see('profile-with-second-factor', '/profile');
  for (let i = 0; i < 2; i += 1) await openSession(db, administrator);
  await page.goto('/profile/sessions');
  await page
    .getByRole('button', { name: /^End the session of / })
    .first()
    .click();
  await see('sessions-several');
  await see('second-factor-off', '/profile/second-factor');
  await see('second-factor-new-codes', '/profile/second-factor/recovery-codes');
  await see('audit-log-proof', '/organization/audit-log?action=user.proof_failed');
  await page.goto(`/people/users/${member.userId}/api-keys/${usedKeyId}`);
  for (const summary of await page.locator('summary', { hasText: 'as a table' }).all()) await summary.click();
  await see('key-requests-as-tables');
  await page.goto('/profile/api-keys');
  await page.locator('summary', { hasText: 'Actions for key Nightly import, production' }).click();
  await see('keys-menu');
  await see('webhooks-none', WEBHOOKS);
  await page.getByRole('link', { name: 'Add an endpoint' }).click();
  await page.getByLabel('URL').fill('http://example.org/webhooks');
  await send('webhook-refused', 'Add the endpoint');
  await page.getByLabel('URL').fill('https://example.org/webhooks');
  await send('webhook-added', 'Add the endpoint');
  await page.getByRole('link', { name: 'I have copied it' }).click();
  await see('webhook-without-deliveries');
  await send('delivery-of-a-test-event', 'Send a test event');
  await see('audit-log-webhooks', '/organization/audit-log?action=webhook.created');
  await suspendOrganization(db, organizationId);
  await see('organization-suspended', '/organization');
  await see('keys-suspended', '/profile/api-keys');
  expect(wrong).toEqual([]);
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
  await site.switchTo(administrator, page);
  const [list, one] = ['/organization/integrations', `/organization/integrations/${integration.id}`];
  await see('integrations', list);
  await see('integrations-suspended', `${list}?state=suspended`);
  await see('integration-new', `${list}/new`);
  await send('integration-new-refused', 'Create integration');
  await see('integration', one);
  await see('integration-long-name', `${list}/${long.id}`);
  await see('integration-long-name-keys', `${list}/${long.id}/api-keys`);
  await see('integration-change', `${one}/change`);
  await see('integration-suspend', `${one}/suspend`);
  await see('integration-keys', `${one}/api-keys`);
  await see('integration-key-create', `${one}/api-keys/new`);
  await see('key-move', `/people/users/${manager.userId}/api-keys/${keyId}/move`);
  await page.getByLabel('Integration').selectOption({ label: `${name} (may read and write)` });
  await send('key-moved', 'Move');
  await see('keys-moved', `/people/users/${manager.userId}/api-keys`);
  await see('integration-key', `${one}/api-keys/${keyId}`);
  await see('user-demote', `/people/users/${manager.userId}/role?role=viewer`);
  await see('user-deactivate-owner', `/people/users/${manager.userId}/deactivate`);
  await page.getByLabel('New owner of the integrations').fill('nobody');
  await send('user-deactivate-owner-refused', 'Deactivate');
  await see('organization-keys-of-integrations', '/organization/api-keys');
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt: new Date() } });
  await see('integrations-without-owner', list);
  await see('integration-without-owner', `${list}/${idle.id}`);
  await see('audit-log-integrations', '/organization/audit-log?action=key.moved');
  await site.switchTo(manager, page);
  await see('integration-of-owner', one);
  expect(wrong).toEqual([]);
});
