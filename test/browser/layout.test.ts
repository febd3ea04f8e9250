import { BEYOND } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';
import { createRealisticTeam } from '../support/data/team.ts';

const site = await useSite();

test('the ten most used pages need no horizontal scrolling on a phone', async () => {
  // look.soak.ts tests all pages, widths and themes.
  const { administrator, manager, keyId } = await createRealisticTeam(site.server.db);
  const page = await site.visitAs(administrator, { viewport: { width: 320, height: 800 } });
  const beyond: [string, number][] = [];
  const paths = [
    ...['/profile', '/profile/api-keys', '/profile/api-keys/new', `/profile/api-keys/${keyId}`],
    ...['/people/users', `/people/users/${manager.userId}`, '/organization', '/organization/api-keys'],
    ...['/organization/audit-log', '/docs'],
  ];
  for (const path of paths) {
    await page.goto(path);
    beyond.push([path, Math.max(0, await page.evaluate<number>(BEYOND))]);
  }
  expect(beyond).toEqual(paths.map((path) => [path, 0]));
});

/** A script that returns the lists whose bullets hang outside of the list's box. */
const HANGING = `[...document.querySelectorAll('main ul, main ol')]
  .filter((list) => getComputedStyle(list).listStyleType !== 'none' && parseFloat(getComputedStyle(list).paddingInlineStart) < 16)
  .map((list) => list.outerHTML)`;

test('the bullets of the people to ask, on a page that a role may not open, stand inside of its card', async () => {
  const { viewer } = await site.team();
  const page = await site.visitAs(viewer);
  for (const path of ['/people/users', '/profile/api-keys/new']) {
    await page.goto(path);
    await page.getByRole('listitem').getByRole('link', { name: 'administrator@' }).waitFor();
    expect([path, await page.evaluate<string[]>(HANGING)]).toEqual([path, []]);
  }
});
