import { access } from 'node:fs/promises';
import { originOf } from '../../scripts/docs/contract.ts';
import { guidePlace, operationPlace } from '../../scripts/docs/places.ts';
import { samplesOf } from '../../scripts/docs/samples/languages.ts';
import { BUILT, contract, guides } from '../support/docs.ts';
import { AXE_SCRIPT, look } from '../support/look.ts';
import { useSite } from '../support/site.ts';

const site = await useSite({ script: AXE_SCRIPT });
const WITHOUT = { javaScriptEnabled: false };

test('with JavaScript off, the documentation links to the page that works without it', async () => {
  const page = await site.visit(WITHOUT);
  await page.goto('/docs');
  await page.getByRole('link', { name: 'version without JavaScript' }).click();
  await page.getByRole('heading', { name: contract.info.title }).waitFor();
  await page.getByRole('link', { name: 'openapi.yaml' }).waitFor();
});

test('with JavaScript off, every guide, operation, sample, schema and response is readable', async () => {
  const page = await site.visit(WITHOUT);
  await page.goto('/docs/plain.html');
  const titles = await page.getByRole('heading', { level: 2 }).allTextContents();
  for (const { slug, title, headings } of guides.all) {
    expect(titles).toContain(title);
    for (const { anchor } of headings) expect(await page.locator(`[id="${guidePlace(slug, anchor)}"]`).count()).toBe(1);
  }
  const samples = await page.locator('figure pre').allTextContents();
  for (const operation of contract.operations) {
    await page.locator(`h3[id="${operationPlace(operation)}"]`, { hasText: operation.summary }).waitFor();
    for (const { source } of samplesOf(operation)) expect(samples).toContain(source);
  }
  for (const webhook of contract.webhooks)
    await page.locator(`h3[id="${operationPlace(webhook)}"]`, { hasText: webhook.summary }).waitFor();
  const statuses = await page.locator('.response h5 code').allTextContents();
  const shown = contract.tags.flatMap(({ name }) =>
    [...contract.operations, ...contract.webhooks].filter(({ tags }) => tags[0] === name),
  );
  expect(statuses).toEqual(shown.flatMap(({ responses }) => Object.keys(responses).sort()));
  const schemas = await page.locator('h3[id^="/schemas/"]').allTextContents();
  expect(schemas).toEqual(Object.keys(contract.schemas));
});

test('every link on the page has a target, on the server and in the built folder', async () => {
  const origins = { '/docs/plain.html': site.server.url, [`${BUILT}plain.html`]: originOf(contract.document) };
  for (const [address, origin] of Object.entries(origins)) {
    const page = await site.visit(WITHOUT);
    await page.goto(address);
    const links = await page
      .locator('a[href]')
      .evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? ''));
    const ids = new Set(await page.locator('[id]').evaluateAll((all) => all.map((each) => `#${each.id}`)));
    expect(links.filter((link) => link.startsWith('#') && !ids.has(link))).toEqual([]);
    // The dashboard, which only a server has.
    expect(new Set(links.filter((link) => link.startsWith('http:')))).toEqual(new Set([`${origin}/`]));
    const others = [...new Set(links.filter((link) => !/^(#|https?:)/.test(link)))];
    expect(others).toHaveLength(5);
    for (const link of others) {
      const target = new URL(link, page.url());
      if (target.protocol === 'file:') await access(target);
      else expect((await fetch(target)).status).toBe(200);
    }
  }
});

test('the page passes the layout checks, and its print version hides links to other pages', async () => {
  const page = await site.visit();
  await page.goto('/docs/plain.html');
  expect(await look(page, 'docs-plain', { fullPage: false })).toEqual([]);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('link', { name: 'Version with search' }).isVisible()).toBe(false);
  const closed = page.locator('details:not([open]) pre').first();
  expect(await closed.isVisible()).toBe(true);
}, 180_000);
