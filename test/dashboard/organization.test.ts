import { changeLimits } from '../../src/service/operator/organizations.ts';
import { expectToSay, wordsOf } from '../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, startDashboard, useDashboard } from '../support/dashboard/dashboard-server.ts';
import { createPeople } from '../support/data/actors.ts';
import { giveIntegration } from '../support/data/integrations.ts';
import { PUBLIC_URL } from '../support/data/key-notices.ts';

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
  const { browser, scope } = await createSignedIn(dashboard, 'administrator');
  const words = async () => wordsOf(await browser.get('/organization'));
  expect(await words()).toMatch(/ [\d,]+ requests per second for each API key [\d,]+ requests per second for all/);
  await changeLimits(db, scope.organizationId, { perKey: 30, perOrganization: 0 });
  expect(await words()).toMatch(/ 30 requests per second for each API key no limit for all API keys together/i);
});

test('the settings for unused keys are saved, refused by name outside of their bounds, and kept in the form', async () => {
  const { browser } = await createSignedIn(dashboard, 'administrator');
  const action = '/organization/unused-keys';
  const save = (ends_unused_after_days: string, tells_new_networks?: 'yes') =>
    browser.submit('/organization', { ends_unused_after_days, tells_new_networks }, action);
  const shown = async () => {
    const form = new Map((await browser.form('/organization', action)).fields);
    return [form.get('ends_unused_after_days'), form.get('tells_new_networks')];
  };
  const refused = await save('6', 'yes');
  expectToSay(refused, 422, 'End keys that are not used for must be an integer from 7 to 3650, or empty.');
  expect(refused.text).toContain('value="6"');
  expect((await save('90', 'yes')).headers['location']).toBe('/organization?done=notices');
  expect(await shown()).toEqual(['90', 'yes']);
  await save('');
  expect(await shown()).toEqual(['', undefined]);
});

test('without PUBLIC_URL, the settings of single sign-on say how to try it on this machine', async () => {
  const { browser } = await createSignedIn(dashboard, 'administrator');
  const { port } = new URL(dashboard.url);
  expect(wordsOf(await browser.get('/organization/sign-in'))).toContain(
    `To try it on your own machine, start Charter again with PUBLIC_URL=http://localhost:${port}`,
  );
});

test('the settings and the form of an integration say so if the server cannot send mail', async () => {
  const words = 'This server cannot send mail';
  const mail = { smtpUrl: 'smtp://127.0.0.1:9', mailFrom: 'Charter <charter@example.org>' };
  const { databaseUrl } = dashboard;
  const mailing = await startDashboard({ databaseUrl, mail, publicUrl: PUBLIC_URL });
  const withoutUrl = await startDashboard({ databaseUrl, mail });
  try {
    const { administrator } = await createPeople(db);
    const { id } = await giveIntegration(db, administrator);
    for (const path of ['/organization', '/organization/integrations/new', `/organization/integrations/${id}/change`]) {
      for (const server of [dashboard, withoutUrl])
        expect(wordsOf(await (await browserOf(server, administrator)).get(path))).toContain(words);
      expect(wordsOf(await (await browserOf(mailing, administrator)).get(path))).not.toContain(words);
    }
  } finally {
    await mailing.close();
    await withoutUrl.close();
  }
});
