import {
  apiStatus,
  backToList,
  chooseFromMenu,
  createKey,
  openKeysOf,
  rotateKey,
  rowOf,
} from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';
import { giveKey } from '../support/data/actors.ts';

const site = await useSite();

test('a manager makes a key for a member: People -> Users -> (user) -> API keys -> Create API Key', async () => {
  const { manager, member } = await site.team();
  const page = await site.visitAs(manager);
  await openKeysOf(page, 'Mei Tanaka');
  await page.getByRole('link', { name: 'Create API Key' }).click();
  expect(await page.getByRole('main').innerText()).toContain(`The key acts for Mei Tanaka, ${member.email}.`);
  await page.getByLabel('Name').fill('For Mei');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  const key = await page.getByLabel('API key', { exact: true }).inputValue();
  expect(await apiStatus(site.server, key)).toBe(200);
  await backToList(page);
  expect(await rowOf(page, 'For Mei').innerText()).toContain('by Mateo Lindqvist');
  const own = await site.visitAs(member);
  await own.goto('/profile/api-keys');
  expect(await rowOf(own, 'For Mei').count()).toBe(1);
});

test('a manager can make their own key the same way', async () => {
  const { manager } = await site.team();
  const page = await site.visitAs(manager);
  await openKeysOf(page, 'Mateo Lindqvist');
  expect(await apiStatus(site.server, await createKey(page, 'Mine'))).toBe(200);
});

test("a manager rotates a member's key: the old one gets 401 at once, the new one 200", async () => {
  const { manager, member } = await site.team();
  const { key: old } = await giveKey(site.server.db, member, { name: 'Production' });
  const page = await site.visitAs(manager);
  await openKeysOf(page, 'Mei Tanaka');
  const key = await rotateKey(page, 'Production');
  expect(await apiStatus(site.server, old)).toBe(401);
  expect(await apiStatus(site.server, key)).toBe(200);
});

test("a manager can revoke an administrator's key, and sees no other action for it", async () => {
  const { manager, administrator } = await site.team();
  const { key } = await giveKey(site.server.db, administrator, { name: 'Leaked' });
  const page = await site.visitAs(manager);
  await openKeysOf(page, 'Adaeze Okafor');
  expect(await page.getByRole('link', { name: 'Create API Key' }).count()).toBe(0);
  await page.getByText('You may not create API keys for an administrator').waitFor();
  await page.getByText('Actions for key Leaked').locator('xpath=ancestor::summary').click();
  expect(await rowOf(page, 'Leaked').getByRole('listitem').allInnerTexts()).toEqual(['Revoke']);
  await page.getByRole('link', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('was revoked. It is refused from now on.').waitFor();
  expect(await apiStatus(site.server, key)).toBe(401);
});

test('when two people rotate a key concurrently, one gets the new key and the other learns who rotated it and when', async () => {
  const { manager, member } = await site.team();
  const { key: old } = await giveKey(site.server.db, member, { name: 'Shared' });
  const theirs = await site.visitAs(manager);
  const own = await site.visitAs(member);
  await openKeysOf(theirs, 'Mei Tanaka');
  await own.goto('/profile/api-keys');
  await Promise.all([theirs, own].map((page) => chooseFromMenu(page, 'Shared', 'Rotate')));
  await Promise.all([theirs, own].map((page) => page.getByRole('button', { name: 'Rotate' }).click()));
  const titles = await Promise.all([theirs, own].map((page) => page.getByRole('heading', { level: 1 }).innerText()));
  expect(titles.toSorted()).toEqual(['API key rotated', 'This cannot be done now']);
  const isOwn = titles[1] === 'API key rotated';
  const [winner, loser] = isOwn ? [own, theirs] : [theirs, own];
  const told = await loser.getByRole('main').innerText();
  const who = isOwn ? 'Mei Tanaka' : 'Mateo Lindqvist';
  expect(told).toMatch(new RegExp(`"Shared" was rotated by ${who} on \\d+ \\w{3} \\d{4}, \\d\\d:\\d\\d UTC`));
  expect(told).not.toMatch(/charter_live_\w{5,}/);
  const key = await winner.getByLabel('API key', { exact: true }).inputValue();
  expect(await apiStatus(site.server, old)).toBe(401);
  expect(await apiStatus(site.server, key)).toBe(200);
  const active = { organizationId: member.scope.organizationId, userId: member.userId, rotatedAt: null };
  expect(await site.server.db.prisma.apiKey.count({ where: active })).toBe(1);
});

test('rotating a key that was just revoked creates none and says who revoked it', async () => {
  const { manager, member } = await site.team();
  await giveKey(site.server.db, member, { name: 'Leaked' });
  const own = await site.visitAs(member);
  await own.goto('/profile/api-keys');
  await chooseFromMenu(own, 'Leaked', 'Rotate');
  const theirs = await site.visitAs(manager);
  await openKeysOf(theirs, 'Mei Tanaka');
  await chooseFromMenu(theirs, 'Leaked', 'Revoke');
  await theirs.getByRole('button', { name: 'Revoke' }).click();
  await theirs.getByText('was revoked. It is refused from now on.').waitFor();
  await own.getByRole('button', { name: 'Rotate' }).click();
  expect(await own.getByRole('main').innerText()).toContain('was revoked by Mateo Lindqvist');
});
