import { changeLimits } from '../../../src/service/operator/organizations.ts';
import { createPeople } from '../../support/data/actors.ts';
import { wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { db } = dashboard;

test('a saved policy is shown and applies from the next page on, and a wrong one is named and kept', async () => {
  const { administrator, member } = await createPeople(db);
  const [browser, theirs] = [await browserOf(dashboard, administrator), await browserOf(dashboard, member)];
  const policy = { max_key_life_days: '45', allows_unending_keys: 'yes', members_may_create_keys: undefined };
  const saved = await browser.submit('/organization', policy);
  const page = await browser.get(saved.headers['location'] ?? '');
  expect(wordsOf(page)).toContain('The policy is saved.');
  expect(page.text).toMatch(/name="max_key_life_days"[^>]* value="45"/);
  const { text } = await browser.get('/profile/api-keys/new');
  const [, options = ''] = /<select[^>]* name="expiry"[^>]*>(.*?)<\/select>/s.exec(text) ?? [];
  const offered = [...options.matchAll(/<option value="(\w+)"/g)].map(([, value]) => value);
  expect(offered).toEqual(['7', '30', '45', 'day', 'never']);
  expect((await theirs.get('/profile/api-keys/new')).status).toBe(403);
  const refused = await browser.submit('/organization', { max_key_life_days: '3651' });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('href="#max_key_life_days"')]);
  expect(refused.text).toMatch(/name="max_key_life_days"[^>]* value="3651"/);
});

test('the page of the organization shows the rate limits in effect: the defaults, its own, and none', async () => {
  const { administrator, scope } = await createPeople(db);
  const browser = await browserOf(dashboard, administrator);
  const words = async () => wordsOf(await browser.get('/organization'));
  expect(await words()).toMatch(/ [\d,]+ requests per second for each API key [\d,]+ requests per second for all/);
  await changeLimits(db, scope.organizationId, { perKey: 30, perOrganization: 0 });
  expect(await words()).toMatch(/ 30 requests per second for each API key no limit for all API keys together/i);
});
