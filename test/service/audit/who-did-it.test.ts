import type { Actor } from '../../../src/domain/audit/actor.ts';
import { DEFAULT_LIMITS } from '../../../src/domain/keys/request-limits.ts';
import {
  changeIntegration,
  createIntegration,
  reactivateIntegration,
  suspendIntegration,
  takeOwnership,
} from '../../../src/service/integrations/change-integration.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { moveKey } from '../../../src/service/keys/move-key.ts';
import { renameKey } from '../../../src/service/keys/rename-key.ts';
import { restrictKey } from '../../../src/service/keys/restrict-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { createLink } from '../../../src/service/people/access-links.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../../src/service/people/change-user.ts';
import { correctEmail, inviteUser, withdrawInvitation } from '../../../src/service/people/invitations.ts';
import { resetSecondFactor } from '../../../src/service/sign-in-settings/second-factor.ts';
import { createAccount, givePasskey } from '../../support/data/accounts.ts';
import { createScope, giveKey, READ } from '../../support/data/actors.ts';
import { giveIntegration } from '../../support/data/integrations.ts';
import { useDatabase } from '../../support/postgres/store.ts';

// The audit log must name who acted, and not the person concerned or the former or next owner.

const { db } = await useDatabase();
const newEmail = () => `${crypto.randomUUID()}@example.test`;

/** Actions of the administrator on the member. Each returns the ids of the targets, one for each event. */
type Act = (given: { readonly by: Actor; readonly of: Actor; readonly other: Actor }) => Promise<readonly string[]>;

const ACTS: Record<string, Act> = {
  'a demotion with a hand-over': async ({ by, of, other }) => {
    const [first, second] = [await giveIntegration(db, of), await giveIntegration(db, of)];
    orThrow(await changeRole(db, by, { userId: of.userId, role: 'viewer', newOwner: other.email }));
    return [first.id, second.id, of.userId];
  },
  'a deactivation with a hand-over': async ({ by, of, other }) => {
    const { id } = await giveIntegration(db, of);
    await giveKey(db, of);
    orThrow(await deactivateUser(db, by, { userId: of.userId, newOwner: other.email }));
    return [id, of.userId, of.userId];
  },
  'a reactivation': async ({ by, of }) => {
    await db.prisma.user.updateMany({ where: { id: of.userId }, data: { deactivatedAt: new Date() } });
    orThrow(await reactivateUser(db, by, { userId: of.userId }));
    return [of.userId];
  },
  'a reset link': async ({ by, of }) => {
    orThrow(await createLink(db, by, { userId: of.userId, kind: 'password_reset' }));
    return [of.userId];
  },
  'the removal of a second factor': async ({ by, of }) => {
    await givePasskey(db, of);
    orThrow(await resetSecondFactor(db, by, { userId: of.userId }));
    return [of.userId];
  },
  'an invitation that is corrected and withdrawn': async ({ by }) => {
    const { userId } = orThrow(await inviteUser(db, by, { email: newEmail(), name: 'Mei', role: 'viewer' })).link;
    orThrow(await correctEmail(db, by, { userId, email: newEmail() }));
    orThrow(await withdrawInvitation(db, by, { userId }));
    return [userId, userId, userId];
  },
  'the life of a key': async ({ by, of }) => {
    const { userId } = of;
    const made = { userId, name: 'Nightly', permissions: READ, lifeDays: 30, environment: 'live' } as const;
    const { id } = orThrow(await issueKey(db, by, made));
    orThrow(await renameKey(db, by, { keyId: id, userId, name: 'Daily' }));
    const limits = { addresses: '192.0.2.1', requestsPerSecond: null, requestLimits: DEFAULT_LIMITS, lockedOut: [] };
    orThrow(await restrictKey(db, by, { keyId: id, userId, ...limits }));
    const next = orThrow(await rotateKey(db, by, { keyId: id, userId, environment: 'live' }));
    orThrow(await revokeKey(db, by, { keyId: next.id, userId }));
    return Array(5).fill(userId);
  },
  'the move of a key': async ({ by, of, other }) => {
    const { id: keyId } = await giveKey(db, of);
    const integration = await giveIntegration(db, other);
    const { userId } = of;
    orThrow(await moveKey(db, by, { keyId, userId, integrationId: integration.id, name: 'Moved' }));
    return [userId, integration.id];
  },
  'the life of an integration': async ({ by, of, other }) => {
    const request = { name: `Import ${crypto.randomUUID()}`, description: '', role: 'viewer', noticeEmail: '' };
    const { id } = orThrow(await createIntegration(db, by, { ...request, owner: of.email }));
    orThrow(await changeIntegration(db, by, { id, ...request, owner: other.email }));
    orThrow(await takeOwnership(db, by, { id }));
    orThrow(await suspendIntegration(db, by, { id }));
    orThrow(await reactivateIntegration(db, by, { id }));
    return Array(5).fill(id);
  },
};

test.each(Object.keys(ACTS))('%s is recorded as that of who did it', async (name) => {
  const scope = await createScope(db);
  const account = (role: 'administrator' | 'member') => createAccount(db, { scope, role });
  const given = { by: await account('administrator'), of: await account('member'), other: await account('member') };
  // An action may need a preparation by an operator, whose events are excluded.
  const targets = await ACTS[name]?.(given);
  const { organizationId } = scope;
  const events = await db.prisma.auditEvent.findMany({
    where: { organizationId, NOT: { actorUserId: null } },
    orderBy: { id: 'asc' },
  });
  expect(events.map(({ actorUserId }) => actorUserId)).toEqual(targets?.map(() => given.by.userId));
  expect(events.map(({ targetUserId }) => targetUserId).toSorted()).toEqual(targets?.toSorted());
  const { ip, userAgent, requestId } = given.by.auditSource;
  for (const event of events) expect(event).toMatchObject({ ip, userAgent, requestId });
});
