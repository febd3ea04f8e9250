import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';
import { createLongNamedTeam } from '../support/data/realistic-team.ts';

const site = await useSite({ script: AXE_SCRIPT });

test('pages with names of the maximum length and ten keys pass the layout checks', async () => {
  const { administrator, manager, member, keyId } = await createLongNamedTeam(site.server.db);
  const page = await site.visitAs(administrator);
  const wrong: string[] = [];
  for (const [name, path] of [
    ['long-profile', '/profile'],
    ['long-keys', '/profile/api-keys'],
    ['long-key', `/profile/api-keys/${keyId}`],
    ['long-organization-keys', '/organization/api-keys'],
    ['long-organization-requests', '/organization/api-keys/requests'],
    ['long-key-rotate', `/profile/api-keys/${keyId}/rotate`],
    ['long-users', '/people/users'],
    ['long-user', `/people/users/${manager.userId}`],
    ['long-user-keys', `/people/users/${member.userId}/api-keys`],
    ['long-user-keys-revoked', `/people/users/${manager.userId}/api-keys`],
    ['long-user-deactivate', `/people/users/${member.userId}/deactivate`],
    ['long-organization', '/organization'],
    ['long-audit-log', '/organization/audit-log'],
  ] as const) {
    await page.goto(path);
    wrong.push(...(await look(page, name)));
  }
  await page.goto('/profile/api-keys/new');
  await page.getByLabel('Name').fill('The eleventh');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  wrong.push(...(await look(page, 'long-key-create-refused')));
  expect(wrong).toEqual([]);
});
