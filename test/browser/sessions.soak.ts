import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';
import { openSession } from '../support/data/accounts.ts';

const site = await useSite({ script: AXE_SCRIPT });

test.each([true, false])(
  'a person finds the sessions under My profile and ends one, then all others (JavaScript: %s)',
  async (javaScriptEnabled) => {
    const { member } = await site.team();
    const page = await site.visitAs(member, { javaScriptEnabled });
    const other = await site.visitAs(member);
    for (let i = 0; i < 2; i += 1) await openSession(site.server.db, member);
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    const rows = page.getByRole('row');
    expect(await rows.count()).toBe(1 + 4);
    expect(await rows.nth(1).innerText()).toContain('This session');
    await page
      .getByRole('button', { name: /^End the session of / })
      .first()
      .click();
    await page.getByText('The session is ended.').waitFor();
    expect(await rows.count()).toBe(1 + 3);
    if (javaScriptEnabled) expect(await look(page, 'sessions-several')).toEqual([]);
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
    await page.getByText('Only this session is left.').waitFor();
    expect(await rows.count()).toBe(1 + 1);
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  },
);
