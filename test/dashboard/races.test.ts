import { createAccount } from '../support/accounts.ts';
import { createPeople, giveKey, times } from '../support/actors.ts';
import { filled, keysIn, wordsOf } from '../support/dashboard.ts';
import { browserOf, startDashboard, type TestDashboard } from '../support/dashboard-server.ts';

let dashboard: TestDashboard;
/** Another process, as far as the database can tell: a pool and a memory of its own. */
let second: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
  second = await startDashboard({ databaseUrl: dashboard.databaseUrl });
});
afterAll(async () => {
  await second.close();
  await dashboard.close();
});

const OWN = '/profile/api-keys';

test('of 50 keys that are created at once, through two servers, exactly ten are made and shown', async () => {
  // The attack: the limit is counted before any of them is written.
  const account = await createAccount(dashboard.db);
  const browsers = [await browserOf(dashboard, account), await browserOf(second, account)];
  const forms = await times(50, async (i) => {
    const browser = browsers[i % 2] ?? browsers[0];
    if (browser === undefined) throw new Error('There is no browser.');
    return { browser, fields: filled(await browser.form(`${OWN}/new`, OWN), { name: `Key ${i}` }) };
  });
  const answers = await Promise.all(forms.map(({ browser, fields }) => browser.post(OWN, fields)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  expect(statuses.filter((status) => status === 409)).toHaveLength(40);
  const keys = answers.flatMap(keysIn);
  expect(new Set(keys).size).toBe(10);
  expect(await Promise.all(keys.map(second.statusOf))).toEqual(keys.map(() => 200));
  expect(await dashboard.db.prisma.apiKey.count({ where: { userId: account.userId } })).toBe(10);
});

test('of 20 keys of one name that are created at once, one is made', async () => {
  // The attack: two keys that nobody can tell apart in the list.
  const browser = await browserOf(dashboard, await createAccount(dashboard.db));
  const forms = await times(20, () => browser.form(`${OWN}/new`, OWN));
  const answers = await Promise.all(forms.map((form) => browser.post(OWN, filled(form, { name: 'Same' }))));
  expect(answers.flatMap(keysIn)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
});

test('ten rotations at once by two people, 20 rounds: one key shown a round, the old one refused at once', async () => {
  // The attack: each of two people presses Rotate; both are shown a key, and both keys live.
  const people = await createPeople(dashboard.db);
  const { member } = people;
  const browsers = [await browserOf(dashboard, member), await browserOf(second, people.administrator)];
  const roots = [OWN, `/people/users/${member.userId}/api-keys`];
  let { key, id } = await giveKey(dashboard.db, member);
  for (let round = 0; round < 20; round += 1) {
    const posts = await times(10, async (i) => {
      const [browser, path] = [browsers[i % 2] ?? browsers[0], `${roots[i % 2]}/${id}/rotate`];
      if (browser === undefined) throw new Error('There is no browser.');
      return { browser, path, fields: filled(await browser.form(path)) };
    });
    const answers = await Promise.all(
      posts.map(async ({ browser, path, fields }) => {
        const answer = await browser.post(path, fields);
        // From the very next request, on either server.
        const old =
          keysIn(answer).length > 0 ? await Promise.all([dashboard, second].map((at) => at.statusOf(key))) : [];
        return { answer, old };
      }),
    );
    const shown = answers.flatMap(({ answer }) => keysIn(answer));
    expect([round, shown.length, answers.flatMap(({ old }) => old)]).toEqual([round, 1, [401, 401]]);
    const refused = answers.filter(({ answer }) => keysIn(answer).length === 0);
    for (const { answer } of refused) {
      expect([answer.status, wordsOf(answer)]).toEqual([
        409,
        expect.stringMatching(/was rotated by The \w+ on \d+ \w{3} \d{4}, \d\d:\d\d UTC/),
      ]);
    }
    key = shown[0] ?? '';
    expect(await second.statusOf(key)).toBe(200);
    ({ id } = await dashboard.db.prisma.apiKey.findFirstOrThrow({ where: { userId: member.userId, rotatedAt: null } }));
  }
  expect(await dashboard.db.prisma.apiKey.count({ where: { userId: member.userId } })).toBe(21);
});

test('rotate against revoke, 20 rounds: one of the two, and what was shown says which', async () => {
  // The attack: a key that was revoked goes on in its successor, and nobody was told.
  const people = await createPeople(dashboard.db);
  const { member } = people;
  const [owner, manager] = [await browserOf(dashboard, member), await browserOf(second, people.manager)];
  for (let round = 0; round < 20; round += 1) {
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
      // Whoever revoked is told which key lives on.
      expect(wordsOf(revoked)).toContain(successor.slice(0, 17));
      expect(await dashboard.statusOf(successor)).toBe(200);
    }
    // Makes room for the next round's.
    await dashboard.db.prisma.apiKey.updateMany({
      where: { userId: member.userId, rotatedAt: null, revokedAt: null },
      data: { revokedAt: new Date() },
    });
  }
});

test.each(['deactivate', 'role'])('two administrators who %s each other at once leave one', async (deed) => {
  // The attack: each is allowed while the other is there, and together they lock everybody out for good.
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
        const page = deed === 'role' ? user : `${user}/deactivate`;
        return { browser, path: `${user}/${deed}`, form: await browser.form(page, `${user}/${deed}`) };
      }),
    );
    const change = deed === 'role' ? { role: 'member' } : {};
    const answers = await Promise.all(posts.map(({ browser, path, form }) => browser.post(path, filled(form, change))));
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses[0]).toBe(303);
    expect([403, 409, 303]).toContain(statuses[1]);
    const left = await dashboard.db.prisma.user.count({
      where: { organizationId: people.scope.organizationId, role: 'administrator', deactivatedAt: null },
    });
    expect(left).toBe(1);
  }
});
