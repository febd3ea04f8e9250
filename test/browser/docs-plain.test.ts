import { access } from 'node:fs/promises';
import { originOf } from '../../scripts/docs/contract.ts';
import { guidePlace, operationPlace } from '../../scripts/docs/places.ts';
import { samplesOf } from '../../scripts/docs/samples/languages.ts';
import { BUILT, contract, guides } from '../support/browser/docs.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';

const site = await useSite({ script: AXE_SCRIPT });

// A page that is not changed serves several tests, because it is long.
const plain = await site.sharedPage({ javaScriptEnabled: false });
await plain.goto('/docs');
await plain.getByRole('link', { name: 'version without JavaScript' }).click();
await plain.waitForURL('**/docs/plain.html');

test('with JavaScript off, the documentation links to the page that works without it', async () => {
  await plain.getByRole('heading', { name: contract.info.title }).waitFor();
  await plain.getByRole('link', { name: 'openapi.yaml' }).waitFor();
});

test('with JavaScript off, every guide, operation, sample, schema and response is readable', async () => {
  const titles = await plain.getByRole('heading', { level: 2 }).allTextContents();
  const ids = await plain.locator('[id]').evaluateAll((all) => all.map(({ id }) => id));
  for (const { slug, title, headings } of guides.all) {
    expect(titles).toContain(title);
    for (const { anchor } of headings) {
      const place = guidePlace(slug, anchor);
      expect(ids.filter((id) => id === place)).toEqual([place]);
    }
  }
  const samples = await plain.locator('figure pre').allTextContents();
  const visible = await plain
    .locator('h3[id]')
    .evaluateAll((all) =>
      all.filter((each) => each.checkVisibility()).map((each): [string, string | null] => [each.id, each.textContent]),
    );
  const headings = new Map(visible);
  for (const operation of contract.operations) {
    expect(headings.get(operationPlace(operation))).toContain(operation.summary);
    for (const { source } of samplesOf(operation)) expect(samples).toContain(source);
  }
  for (const webhook of contract.webhooks) expect(headings.get(operationPlace(webhook))).toContain(webhook.summary);
  const statuses = await plain.locator('.response h5 code').allTextContents();
  const shown = contract.tags.flatMap(({ name }) =>
    [...contract.operations, ...contract.webhooks].filter(({ tags }) => tags[0] === name),
  );
  expect(statuses).toEqual(shown.flatMap(({ responses }) => Object.keys(responses).sort()));
  const schemas = await plain.locator('h3[id^="/schemas/"]').allTextContents();
  expect(schemas).toEqual(Object.keys(contract.schemas));
});

test('a picture in SVG is shown', async () => {
  const picture = plain.getByRole('img', { name: 'How the latency of each request grows' });
  expect(await picture.evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBe(480);
});

test('every link on the page has a target, on the server and in the built folder', async () => {
  const built = await site.visit({ javaScriptEnabled: false });
  await built.goto(`${BUILT}plain.html`);
  for (const { page, origin } of [
    { page: plain, origin: site.server.url },
    { page: built, origin: originOf(contract.document) },
  ]) {
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
});
