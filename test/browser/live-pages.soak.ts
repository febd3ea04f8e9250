import type { ContextOptions } from '../support/browser/browser.ts';
import { useSite } from '../support/browser/site.ts';
import { giveKey } from '../support/data/actors.ts';
import { addEndpoint, writeAttempts, writeEvent } from '../support/data/webhooks.ts';

// Tests two scripts: one shows times in the reader's time zone, the other shows the result of a delivery.

const site = await useSite();

test('the page of a delivery shows the result of an attempt without a reload, and its notice goes with it', async () => {
  const { administrator, organizationId } = await site.team();
  const { db } = site.server;
  const { id: endpointId } = await addEndpoint(db, administrator);
  const messageId = await writeEvent(db, { organizationId });
  const ids = { organizationId, endpointId, messageId };
  const page = await site.visitAs(administrator, { timezoneId: 'Asia/Kolkata' });
  await page.goto(`/organization/webhooks/${endpointId}/deliveries/${messageId}?done=resent`);
  const notice = page.getByText('The event is sent again.');
  await notice.waitFor();
  await page.evaluate('window.isSamePage = true');
  await writeAttempts(db, ids, [{ status: 503 }, { status: 202 }]);
  await page.getByRole('status').filter({ hasText: 'Delivered' }).waitFor();
  await notice.waitFor({ state: 'detached' });
  const main = await page.getByRole('main').innerText();
  expect(main).toMatch(/Attempts\s+2\s/);
  expect(main).toMatch(/202 Accepted[\s\S]*503 Service Unavailable/);
  expect(main).toMatch(/webhook-timestamp: \d+/);
  // The new attempts show times in the reader's time zone, too, as after a reload.
  expect(main).toContain('GMT+5:30');
  expect(await page.evaluate('window.isSamePage')).toBe(true);
  await page.reload();
  await page.getByText('Delivered').waitFor();
  expect(await notice.count()).toBe(0);
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
