import { createPeople, giveKey } from '../../support/data/actors.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { administrator } = await createPeople(dashboard.db);
const { id } = await giveKey(dashboard.db, administrator);
const browser = await browserOf(dashboard, administrator);

test.each([
  '/profile',
  '/profile/api-keys',
  `/profile/api-keys/${id}`,
  '/people/users',
  `/people/users/${administrator.userId}`,
  '/organization/audit-log',
])('%s: every icon is in the sprite, and screen readers skip all of them', async (path) => {
  const { text } = await browser.get(path);
  const names = [...text.matchAll(/<use href="#([\w-]+)"/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(5);
  const known = [...text.matchAll(/<symbol id="([\w-]+)"/g)].map(([, name]) => name);
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
  const pictures = [...text.matchAll(/<svg [^>]*>/g)].map(([tag]) => tag);
  expect(pictures.filter((tag) => !tag.includes('aria-hidden="true"'))).toEqual([]);
});
