import type { Actor } from '../../../../src/domain/audit/actor.ts';
import { orThrow } from '../../../../src/service/outcome.ts';
import { changeRole } from '../../../../src/service/people/change-user.ts';
import { inviteUser } from '../../../../src/service/people/invitations.ts';
import { vouchForDomain } from '../../../../src/service/sign-in/single-sign-on/domains.ts';
import { unlinkUser } from '../../../../src/service/sign-in/single-sign-on/enforcement.ts';
import { removeConnection } from '../../../../src/service/sign-in/single-sign-on/settings.ts';
import { removePasskey } from '../../../../src/service/sign-in-settings/passkeys.ts';
import { createAccount, givePasskey, linkDirectly, openSession } from '../../../support/data/accounts.ts';
import { codeOf, listAuditEventsOf, outcomeOf } from '../../../support/data/actors.ts';
import { useSharedDatabase } from '../../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

async function administrators() {
  const administrator = await createAccount(db, { role: 'administrator' });
  return { administrator, other: await createAccount(db, { role: 'administrator', scope: administrator.scope }) };
}

const takePassword = ({ userId }: Actor) =>
  db.prisma.user.updateMany({ where: { id: userId }, data: { passwordHash: null } });

test('the last administrator who can sign in cannot be unlinked, except with a password or a passkey', async () => {
  const { administrator, other } = await administrators();
  await takePassword(administrator);
  await linkDirectly(db, administrator);
  orThrow(await changeRole(db, administrator, { userId: other.userId, role: 'manager' }));
  orThrow(await inviteUser(db, administrator, { email: 'mei@example.test', name: 'Mei', role: 'administrator' }));
  const self = { userId: administrator.userId };
  expect(await outcomeOf(unlinkUser(db, administrator, self))).toContain('Set a password or add a passkey under');
  await givePasskey(db, administrator);
  orThrow(await unlinkUser(db, administrator, self));
});

test('when an administrator removes the connection and another one a passkey concurrently, one can sign in', async () => {
  // The race: two administrators each remove a way to sign in, and rely on the way that the other administrator removes.
  for (let round = 0; round < 6; round += 1) {
    const { administrator, other } = await administrators();
    await takePassword(administrator);
    await takePassword(other);
    await linkDirectly(db, administrator);
    const { id } = await givePasskey(db, administrator);
    const token = await openSession(db, administrator);
    const outcomes = await Promise.all(
      [removePasskey(db, administrator, { id, token }), removeConnection(db, other)].map(codeOf),
    );
    expect(outcomes.toSorted()).toEqual(['conflict', 'done']);
  }
});

test('an unlinking is recorded as that of who did it', async () => {
  const { administrator, other } = await administrators();
  await linkDirectly(db, other);
  orThrow(await unlinkUser(db, administrator, { userId: other.userId }));
  const events = await listAuditEventsOf(db, administrator);
  expect(events.map(({ action, actorUserId, targetUserId }) => [action, actorUserId, targetUserId])).toEqual([
    ['user.sso_unlinked', administrator.userId, other.userId],
  ]);
});

test('a verified domain takes back the invitations of its e-mails elsewhere', async () => {
  const { administrator } = await administrators();
  const elsewhere = await createAccount(db, { role: 'administrator' });
  const domain = `${crypto.randomUUID()}.example`;
  const invitation = { email: `mei@${domain}`, name: 'Mei', role: 'viewer' };
  const { userId } = orThrow(await inviteUser(db, elsewhere, invitation)).link;
  await vouchForDomain(db, administrator.scope, { domain });
  expect(await db.prisma.user.count({ where: { id: userId } })).toBe(0);
});
