import type { Actor } from '../../../src/domain/audit/actor.ts';
import { type Browser, type Fields, fillForm, keysIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createAccount } from '../../support/data/accounts.ts';
import { giveKey, times } from '../../support/data/actors.ts';
import { until } from '../../support/wait.ts';

const dashboard = await useDashboard();
const second = await useDashboard({ databaseUrl: dashboard.databaseUrl });

const OWN = '/profile/api-keys';
const NAMES = { name: 'Once' };

const countKeys = ({ userId }: Actor) => dashboard.db.prisma.apiKey.count({ where: { userId } });
const createForm = async (browser: Browser) => fillForm(await browser.form(`${OWN}/new`, OWN), NAMES);

/** Sends the form, and ends the connection of its transaction while the transaction waits for the user’s row. */
async function sendIntoOutage(browser: Browser, path: string, fields: Fields, { userId }: Actor): Promise<Page> {
  const holder = await dashboard.db.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from users where id = $1 for update', [userId]);
    const sent = browser.post(path, fields);
    await until('the action to wait for the row, and its connection to be cut', async () => {
      // Uses another connection, because within a transaction PostgreSQL keeps showing pg_stat_activity as it was when it was
      // first read.
      const { rowCount } = await second.db.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    return await sent;
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

test('a key form whose action failed in an outage can be sent again and then creates one key', async () => {
  // The bug: the form counted as sent, although no key had been created.
  const account = await createAccount(dashboard.db);
  const browser = await browserOf(dashboard, account);
  const fields = await createForm(browser);
  expect((await sendIntoOutage(browser, OWN, fields, account)).status).toBe(503);
  expect(await countKeys(account)).toBe(0);
  const again = await browser.post(OWN, fields);
  expect([again.status, keysIn(again).length, await countKeys(account)]).toEqual([200, 1, 1]);
  expect((await browser.post(OWN, fields)).status).toBe(409);
});

test('a refused form can be corrected with the back button and sent again', async () => {
  const account = await createAccount(dashboard.db);
  await giveKey(dashboard.db, account, { name: 'Taken' });
  const browser = await browserOf(dashboard, account);
  const fields = await createForm(browser);
  for (const wrong of [{ name: 'Taken' }, { name: '' }, { expiry: '3651' }, { permissions: 'all' }]) {
    const response = await browser.post(OWN, { ...fields, ...wrong });
    expect([wrong, [409, 422].includes(response.status), keysIn(response)]).toEqual([wrong, true, []]);
  }
  expect(keysIn(await browser.post(OWN, fields))).toHaveLength(1);
});

test('an invitation and a reset link that were refused can be sent again, and are made once', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'administrator');
  const invite = '/people/users/invite';
  const email = `${crypto.randomUUID()}@example.test`;
  const fields = fillForm(await browser.form(invite), { name: 'Mei', email: member.email });
  expect((await browser.post(invite, fields)).status).toBe(409);
  expect((await browser.post(invite, { ...fields, email })).status).toBe(200);
  const user = `/people/users/${member.userId}`;
  const link = fillForm(await browser.form(user, `${user}/link`));
  const deactivate = (deactivatedAt: Date | null) =>
    dashboard.db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt } });
  await deactivate(new Date());
  expect((await browser.post(`${user}/link`, link)).status).toBe(409);
  await deactivate(null);
  expect((await browser.post(`${user}/link`, link)).status).toBe(200);
});

test('one form sent 50 times concurrently through two servers creates one key and shows it once', async () => {
  // The attack: fifty rapid clicks, each with another name.
  const account = await createAccount(dashboard.db);
  const browsers = [await browserOf(dashboard, account), await browserOf(second, account)];
  const [browser] = browsers;
  if (browser === undefined) throw new Error('There is no browser.');
  const fields = await createForm(browser);
  for (const each of browsers) each.cookies.set('charter', browser.cookies.get('charter') ?? '');
  const responses = await times(50, (i) =>
    (browsers[i % 2] ?? browser).post(OWN, { ...fields, name: `Parallel ${i}` }),
  );
  const [first, ...others] = responses.map(({ status }) => status).toSorted();
  expect(first).toBe(200);
  // A busy machine may refuse some of the requests.
  for (const status of others) expect([409, 503]).toContain(status);
  expect([responses.flatMap(keysIn).length, await countKeys(account)]).toEqual([1, 1]);
});

test('sending a form twice says what the first one created and what to do now', async () => {
  const { browser, administrator, member } = await createSignedIn(dashboard, 'administrator');
  const { id } = await giveKey(dashboard.db, administrator);
  const user = `/people/users/${member.userId}`;
  const person = { name: 'Mei', email: `${crypto.randomUUID()}@example.test` };
  const forms = [
    { page: `${OWN}/new`, action: OWN, change: NAMES, words: /The key was created\b.* rotate it from its menu/ },
    { page: `${OWN}/${id}/rotate`, action: `${OWN}/${id}/rotate`, words: /The key was rotated\b.* rotate the new one/ },
    { page: '/people/users/invite', change: person, words: /The user was invited\b.* make a new link/ },
    { page: user, action: `${user}/link`, words: /The link was made\b.* make another one/ },
  ];
  for (const { page, action = page, change = {}, words } of forms) {
    const fields = fillForm(await browser.form(page, action), change);
    expect([action, (await browser.post(action, fields)).status]).toEqual([action, 200]);
    const again = await browser.post(action, fields);
    expect([action, again.status, wordsOf(again)]).toEqual([action, 409, expect.stringMatching(words)]);
    expect(wordsOf(again)).toContain('This form was sent already');
    expect(/link/i.test(wordsOf(again).replace(/.*sent already/, ''))).toBe(!/key/.test(words.source));
  }
});
