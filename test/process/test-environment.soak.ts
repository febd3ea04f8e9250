import { openDatabase } from '../../src/store/database.ts';
import { createAccount, openSession } from '../support/data/accounts.ts';
import { KEYRING } from '../support/data/encryption.ts';
import { Client } from '../support/http/client.ts';
import { Browser } from '../support/http/dashboard.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';

// Everything else in the tests runs in the environment "live".

const database = await useScratchDatabase();
const charter = await startCharter({ DATABASE_URL: database.url, CHARTER_ENVIRONMENT: 'test' });
afterAll(() => kill(charter));
const db = openDatabase({ url: database.url, keyring: KEYRING, poolSize: 2, onIdleError: () => {} });
afterAll(() => db.close());

const statusOf = async (key: string) => (await new Client(charter.url, key).get('/api/key')).status;

test('in the test environment, the operator, the form and the rotation each issue a key that this server accepts', async () => {
  const account = await createAccount(db, { role: 'administrator' });
  const issue = ['--json', 'issue-key', '--user', account.email, '--name', 'Issued'];
  const { code, stdout, stderr } = await runAdminCommand(database.url, issue, { CHARTER_ENVIRONMENT: 'test' });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const issued: { key: string } = JSON.parse(stdout);

  const browser = new Browser(charter.url);
  browser.cookies.set('charter', await openSession(db, account));
  const created = keyIn(await browser.submit('/profile/api-keys/new', { name: 'Created' }, '/profile/api-keys'));
  const { id } = await db.prisma.apiKey.findFirstOrThrow({ where: { userId: account.userId, name: 'Created' } });
  const rotated = keyIn(await browser.submit(`/profile/api-keys/${id}/rotate`));

  for (const key of [issued.key, created, rotated]) expect(key).toMatch(/^charter_test_[0-9A-Za-z]{46}$/);
  expect(await Promise.all([issued.key, created, rotated].map(statusOf))).toEqual([200, 401, 200]);
});

// The attack: a key of the other environment, which may be more widely known.
test('a live key is refused with the reason, and is not issued', async () => {
  const account = await createAccount(db, { role: 'administrator' });
  const issue = ['--json', 'issue-key', '--user', account.email, '--name', 'Live'];
  const live: { key: string } = JSON.parse((await runAdminCommand(database.url, issue)).stdout);
  expect(live.key).toMatch(/^charter_live_/);
  const { status, body } = await new Client(charter.url, live.key).get('/api/key');
  expect({ status, message: body.message }).toEqual({
    status: 401,
    message: expect.stringContaining('only test keys'),
  });
});

function keyIn({ text }: { text: string }): string {
  return /charter_(?:live|test)_[0-9A-Za-z]{46}/.exec(text)?.[0] ?? '';
}
