import type { Actor } from '../../../src/domain/actor.ts';
import { ageProofs, codeAt, createAccount, openSession } from '../../support/data/accounts.ts';
import { createPeople } from '../../support/data/actors.ts';
import { encryptedSecret } from '../../support/data/encryption.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { Browser, type Page } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { textOf } from '../../support/http/forms.ts';
import { giveProof } from '../../support/http/proof.ts';

const dashboard = await useDashboard();
const people = await createPeople(dashboard.db);
const admin = await browserOf(dashboard, people.administrator, {
  'User-Agent': 'Agent/1',
  'X-Forwarded-For': '203.0.113.9',
});

/** The events recorded by the request that got this response. */
async function eventsOf({ headers }: Page) {
  const requestId = headers['x-request-id'] ?? '';
  const events = await dashboard.db.prisma.auditEvent.findMany({ where: { requestId }, orderBy: { id: 'asc' } });
  return events.map(({ action, actorUserId, targetUserId, keyId, ip, userAgent }) => ({
    action,
    actorUserId,
    targetUserId,
    keyId,
    ip,
    userAgent,
  }));
}

const from = { ip: '127.0.0.1', userAgent: 'Agent/1' };

test('each action on keys and people records one event with actor, target, key, address and request', async () => {
  // The attack: an action that leaves no event, or a false one.
  const { member, administrator } = people;
  const user = `/people/users/${member.userId}`;
  const expectEvent = async (
    page: Page,
    action: string,
    keyId: unknown = null,
    targetUserId: unknown = member.userId,
  ) =>
    expect(await eventsOf(page)).toEqual([{ action, actorUserId: administrator.userId, targetUserId, keyId, ...from }]);
  const keyIdOf = async (where: object) =>
    (await dashboard.db.prisma.apiKey.findFirstOrThrow({ where: { userId: member.userId, ...where } })).id;

  await expectEvent(
    await admin.submit(`${user}/api-keys/new`, { name: 'One' }, `${user}/api-keys`),
    'key.created',
    expect.any(String),
  );
  const first = await keyIdOf({});
  await expectEvent(await admin.submit(`${user}/api-keys/${first}/rename`, { name: 'Two' }), 'key.renamed', first);
  await expectEvent(await admin.submit(`${user}/api-keys/${first}/rotate`), 'key.rotated', first);
  const second = await keyIdOf({ rotatedAt: null });
  await expectEvent(await admin.submit(`${user}/api-keys/${second}/revoke`), 'key.revoked', second);
  const person = { name: 'Mei', email: `${crypto.randomUUID()}@example.test`, role: 'viewer' };
  const invited = await admin.submit('/people/users/invite', person);
  await expectEvent(invited, 'user.invited', null, expect.any(String));
  await expectEvent(await admin.submit(user, { role: 'viewer' }, `${user}/role`), 'user.role_changed');
  await expectEvent(await admin.submit(user, {}, `${user}/link`), 'user.invited');
  await dashboard.db.prisma.user.updateMany({
    where: { id: member.userId },
    data: { totpSecret: encryptedSecret(member), totpSince: new Date() },
  });
  await expectEvent(await admin.submit(`${user}/second-factor`), 'user.second_factor_removed');
  await expectEvent(await admin.submit(`${user}/deactivate`), 'user.deactivated');
  await expectEvent(await admin.submit(user, {}, `${user}/reactivate`), 'user.reactivated');
  await expectEvent(
    await admin.submit('/organization', { max_key_life_days: '99' }),
    'organization.policy_changed',
    null,
    null,
  );
  const [path = ''] = /\/welcome\/[\w-]{43}/.exec(invited.text) ?? [];
  const guest = new Browser(dashboard.url, { headers: { 'User-Agent': 'Agent/1' } });
  const { id } = await dashboard.db.prisma.user.findFirstOrThrow({ where: { email: person.email } });
  expect(await eventsOf(await guest.submit(path, { password: PASSWORD }))).toEqual([itself('user.password_set', id)]);
});

function itself(action: string, userId: string) {
  return { action, actorUserId: userId, targetUserId: userId, keyId: null, ...from };
}

test('each action on one’s own account records one event, and so does a failed sign-in', async () => {
  // The attack: an intruder in an account goes unnoticed by its owner.
  const account: Actor = await createAccount(dashboard.db, { scope: people.scope });
  const browser = new Browser(dashboard.url, { headers: { 'User-Agent': 'Agent/1' } });
  const expectEvent = async (page: Page, action: string) =>
    expect(await eventsOf(page)).toEqual([itself(action, account.userId)]);
  expect(await eventsOf(await browser.signIn(account.email, 'wrong'))).toEqual([
    { ...itself('user.sign_in_failed', account.userId), actorUserId: null },
  ]);
  await expectEvent(await browser.signIn(account.email, PASSWORD), 'user.signed_in');
  const path = '/profile/second-factor';
  await ageProofs(dashboard.db, account);
  const asked = await browser.submit(path);
  await expectEvent(await giveProof(browser, asked, { password: 'wrong' }), 'user.proof_failed');
  const setUp = await giveProof(browser, asked);
  const [, uri = ''] = /href="(otpauth:[^"]*)"/.exec(setUp.text) ?? [];
  const form_token = await browser.formToken();
  const code = codeAt(textOf(uri), dashboard.now());
  await expectEvent(
    await browser.post('/profile/second-factor/confirm', { form_token, code }),
    'user.second_factor_on',
  );
  await expectEvent(await browser.submit(`${path}/recovery-codes`), 'user.recovery_codes_made');
  await expectEvent(await browser.submit(path, {}, `${path}/remove`), 'user.second_factor_off');
  await openSession(dashboard.db, account, dashboard.now());
  await openSession(dashboard.db, account, dashboard.now());
  await expectEvent(await browser.submit('/profile/sessions'), 'user.session_ended');
  const everywhere = '/profile/sessions/sign-out-everywhere';
  await expectEvent(await browser.submit('/profile/sessions', {}, everywhere), 'user.signed_out_everywhere');
  const change = { password: 'seven otters juggle 93 lanterns' };
  await expectEvent(await browser.submit('/profile/password', change), 'user.password_set');
  await expectEvent(await browser.submit('/profile', {}, '/sign-out'), 'user.signed_out');
});
