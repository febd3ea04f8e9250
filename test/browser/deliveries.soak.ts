import { useSite } from '../support/browser/site.ts';
import { addEndpoint, writeAttempts, writeEvent } from '../support/data/webhooks.ts';

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
  // As after a load, the times have the reader's clock below them.
  expect(main).toContain('GMT+5:30');
  expect(await page.evaluate('window.isSamePage')).toBe(true);
  await page.reload();
  await page.getByText('Delivered').waitFor();
  expect(await notice.count()).toBe(0);
});

test('a delivery whose next attempt is minutes away, and one of a disabled endpoint, are not requested again and again', async () => {
  const { administrator, organizationId } = await site.team();
  const { db } = site.server;
  const { id: endpointId } = await addEndpoint(db, administrator);
  const path = (messageId: string) => `/organization/webhooks/${endpointId}/deliveries/${messageId}`;
  const [retried, waiting] = [await writeEvent(db, { organizationId }), await writeEvent(db, { organizationId })];
  await writeAttempts(db, { organizationId, endpointId, messageId: retried }, [{ status: 503 }], 'pending');
  const page = await site.visitAs(administrator);
  await page.goto(path(retried));
  expect(await page.locator('[data-refresh]').count()).toBe(0);
  await page.goto(path(waiting));
  expect(await page.locator('[data-refresh]').count()).toBe(1);
  await db.prisma.webhookEndpoint.updateMany({
    where: { id: endpointId },
    data: { disabledAt: new Date(), disabledReason: 'user' },
  });
  await page.getByText('Until the endpoint is enabled').waitFor();
  expect(await page.locator('[data-refresh]').count()).toBe(0);
});
