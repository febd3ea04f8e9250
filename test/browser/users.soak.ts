import type { Page } from 'playwright-core';
import { useSite } from '../support/browser/site.ts';

const site = await useSite();

const MORE = 56;
const PAGE = 25;

/** More people with three alternating names, so that no list page starts with a name of its own. */
function addPeople(organizationId: string) {
  return site.server.db.pool.query(
    `insert into users (organization_id, id, email, name, role)
     select $1::uuid, gen_random_uuid(), 'person-' || i || '@' || $1::uuid || '.example',
            (array['Ana Sousa', 'Noor Haddad', 'Zoë Martin'])[i % 3 + 1], 'member'
     from generate_series(1, ${MORE}) i`,
    [organizationId],
  );
}

const next = (page: Page) => page.getByRole('link', { name: 'Next page' });
const first = (page: Page) => page.getByRole('link', { name: 'First page' });

async function emailsOn(page: Page): Promise<string[]> {
  const cells = await page.getByRole('table', { name: 'Users' }).getByRole('rowheader').allInnerTexts();
  return cells.map((text) => /\S+@\S+/.exec(text)?.[0] ?? text);
}

/** The e-mails of each list page, found by following "Next page" to the end. */
async function readOn(page: Page): Promise<string[][]> {
  const pages = [await emailsOn(page)];
  while ((await next(page).count()) > 0) {
    const before = page.url();
    await next(page).click();
    await page.waitForURL((url) => url.href !== before);
    pages.push(await emailsOn(page));
  }
  return pages;
}

test('People, Users and Next page list everybody once, ordered by name, and the way back works', async () => {
  const { manager, organizationId } = await site.team();
  await addPeople(organizationId);
  const { rows } = await site.server.db.pool.query<{ email: string }>(
    'select email from users where organization_id = $1 order by name, id',
    [organizationId],
  );
  const everybody = rows.map(({ email }) => email);
  const page = await site.visitAs(manager);
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('link', { name: 'Users', exact: true }).click();
  await next(page).waitFor();
  expect(await first(page).count()).toBe(0);
  const pages = await readOn(page);
  expect(pages.map((emails) => emails.length)).toEqual([PAGE, PAGE, everybody.length - 2 * PAGE]);
  expect(pages.flat()).toEqual(everybody);
  await page.goBack();
  expect(await emailsOn(page)).toEqual(pages[1]);
  await first(page).click();
  await next(page).waitFor();
  expect(await emailsOn(page)).toEqual(pages[0]);
  expect(await first(page).count()).toBe(0);
});

test('a search continues on its next page, and a user found there can be opened', async () => {
  const { administrator, organizationId } = await site.team();
  await addPeople(organizationId);
  const page = await site.visitAs(administrator);
  await page.goto('/people/users');
  await page.getByRole('searchbox', { name: 'Name or e-mail' }).fill('PERSON-');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/search=PERSON-/);
  const pages = await readOn(page);
  expect(pages.map((emails) => emails.length)).toEqual([PAGE, PAGE, MORE - 2 * PAGE]);
  expect(pages.flat().every((email) => email.startsWith('person-'))).toBe(true);
  expect(await page.getByRole('searchbox', { name: 'Name or e-mail' }).inputValue()).toBe('PERSON-');
  const last = pages.at(-1)?.at(-1) ?? '';
  await page.getByRole('row').last().getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Zoë Martin' }).waitFor();
  expect(await page.getByRole('main').innerText()).toContain(last);
});
