import { createAccount } from '../../support/data/accounts.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { keysIn, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const PATH = '/organization/audit-log';
const DAY_MS = 86_400_000;

const dashboard = await useDashboard();
const people = await createPeople(dashboard.db);
const admin = await browserOf(dashboard, people.administrator);
const key = await giveKey(dashboard.db, people.member, { name: 'Nightly import' });
await giveKey(dashboard.db, people.manager, { name: 'Reporting' });

const filter = async (fields: Record<string, string>) =>
  (await admin.submit(PATH, fields)).headers['location'] ?? 'no redirect';

test('the form finds the events of a person by a part of the name, and of a key by its name or prefix', async () => {
  for (const fields of [
    { person: 'THE MEM' },
    { key: 'nightly' },
    { key: `${key.key.slice(0, 17)}…` },
    { person: 'the mem', key: 'nightly' },
  ]) {
    const page = await admin.get(await filter(fields));
    expect([fields, page.status, wordsOf(page).includes('Nightly import')]).toEqual([fields, 200, true]);
    expect(wordsOf(page)).not.toContain('Reporting');
  }
});

test.each([
  ['composed', 'Jos\u00e9'],
  ['decomposed', 'Jose\u0301'],
])('a name is found by its %s Unicode form', async (_form, name) => {
  // The bug: text from a file name of macOS, where the accent is a separate character, matched nobody.
  const { administrator, member } = await createPeople(dashboard.db);
  const data = { name: 'Jos\u00e9' };
  await dashboard.db.prisma.user.updateMany({ where: { id: member.userId }, data });
  await giveKey(dashboard.db, member, data);
  const browser = await browserOf(dashboard, administrator);
  for (const field of ['person', 'key']) {
    for (const path of [
      `${PATH}?${field}=${encodeURIComponent(name)}`,
      (await browser.submit(PATH, { [field]: name })).headers['location'] ?? '',
    ]) {
      const page = await browser.get(path);
      expect([path, page.status, wordsOf(page)]).toEqual([path, 200, expect.stringContaining('API key created')]);
    }
  }
});

test('a filter finds what it names and nothing that nearly matches', async () => {
  const { administrator, scope } = await createPeople(dashboard.db);
  const foreign = await createPeople(dashboard.db);
  const browser = await browserOf(dashboard, administrator);
  const named = async (name: string, email: string, keyName: string, organizationScope = scope) => {
    const actor = await createAccount(dashboard.db, { scope: organizationScope, role: 'member' });
    const where = { id: actor.userId };
    await dashboard.db.prisma.user.updateMany({
      where,
      data: { name, email: `${email}-${scope.organizationId}@near.test` },
    });
    await giveKey(dashboard.db, actor, { name: keyName });
  };
  const at = `${scope.organizationId}@near.test`;
  await named('Ann Lee', 'ann', 'Sync 1%');
  await named('Joann Lee', 'joann', 'Sync 10');
  await named('Ann_Lee', 'ann_lee', 'Sync_1');
  await named('Änn Straße', 'aenn', 'Sync 1\\');
  await named('Ann Lee', 'stranger', 'Sync 1 of others', foreign.scope);
  const keysFor = async (filters: Record<string, string>) => {
    const { status, text } = await browser.get(`${PATH}?${new URLSearchParams(filters)}`);
    return status === 200 ? [...new Set(text.match(/Sync[ _]1[^<]*/g))].toSorted() : status;
  };
  for (const [filters, found] of [
    [{ person: 'ann lee' }, ['Sync 1%', 'Sync 10']],
    [{ person: `ann-${at}` }, ['Sync 1%']],
    [{ person: `ANN-${at.toUpperCase()}` }, ['Sync 1%']],
    [{ person: 'ann_lee' }, ['Sync_1']],
    [{ person: 'A\u0308NN STRASSE' }, ['Sync 1\\']],
    [{ person: 'Ann L%' }, 422],
    [{ person: 'stranger' }, 422],
    [{ key: 'sync 1' }, ['Sync 1%', 'Sync 10', 'Sync 1\\']],
    [{ key: 'sync_1' }, ['Sync_1']],
    [{ key: '1%' }, ['Sync 1%']],
    [{ key: '1\\' }, ['Sync 1\\']],
    [{ person: 'joann', key: 'sync 1%' }, []],
    [{ key: 'sync 1', action: 'key.revoked' }, []],
  ] as const)
    expect([filters, await keysFor(filters)]).toEqual([filters, typeof found === 'number' ? found : found.toSorted()]);
});

test('the page says how many events there are, and of many, that there are more than 1,000', async () => {
  const { administrator, member, scope } = await createPeople(dashboard.db);
  for (let i = 0; i < 3; i += 1) await giveKey(dashboard.db, member, { name: `Counted ${i}` });
  const browser = await browserOf(dashboard, administrator);
  expect(wordsOf(await browser.get(PATH))).toContain('Events 3 in all');
  expect(wordsOf(await browser.get(`${PATH}?key=counted%201`))).toContain('Events 1 found');
  await dashboard.db.pool.query(
    `insert into audit_events (organization_id, id, act) select $1, uuidv7(), 'key.renamed' from generate_series(1, 1000)`,
    [scope.organizationId],
  );
  expect(wordsOf(await browser.get(PATH))).toContain('Events 1,000+ in all');
});

test('a whole API key in a filter finds its events, and never gets into a URL, a page or a log', async () => {
  // The attack: an administrator pastes a leaked key, which then stays in the history of the browser and in a proxy's log.
  for (const name of ['person', 'key', 'action', 'from']) {
    for (const text of [key.key, key.key.slice(13), ` "${key.key}"`, key.key.slice(0, 40)]) {
      const location = await filter({ [name]: text });
      expect([name, text, location.includes(key.key.slice(18, 30))]).toEqual([name, text, false]);
      const page = await admin.get(location);
      expect([keysIn(page), page.text.includes(key.key.slice(18, 30))]).toEqual([[], false]);
      if (name === 'key') expect(wordsOf(page)).toContain('API key created');
    }
  }
  expect(dashboard.logged.join('')).not.toContain(key.key.slice(18, 30));
});

test.each([
  ['page', ''],
  ['export', '.csv'],
])('the %s reports all invalid filters at once, without events and without a file', async (_, suffix) => {
  // The risk: an empty list beside an error is taken for "nothing happened".
  const query = 'action=none&person=nobody&key=nothing&from=2026-02-30&to=x';
  const page = await admin.get(`${PATH}${suffix}?${query}`);
  expect([page.status, page.headers['content-disposition']]).toEqual([422, undefined]);
  for (const field of ['action', 'person', 'key', 'from', 'to']) expect(page.text).toContain(`href="#${field}"`);
  expect(wordsOf(page)).not.toContain('No events');
  expect(page.text).not.toContain('Export as CSV');
  expect(wordsOf(page).includes('Nothing was exported.')).toBe(suffix === '.csv');
});

test('a last day before the first one is refused, and so is a part of a name that matches too many people', async () => {
  const early = await admin.get(`${PATH}?from=2026-03-02&to=2026-03-01`);
  expect([early.status, wordsOf(early)]).toEqual([
    422,
    expect.stringContaining('To must not be before the first day.'),
  ]);
  const { organizationId } = people.scope;
  await dashboard.db.pool.query(
    `insert into users (organization_id, id, email, name, role)
     select $1, gen_random_uuid(), 'twin-' || i || '@example.test', 'Twin ' || i, 'viewer' from generate_series(1, 21) i`,
    [organizationId],
  );
  const many = await admin.get(`${PATH}?person=twin`);
  expect([many.status, wordsOf(many)]).toEqual([422, expect.stringContaining('more than 20 people match')]);
  expect((await admin.get(`${PATH}?person=twin-3@example.test`)).status).toBe(200);
  expect(wordsOf(await admin.get(`${PATH}?from=2099-01-01`))).toContain('No recorded event matches the filters.');
});

test('links lead to today, the last 7 and the last 30 days in UTC, and keep the other filters', async () => {
  const page = await admin.get(`${PATH}?key=nightly&from=2026-01-01&to=2026-01-02`);
  for (const [name, days] of [
    ['Today', 1],
    ['Last 7 days', 7],
    ['Last 30 days', 30],
  ] as const) {
    const from = new Date(dashboard.now().getTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    expect(page.text).toContain(`<a href="${PATH}?key=nightly&amp;from=${from}">${name}</a>`);
    const current = await admin.get(`${PATH}?key=nightly&from=${from}`);
    expect([current.status, current.text.includes(`aria-current="true">${name}</a>`)]).toEqual([200, true]);
    expect(wordsOf(current)).toContain('Nightly import');
  }
  expect(page.text).toContain(`<a href="${PATH}?key=nightly">All time</a>`);
});

test('each event has its second in UTC, and the instant for the script', async () => {
  const { text } = await admin.get(PATH);
  expect(text).toMatch(
    /<time datetime="\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)\.\d{3}Z" data-local-time>\d{1,2} \w{3} \d{4}, \1 UTC<\/time>/,
  );
});
