import { permissionWords } from '../../../src/dashboard/markup/words.ts';
import { changeRole, deactivateUser } from '../../../src/service/accounts/change-user.ts';
import { inviteUser } from '../../../src/service/accounts/invitations.ts';
import { updatePolicy } from '../../../src/service/accounts/organization.ts';
import { prove } from '../../../src/service/accounts/prove.ts';
import { resetSecondFactor } from '../../../src/service/accounts/reset-second-factor.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { renameKey } from '../../../src/service/keys/rename-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { addSecondFactor, createAccount } from '../../support/data/accounts.ts';
import { createPeople, outcomeOf, READ_WRITE } from '../../support/data/actors.ts';
import { wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const POLICY = { membersMayCreateKeys: true, maxKeyLifeDays: 365, allowsUnendingKeys: false, requiresAddresses: false };
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d/;

const dashboard = await useDashboard();
const { db } = dashboard;
const { administrator, member } = await createPeople(db, POLICY);
const { userId } = member;
const request = { userId, permissions: READ_WRITE, lifeDays: 300, environment: 'live' } as const;
const made = orThrow(await issueKey(db, administrator, { ...request, name: 'First name' }));
const expiresAt = made.expiresAt;
orThrow(await renameKey(db, administrator, { keyId: made.id, userId, name: 'Second name' }));
const successor = orThrow(await rotateKey(db, administrator, { keyId: made.id, userId, environment: 'live' }));
orThrow(
  await inviteUser(db, administrator, { email: `${crypto.randomUUID()}@example.test`, name: 'Mei', role: 'viewer' }),
);
orThrow(await changeRole(db, administrator, { userId, role: 'manager' }));
orThrow(await updatePolicy(db, administrator, { ...POLICY, maxKeyLifeDays: 1, allowsUnendingKeys: true }));
const account = await createAccount(db, { scope: administrator.scope });
await addSecondFactor(db, account, new Date());
orThrow(await resetSecondFactor(db, administrator, { userId: account.userId }));
const wrongProof = { given: { kind: 'password', password: 'wrong', code: '' }, token: '', now: new Date() } as const;
await outcomeOf(prove(db, account, wrongProof));
orThrow(await deactivateUser(db, administrator, { userId }));
const browser = await browserOf(dashboard, administrator);
const [page, file] = [await browser.get('/organization/audit-log'), await browser.get('/organization/audit-log.csv')];

test('the log page describes events in words, with names, prefixes, roles and dates that people can read', () => {
  const words = wordsOf(page);
  for (const line of [
    'API key created Its name was “First name” Expires ',
    `UTC ${wordsOf({ text: permissionWords(READ_WRITE) }).trim()} The administrator`,
    'API key renamed From “First name” to “Second name”',
    `API key rotated Replaced by ${successor.key.slice(0, 17)}…`,
    'API key revoked Because the user was deactivated',
    'User invited As Viewer',
    'Role changed From Member to Manager',
    'Second factor removed It was on',
    'Proof of identity failed With the password',
    'Longest key life: from 365 days to 1 day',
    'Keys that never expire: from not allowed to allowed',
  ]) {
    expect(words).toContain(line);
  }
});

test('the log page shows no ids and no machine times, and each date has a machine-readable form', () => {
  // Except the request id, which people quote to support, and the e-mail addresses.
  expect(wordsOf(page).replaceAll(/Request [\w-]+|[\w-]+@/g, '')).not.toMatch(UUID);
  expect(wordsOf(page)).not.toMatch(ISO);
  const iso = expiresAt?.toISOString() ?? '';
  expect(page.text).toMatch(
    new RegExp(`Expires <time datetime="${iso}">\\d{1,2} [A-Z][a-z]{2} \\d{4}, \\d\\d:\\d\\d UTC</time>`),
  );
});

test('the export has the exact values', () => {
  const rows = file.text.split('\r\n');
  const created = rows.find((row) => row.includes('key.created')) ?? '';
  expect(created).toContain(`expires: ${expiresAt?.toISOString()}`);
  expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,key\.created,/);
  expect(rows.find((row) => row.includes('key.rotated'))).toContain(`successor: ${successor.id}`);
  expect(rows.find((row) => row.includes('user.role_changed'))).toContain('after: manager; before: member');
  expect(file.text).toContain('longest key life: 365 days -> 1 day');
});
