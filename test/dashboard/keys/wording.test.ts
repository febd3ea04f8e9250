import { createPeople, giveKey } from '../../support/actors.ts';
import { wordsOf } from '../../support/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard-server.ts';

const dashboard = await useDashboard();

test('with a longest key life of one day, the form and the refusal say one day, not "1 days"', async () => {
  const { member } = await createPeople(dashboard.db, { maxKeyLifeDays: 1 });
  const browser = await browserOf(dashboard, member);
  const keys = '/profile/api-keys';
  expect(wordsOf(await browser.get(`${keys}/new`))).toContain(' 1 day, until ');
  const refused = await browser.submit(`${keys}/new`, { name: 'Long', expiry: '2' }, keys);
  expect([refused.status, wordsOf(refused)]).toEqual([
    422,
    expect.stringContaining('must be at most 1 day, the longest'),
  ]);
});

test('the pages for rotating and revoking do not call a key unused that was used a moment ago', async () => {
  // The bug: uses are written once a minute, and the page said "Never" just before the key was ended.
  const { member } = await createPeople(dashboard.db);
  const { id } = await giveKey(dashboard.db, member);
  const browser = await browserOf(dashboard, member);
  for (const act of ['rotate', 'revoke']) {
    const page = wordsOf(await browser.get(`/profile/api-keys/${id}/${act}`));
    expect([act, page]).toEqual([act, expect.stringContaining('Last used Not before the last minute')]);
  }
});
