import type { Actor } from '../../../src/domain/audit/actor.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { hashToken, mintToken } from '../../../src/domain/people/session.ts';
import type { Outbox } from '../../../src/service/mail.ts';
import { changeNoticeSettings, changePolicy, getPolicy } from '../../../src/service/organizations/policy.ts';
import {
  createLink,
  createOperatorLink,
  createOwnLinks,
  openLink,
  requestReset,
  setPassword,
} from '../../../src/service/people/access-links.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../../src/service/people/change-user.ts';
import { canWithdraw, correctEmail, inviteUser, withdrawInvitation } from '../../../src/service/people/invitations.ts';
import { getUser, listUsers } from '../../../src/service/people/people.ts';
import { getWaysToProve, prove } from '../../../src/service/sign-in/prove.ts';
import { endOtherSessions, endOwnSession, listSessions } from '../../../src/service/sign-in/sessions.ts';
import { getSessionState, giveSecondFactor, signIn, signOut } from '../../../src/service/sign-in/sign-in.ts';
import { changePassword } from '../../../src/service/sign-in-settings/change-password.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  countRecoveryCodesLeft,
  findPendingSecret,
  removeSecondFactor,
  renewRecoveryCodes,
  resetSecondFactor,
} from '../../../src/service/sign-in-settings/second-factor.ts';
import { insertAccessLink } from '../../../src/store/people/access-links.ts';
import { insertSession } from '../../../src/store/people/sessions.ts';
import { listAdministrators } from '../../../src/store/people/user-lists.ts';
import { createPeople, outcomeOf } from '../../support/data/actors.ts';
import { giveIntegration } from '../../support/data/integrations.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const POLICY = { membersMayCreateKeys: true, maxKeyLifeDays: 9, allowsUnendingKeys: true, requiresAddresses: true };

// An integration has no e-mail, password, session or second factor. Each function of the service for people and their sign-in
// must treat the integration's id and name, and any session or link for it, as if there were no such user.

const { db } = await useSharedDatabase();
const people = await createPeople(db);
const { administrator } = people;
const integration = await giveIntegration(db, administrator, { name: 'not-a-person@example.test' });
const userId = integration.id;
const auditSource = { ip: '192.0.2.7', userAgent: 'Test', requestId: 'test' };
/** The attack: a session that acts as the integration. */
const asIntegration: Actor = { ...administrator, userId, name: integration.name, email: integration.name };
const [token, password] = [mintToken(), 'a long and unusual pass phrase'];
const tokenHash = hashToken(token) ?? Buffer.alloc(32);
const inBackground: Promise<void>[] = [];
const outbox: Outbox = {
  canSend: true,
  send: async () => {},
  post: () => {},
  later: (work) => void inBackground.push(work()),
  settle: async () => void (await Promise.all(inBackground)),
};

await insertSession(db.prisma, people.scope, {
  userId,
  tokenHash,
  isComplete: true,
  at: new Date(),
  provedAt: null,
  auditSource,
});
await insertAccessLink(db.prisma, people.scope, {
  userId,
  tokenHash,
  kind: 'invitation',
  madeByUserId: null,
  createdAt: new Date(),
  expiresAt: new Date(Date.now() + 3_600_000),
});

const NOBODY = 'not_found: There is no such user.';
const SIGNED_OUT = 'forbidden: Your account was deactivated. Contact an administrator.';

/** The outcome of each function for the integration: a refusal, or what the function returns if there is no such user. */
const OUTCOMES: Record<string, readonly [attempt: () => Promise<unknown>, outcome: unknown]> = {
  createLink: [() => outcomeOf(createLink(db, administrator, { userId, kind: 'invitation' })), NOBODY],
  createOperatorLink: [
    () => outcomeOf(createOperatorLink(db, administrator.scope, { userId })),
    'not_found: The user has just been removed.',
  ],
  createOwnLinks: [() => createOwnLinks(db, { email: integration.name, auditSource, now: new Date() }), []],
  openLink: [() => openLink(db, token), null],
  setPassword: [() => outcomeOf(setPassword(db, { token, password, auditSource })), 'dead-link'],
  changePassword: [() => changed(() => changePassword(db, asIntegration, { password, token })), false],
  changeRole: [() => outcomeOf(changeRole(db, administrator, { userId, role: 'administrator' })), NOBODY],
  deactivateUser: [() => outcomeOf(deactivateUser(db, administrator, { userId })), NOBODY],
  reactivateUser: [() => outcomeOf(reactivateUser(db, administrator, { userId })), NOBODY],
  getPolicy: [() => changed(() => getPolicy(db, asIntegration)), false],
  changePolicy: [() => outcomeOf(changePolicy(db, asIntegration, POLICY)), SIGNED_OUT],
  changeNoticeSettings: [
    () => outcomeOf(changeNoticeSettings(db, asIntegration, { endsUnusedAfterDays: 9, tellsNewNetworks: true })),
    SIGNED_OUT,
  ],
  listUsers: [async () => (await listUsers(db, administrator)).users.some(({ id }) => id === userId), false],
  getUser: [() => outcomeOf(getUser(db, administrator, userId)), NOBODY],
  inviteUser: [
    () => outcomeOf(inviteUser(db, asIntegration, { name: 'Ada', email: 'ada@example.test', role: 'viewer' })),
    SIGNED_OUT,
  ],
  correctEmail: [() => outcomeOf(correctEmail(db, administrator, { userId, email: 'ada@example.test' })), NOBODY],
  withdrawInvitation: [() => outcomeOf(withdrawInvitation(db, administrator, { userId })), NOBODY],
  canWithdraw: [() => canWithdraw(db, administrator, { id: userId, hasAccepted: true }), false],
  requestReset: [
    () =>
      changed(async () => {
        await requestReset(db, { email: integration.name, auditSource }, { outbox, publicUrl: 'https://example.org' });
        await outbox.settle();
      }),
    false,
  ],
  resetSecondFactor: [() => outcomeOf(resetSecondFactor(db, administrator, { userId })), NOBODY],
  beginSecondFactor: [() => changed(() => beginSecondFactor(db, asIntegration, { token })), false],
  confirmSecondFactor: [() => changed(() => confirmSecondFactor(db, asIntegration, { code: '000000', token })), false],
  findPendingSecret: [() => changed(() => findPendingSecret(db, asIntegration, { secret: 'AAAA' })), false],
  renewRecoveryCodes: [() => changed(() => renewRecoveryCodes(db, asIntegration, { token })), false],
  removeSecondFactor: [() => changed(() => removeSecondFactor(db, asIntegration, { token })), false],
  countRecoveryCodesLeft: [() => countRecoveryCodesLeft(db, asIntegration), 0],
  getWaysToProve: [
    () => getWaysToProve(db, asIntegration),
    { hasPassword: false, hasSecondFactor: false, passkeys: 0, isLinked: false },
  ],
  prove: [
    () =>
      outcomeOf(prove(db, asIntegration, { given: { kind: 'password', password, code: '' }, token, now: new Date() })),
    SIGNED_OUT,
  ],
  listSessions: [() => changed(() => listSessions(db, asIntegration, { token, now: new Date() })), false],
  endOwnSession: [() => outcomeOf(endOwnSession(db, asIntegration, { sessionId: userId, token })), SIGNED_OUT],
  endOtherSessions: [() => outcomeOf(endOtherSessions(db, asIntegration, { token })), SIGNED_OUT],
  signIn: [() => outcomeKind(signIn(db, { email: integration.name, password, auditSource })), 'wrong'],
  giveSecondFactor: [() => outcomeKind(giveSecondFactor(db, { token, code: '000000', auditSource })), 'ended'],
  signOut: [() => changed(() => signOut(db, token, auditSource)), false],
  getSessionState: [() => getSessionState(db, token, auditSource), { kind: 'ended', end: 'ended' }],
};

const outcomeKind = async (work: Promise<{ readonly kind: string }>) => (await work).kind;

async function rowOfIntegration() {
  const { rows } = await db.pool.query('select to_jsonb(u) as row from users u where id = $1', [userId]);
  return rows[0];
}

/** Returns whether the attempt changes the row of the integration. The attempt may be refused in any way. */
async function changed(attempt: () => Promise<unknown>): Promise<boolean> {
  const before = await rowOfIntegration();
  await attempt().catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
  });
  return JSON.stringify(await rowOfIntegration()) !== JSON.stringify(before);
}

test.each(Object.keys(OUTCOMES))('%s finds no user in an integration', async (name) => {
  const [attempt, outcome] = OUTCOMES[name] ?? [];
  expect(await attempt?.()).toEqual(outcome);
});

// The risk: an integration with the role of an administrator would count as a person who can give others access again.
test('the database refuses an integration with a password, an e-mail or the role of a manager', async () => {
  for (const change of [
    "password_hash = 'x'",
    "email = 'i@example.test'",
    "role = 'manager'",
    'owner_user_id = null',
  ]) {
    await expect(db.pool.query(`update users set ${change} where id = $1`, [userId])).rejects.toMatchObject({
      code: '23514',
    });
  }
  expect((await listAdministrators(db, people.scope)).map(({ id }) => id)).not.toContain(userId);
});
