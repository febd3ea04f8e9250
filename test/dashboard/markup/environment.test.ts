import { createPeople, giveKey } from '../../support/data/actors.ts';
import { Browser, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, fill, startDashboard, type TestDashboard } from '../../support/http/dashboard-server.ts';

const dashboards = {
  Live: await startDashboard({ environment: 'live' }),
  Test: await startDashboard({ environment: 'test' }),
};
afterAll(() => Promise.all(Object.values(dashboards).map((dashboard) => dashboard.close())));

async function signedIn(dashboard: TestDashboard) {
  const { administrator, member } = await createPeople(dashboard.db);
  const { id: keyId } = await giveKey(dashboard.db, member);
  return { browser: await browserOf(dashboard, administrator), ids: { userId: member.userId, keyId } };
}

test.each(Object.entries(dashboards))(
  'in the %s environment, every page says so in its title and its frame',
  async (name, dashboard) => {
    // The risk: somebody who has both environments open ends a production key instead of a test key.
    const { browser, ids } = await signedIn(dashboard);
    const paths = [...dashboard.paths.map((path) => fill(path, ids)), '/profile/nowhere'];
    let pages = 0;
    for (const each of [browser, new Browser(dashboard.url)]) {
      for (const path of paths) {
        const page = await each.get(path);
        if (page.headers['content-type']?.startsWith('text/html') !== true) continue;
        const [, title = ''] = /<title>([^<]*)</.exec(page.text) ?? [];
        const [, header = ''] = /<header[^>]*>([\s\S]*?)<\/header>/.exec(page.text) ?? [];
        const words = wordsOf({ ...page, text: header });
        expect([path, title, words]).toEqual([
          path,
          expect.stringMatching(new RegExp(` · ${name} · Charter$`)),
          expect.stringContaining(`Charter ${name} environment`),
        ]);
        pages += 1;
      }
    }
    expect(pages).toBeGreaterThan(25);
  },
);

test.each(Object.entries(dashboards))(
  'in the %s environment, the form for a key and the page that shows it say so',
  async (name, dashboard) => {
    const { browser } = await signedIn(dashboard);
    const main = ({ text }: { text: string }) => text.slice(text.indexOf('<main'));
    const form = await browser.get('/profile/api-keys/new');
    expect(wordsOf({ ...form, text: main(form) })).toContain(
      `${name} environment The key begins with charter_${name.toLowerCase()}_ and works in this environment only.`,
    );
    const shown = await browser.submit('/profile/api-keys/new', { name: 'Shown' }, '/profile/api-keys');
    expect(wordsOf({ ...shown, text: main(shown) })).toContain(`Environment ${name} environment`);
  },
);
