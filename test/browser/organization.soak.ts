import { text } from 'node:stream/consumers';
import { changeLimits } from '../../src/service/operator/organizations.ts';
import { type ContextOptions, focused } from '../support/browser/browser.ts';
import { chooseFromMenu, createKey, openOwnKeys } from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';
import { giveKey } from '../support/data/actors.ts';

const site = await useSite();

test('a policy that forbids members to make keys applies from the next click on', async () => {
  const { administrator, member } = await site.team();
  const theirs = await site.visitAs(member);
  await openOwnKeys(theirs);
  await theirs.getByRole('link', { name: 'Create API Key' }).click();
  await theirs.getByLabel('Name').fill('Too late');

  const page = await site.visitAs(administrator);
  await page.getByRole('link', { name: 'Organization' }).click();
  await page.getByLabel('Members may create API keys').uncheck();
  await page.getByRole('button', { name: 'Save policy' }).click();
  await page.getByText('The policy is saved.').waitFor();
  expect(await page.getByLabel('Members may create API keys').isChecked()).toBe(false);

  await theirs.getByRole('button', { name: 'Create API Key' }).click();
  await theirs.getByRole('heading', { name: /may not/ }).waitFor();
  await theirs.goto('/profile/api-keys');
  expect(await theirs.getByText('Contact an administrator or support.').count()).toBe(1);
  expect(await theirs.getByRole('link', { name: 'Create API Key' }).count()).toBe(0);
});

test('the form offers the longest lifetime of the policy and "Never expires"', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator);
  const offered = async () => {
    await page.goto('/profile/api-keys/new');
    return page.getByLabel('Expiry').getByRole('option').allInnerTexts();
  };
  expect((await offered()).at(-2)).toMatch(/^365 days/);
  await page.getByRole('link', { name: 'Organization' }).click();
  await page.getByLabel('Longest life of a key').fill('45');
  await page.getByLabel('Allow keys without an expiry').check();
  await page.getByRole('button', { name: 'Save policy' }).click();
  const words = (await offered()).map((text) => text.split(',')[0]);
  expect(words).toEqual(['7 days', '30 days', '45 days', 'On a day of your choice', 'Never expires']);
});

test('an invalid lifetime is refused beside its field', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator);
  await page.goto('/organization');
  await page.getByLabel('Longest life of a key').fill('3651');
  await page.getByRole('button', { name: 'Save policy' }).click();
  await page.getByRole('alert').getByRole('link').click();
  const field = page.getByLabel('Longest life of a key');
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await field.inputValue()).toBe('3651');
  await focused(field);
});

test('the audit log filters by action, person and day, and exports the filtered events', async () => {
  const { administrator, member } = await site.team();
  const theirs = await site.visitAs(member);
  await openOwnKeys(theirs);
  const key = await createKey(theirs, '=HYPERLINK("https://evil.example")');
  await theirs.goto('/profile/api-keys');
  await chooseFromMenu(theirs, '=HYPERLINK("https://evil.example")', 'Revoke');
  await theirs.getByRole('button', { name: 'Revoke' }).click();
  await theirs.getByText('was revoked. It is refused from now on.').waitFor();

  const page = await site.visitAs(administrator);
  await page.getByRole('link', { name: 'Organization' }).click();
  await page.getByRole('link', { name: 'Audit log' }).click();
  const acts = () => page.getByRole('rowheader').count();
  await page.waitForURL(/audit-log/);
  const all = await acts();
  await page.getByLabel('Event', { exact: true }).selectOption('API key revoked');
  await page.getByLabel('Person').fill(member.email);
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(/action=key.revoked/);
  expect(all).toBeGreaterThan(await acts());
  expect(await acts()).toBe(1);
  const row = await page.getByRole('row').nth(1).innerText();
  expect(row).toContain('API key revoked');
  expect(row).toContain('Mei Tanaka');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export as CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^charter-audit-log-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await text(await download.createReadStream())).trim().split('\r\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(`key.revoked,Mei Tanaka,${member.email}`);
  // A spreadsheet must treat the name as text.
  expect(lines[1]).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
  expect(lines.join()).not.toContain(key);
});

test('filters without matches say so, and a day in the future is empty', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator);
  await page.goto('/organization/audit-log?from=2099-01-01');
  await page.getByText('No recorded event matches the filters.').waitFor();
  await page.goto('/organization/audit-log?person=nobody@nowhere.example');
  expect(await page.getByText('No events').count()).toBe(0);
  expect(await page.getByRole('alert').innerText()).toContain('Nobody matches.');
});

test('the page of the organization shows the rate limits in effect: the defaults, its own, and none', async () => {
  const { administrator, organizationId } = await site.team();
  const page = await site.visitAs(administrator);
  const shown = async () => {
    await page.goto('/organization');
    return page.getByText('for each API key').first().innerText();
  };
  expect(await shown()).toContain('1,000,000 requests per second for each API key');
  expect(await shown()).toContain('1,000,000 requests per second for all API keys together');
  await changeLimits(site.server.db, organizationId, { perKey: 30, perOrganization: 0 });
  expect(await shown()).toContain('30 requests per second for each API key');
  expect(await shown()).toContain('No limit for all API keys together');
});

test('the audit log adds the time by the clock of the reader below UTC, and shows UTC alone without JavaScript', async () => {
  const { administrator, member } = await site.team();
  await giveKey(site.server.db, member, { name: 'Reporting' });
  const first = async (options: ContextOptions) => {
    const page = await site.visitAs(administrator, options);
    await page.goto('/organization/audit-log');
    return (await page.getByRole('rowheader').first().innerText()).trim();
  };
  const utc = /^\d{1,2} \w{3} \d{4}, \d\d:\d\d:\d\d UTC$/;
  expect(await first({ timezoneId: 'UTC' })).toMatch(utc);
  expect(await first({ timezoneId: 'Asia/Kolkata', javaScriptEnabled: false })).toMatch(utc);
  const [shown = '', local = ''] = (await first({ timezoneId: 'Asia/Kolkata' })).split('\n');
  expect(shown).toMatch(utc);
  expect(local).toMatch(/^(\d{1,2} \w{3,4} \d{4}, )?\d\d:\d\d:\d\d GMT\+5:30$/);
  const minutesOf = (text: string) => {
    const [, hours, minutes] = /(\d\d):(\d\d):\d\d/.exec(text) ?? [];
    return Number(hours) * 60 + Number(minutes);
  };
  expect((minutesOf(local) - minutesOf(shown) + 24 * 60) % (24 * 60)).toBe(5 * 60 + 30);
});
