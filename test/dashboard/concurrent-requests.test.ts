import { createAccount } from '../support/data/accounts.ts';
import { createPeople, giveKey, times } from '../support/data/actors.ts';
import { filled, keysIn, wordsOf } from '../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
/** A second server process, as far as the database can tell: it has its own pool and memory. */
const second = await useDashboard({ databaseUrl: dashboard.databaseUrl });

const OWN = '/profile/api-keys';
const ROUNDS = 5;

test('50 concurrent creations through two servers make and show exactly ten keys', async () => {
  // The attack: each request counts the keys before any other has committed.
  const account = await createAccount(dashboard.db);
  const browsers = [await browserOf(dashboard, account), await browserOf(second, account)];
  const forms = await times(50, async (i) => {
    const browser = browsers[i % 2] ?? browsers[0];
    if (browser === undefined) throw new Error('There is no browser.');
    return { browser, fields: filled(await browser.form(`${OWN}/new`, OWN), { name: `Key ${i}` }) };
  });
  const responses = await Promise.all(forms.map(({ browser, fields }) => browser.post(OWN, fields)));
  const statuses = responses.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  expect(statuses.filter((status) => status === 409)).toHaveLength(40);
  const keys = responses.flatMap(keysIn);
  expect(new Set(keys).size).toBe(10);
  expect(await Promise.all(keys.map(second.statusOf))).toEqual(keys.map(() => 200));
  expect(await dashboard.db.prisma.apiKey.count({ where: { userId: account.userId } })).toBe(10);
});

test('20 concurrent creations with one name make one key', async () => {
  // The attack: two keys with the same name in the list.
  const browser = await browserOf(dashboard, await createAccount(dashboard.db));
  const forms = await times(20, () => browser.form(`${OWN}/new`, OWN));
  const responses = await Promise.all(forms.map((form) => browser.post(OWN, filled(form, { name: 'Same' }))));
  expect(responses.flatMap(keysIn)).toHaveLength(1);
  expect(responses.filter(({ status }) => status === 409)).toHaveLength(19);
});

test(`ten concurrent rotations by two people show one key per round and end the old one at once, for ${ROUNDS} rounds`, async () => {
  // The attack: two people press Rotate; both see a new key, and both keys work.
  const people = await createPeople(dashboard.db);
  const { member } = people;
  const browsers = [await browserOf(dashboard, member), await browserOf(second, people.administrator)];
  const roots = [OWN, `/people/users/${member.userId}/api-keys`];
  let { key, id } = await giveKey(dashboard.db, member);
  for (let round = 0; round < ROUNDS; round += 1) {
    const posts = await times(10, async (i) => {
      const [browser, path] = [browsers[i % 2] ?? browsers[0], `${roots[i % 2]}/${id}/rotate`];
      if (browser === undefined) throw new Error('There is no browser.');
      return { browser, path, fields: filled(await browser.form(path)) };
    });
    const responses = await Promise.all(
      posts.map(async ({ browser, path, fields }) => {
        const response = await browser.post(path, fields);
        // From the next request on, on both servers.
        const old =
          keysIn(response).length > 0 ? await Promise.all([dashboard, second].map((at) => at.statusOf(key))) : [];
        return { response, old };
      }),
    );
    const shown = responses.flatMap(({ response }) => keysIn(response));
    expect([round, shown.length, responses.flatMap(({ old }) => old)]).toEqual([round, 1, [401, 401]]);
    const refused = responses.filter(({ response }) => keysIn(response).length === 0);
    for (const { response } of refused) {
      expect([response.status, wordsOf(response)]).toEqual([
        409,
        expect.stringMatching(/was rotated by The \w+ on \d+ \w{3} \d{4}, \d\d:\d\d UTC/),
      ]);
    }
    key = shown[0] ?? '';
    expect(await second.statusOf(key)).toBe(200);
    ({ id } = await dashboard.db.prisma.apiKey.findFirstOrThrow({ where: { userId: member.userId, rotatedAt: null } }));
  }
  expect(await dashboard.db.prisma.apiKey.count({ where: { userId: member.userId } })).toBe(ROUNDS + 1);
});

test(`when a rotation races a revocation, one wins and both responses say which, for ${ROUNDS} rounds`, async () => {
  // The attack: a revoked key lives on in its successor, and nobody is informed.
  const people = await createPeople(dashboard.db);
  const { member } = people;
  const [owner, manager] = [await browserOf(dashboard, member), await browserOf(second, people.manager)];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { key, id } = await giveKey(dashboard.db, member);
    const [rotation, revocation] = [`${OWN}/${id}/rotate`, `/people/users/${member.userId}/api-keys/${id}/revoke`];
    const fields = [filled(await owner.form(rotation)), filled(await manager.form(revocation))];
    const [rotated, revoked] = await Promise.all([
      owner.post(rotation, fields[0] ?? {}),
      manager.post(revocation, fields[1] ?? {}),
    ]);
    expect(await dashboard.statusOf(key)).toBe(401);
    const [successor] = keysIn(rotated);
    if (successor === undefined) {
      expect([rotated.status, revoked.status]).toEqual([409, 303]);
    } else {
      expect([rotated.status, revoked.status]).toEqual([200, 409]);
      // The person who revoked learns which key is active.
      expect(wordsOf(revoked)).toContain(successor.slice(0, 17));
      expect(await dashboard.statusOf(successor)).toBe(200);
    }
    // Makes room for the next round.
    await dashboard.db.prisma.apiKey.updateMany({
      where: { userId: member.userId, rotatedAt: null, revokedAt: null },
      data: { revokedAt: new Date() },
    });
  }
});

test.each(['deactivate', 'role'])(
  'when two administrators %s each other concurrently, one administrator remains',
  async (action) => {
    // The attack: each change is allowed while the other administrator exists, and together they lock everybody out.
    for (let round = 0; round < 5; round += 1) {
      const people = await createPeople(dashboard.db);
      const pair = [people.administrator, people.other];
      await dashboard.db.prisma.user.updateMany({
        where: { id: { in: pair.map(({ userId }) => userId) } },
        data: { passwordHash: 'x' },
      });
      const posts = await Promise.all(
        pair.map(async (actor, i) => {
          const browser = await browserOf(i === 0 ? dashboard : second, actor);
          const target = pair[1 - i]?.userId ?? '';
          const user = `/people/users/${target}`;
          const page = action === 'role' ? user : `${user}/deactivate`;
          return { browser, path: `${user}/${action}`, form: await browser.form(page, `${user}/${action}`) };
        }),
      );
      const change = action === 'role' ? { role: 'member' } : {};
      const responses = await Promise.all(
        posts.map(({ browser, path, form }) => browser.post(path, filled(form, change))),
      );
      const statuses = responses.map(({ status }) => status).toSorted();
      expect(statuses[0]).toBe(303);
      expect([403, 409, 303]).toContain(statuses[1]);
      const left = await dashboard.db.prisma.user.count({
        where: { organizationId: people.scope.organizationId, role: 'administrator', deactivatedAt: null },
      });
      expect(left).toBe(1);
    }
  },
);
