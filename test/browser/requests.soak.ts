import { useSite } from '../support/browser/site.ts';
import { createRealisticTeam } from '../support/data/realistic-team.ts';

const site = await useSite();
const team = await createRealisticTeam(site.server.db);

test('with JavaScript off, the requests of a key are a picture with a name, and a table that opens', async () => {
  const page = await site.visitAs(team.administrator, {
    javaScriptEnabled: false,
    viewport: { width: 320, height: 700 },
  });
  await page.goto(`/profile/api-keys/${team.keyId}`);
  for (const [title, periods] of [
    ['Last 30 days', 30],
    ['Last 48 hours', 48],
  ] as const) {
    const chart = page.getByRole('img', {
      name: new RegExp(`^${title}: [\\d,]+ successful, [\\d,]+ refused, [\\d,]+ failed`),
    });
    const box = await chart.boundingBox();
    expect([title, box !== null && box.width > 200 && box.height > 80]).toEqual([title, true]);
    const table = page.getByRole('table', { name: `Requests, ${title.toLowerCase()}` });
    expect(await table.isVisible()).toBe(false);
    await page.locator('summary', { hasText: `${title} as a table` }).press('Enter');
    expect(await table.getByRole('rowheader').count()).toBe(periods);
  }
});

test('from the API keys of the organization, two clicks lead to the most used key', async () => {
  const page = await site.visitAs(team.manager);
  await page.goto('/organization/api-keys');
  await page.getByRole('link', { name: 'Usage' }).click();
  const mostUsed = page.getByRole('table', { name: 'Most used API keys' });
  await mostUsed.getByRole('link', { name: 'Enrolment sync' }).click();
  await page.getByRole('heading', { name: /^Enrolment sync/ }).waitFor();
  await page.getByRole('img', { name: /^Last 30 days/ }).waitFor();
});
