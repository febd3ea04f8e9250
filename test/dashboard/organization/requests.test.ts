import { createPeople, giveKey, type People } from '../../support/data/actors.ts';
import { addRequests } from '../../support/data/key-uses.ts';
import { wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { db } = dashboard;

// Half past, so that no hour ends during the tests.
dashboard.passMinutes((90 - dashboard.now().getUTCMinutes()) % 60);

const REQUESTS = '/organization/api-keys/requests';

/** A key of the member, with so many requests in this hour. */
async function usedKey({ member, scope }: People, name: string, successful: number): Promise<string> {
  const { id } = await giveKey(db, member, { name });
  const { organizationId } = scope;
  await addRequests(db, { organizationId, keyId: id, at: dashboard.now(), successful, refused: 1 });
  return id;
}

test.each(['administrator', 'manager'] as const)(
  'the %s sees the requests with all keys of the organization, and the most used keys, linked',
  async (role) => {
    const [ours, theirs] = [await createPeople(db), await createPeople(db)];
    // The attack: the numbers, or the name of a key, of another organization.
    await usedKey(theirs, 'Theirs', 5000);
    const few = await usedKey(ours, 'Few', 10);
    const many = await usedKey(ours, 'Many', 2000);
    const browser = await browserOf(dashboard, ours[role]);
    const page = await browser.get(REQUESTS);
    expect(page.status).toBe(200);
    for (const title of ['Last 30 days', 'Last 48 hours'])
      expect(page.text).toContain(`aria-label="${title}: 2,010 successful, 2 refused, 0 failed; at most 2,012 in one`);
    const words = wordsOf(page);
    expect(words).not.toContain('Theirs');
    expect(words).toMatch(/Many charter_live_\w+… The member 2,000 1 0 .*Few/);
    for (const id of [few, many])
      expect(page.text).toContain(`href="/people/users/${ours.member.userId}/api-keys/${id}"`);
    expect((await browser.get('/organization/api-keys')).text).toContain(`href="${REQUESTS}"`);
  },
);

test('an organization without requests is told so', async () => {
  const { manager } = await createPeople(db);
  const page = await (await browserOf(dashboard, manager)).get(REQUESTS);
  expect([page.status, wordsOf(page)]).toEqual([200, expect.stringContaining('No requests in the last 30 days.')]);
  expect(page.text).not.toContain('Most used');
});

test('ten keys are listed as the most used, however many there are', async () => {
  const people = await createPeople(db);
  for (let i = 1; i <= 8; i += 1) await usedKey(people, `Key ${i}`, i);
  for (let i = 9; i <= 12; i += 1) await usedKey({ ...people, member: people.manager }, `Key ${i}`, i);
  const { text } = await (await browserOf(dashboard, people.administrator)).get(REQUESTS);
  const names = [...text.matchAll(/class="key-name">([^<]*)</g)].map(([, name]) => name);
  expect(names).toEqual(Array.from({ length: 10 }, (_, i) => `Key ${12 - i}`));
});
