import { v7 as newId } from 'uuid';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import { getKeyAccess } from '../../../src/service/authority/keys.ts';
import {
  changeIntegration,
  createIntegration,
  type IntegrationRequest,
  reactivateIntegration,
  suspendIntegration,
  takeOwnership,
} from '../../../src/service/integrations/change-integration.ts';
import {
  getIntegration,
  listIntegrations,
  MAX_ACTIVE_INTEGRATIONS,
} from '../../../src/service/integrations/integrations.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../../src/service/people/change-user.ts';
import {
  codeOf,
  createActor,
  createPeople,
  giveKey,
  listAuditEventsOf,
  outcomeOf,
  times,
} from '../../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey, type TestIntegration } from '../../support/data/integrations.ts';
import { outcomeOfUse } from '../../support/data/key-uses.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const REQUEST = { description: 'Runs at night.', role: 'member', noticeEmail: 'Team@example.test' };
const requestOf = (owner: Actor, change: Partial<IntegrationRequest> = {}): IntegrationRequest => {
  return { ...REQUEST, name: crypto.randomUUID(), owner: owner.email, ...change };
};
const NOW = new Date();
const LIST = { isSuspended: false, after: null, before: null, now: NOW };
const namesSeenBy = async (actor: Actor) =>
  (await listIntegrations(db, actor, LIST)).integrations.map(({ name }) => name);
const create = (actor: Actor, { id: userId }: TestIntegration) =>
  outcomeOf(
    issueKey(db, actor, {
      userId,
      name: crypto.randomUUID(),
      permissions: ['parent_programs:read'],
      lifeDays: 30,
      environment: 'live',
    }),
  );

describe('administrators and managers', () => {
  test.each(['administrator', 'manager'] as const)(
    'a %s creates, changes, suspends and reactivates an integration',
    async (role) => {
      const people = await createPeople(db);
      const [actor, owner] = [people[role], people.viewer];
      const { id } = orThrow(await createIntegration(db, actor, requestOf(owner, { name: ' Nightly import ' })));
      expect(await getIntegration(db, actor, { id, now: NOW })).toMatchObject({
        name: 'Nightly import',
        description: 'Runs at night.',
        role: 'member',
        noticeEmail: 'team@example.test',
        ownerId: owner.userId,
        isOwnerActive: true,
        suspendedAt: null,
        activeKeys: 0,
      });
      const key = await giveIntegrationKey(db, actor, { id, name: '' });
      const change = { ...requestOf(actor, { name: 'Import', role: 'viewer' }), id };
      orThrow(await changeIntegration(db, actor, change));
      orThrow(await suspendIntegration(db, actor, { id }));
      expect(await outcomeOfUse(db, key.key)).toMatch(/^unauthenticated: The integration Import was suspended/);
      expect(await namesSeenBy(actor)).toEqual([]);
      orThrow(await reactivateIntegration(db, actor, { id }));
      expect(await outcomeOfUse(db, key.key)).toBe('done');
      const events = (await listAuditEventsOf(db, actor)).filter(({ targetUserId }) => targetUserId === id);
      expect(events.map(({ action, detail }) => [action, detail])).toEqual([
        ['integration.created', { role: 'member', owner: owner.email }],
        ['key.created', expect.anything()],
        ['integration.changed', { name: 'Nightly import -> Import', role: 'member -> viewer' }],
        ['integration.owner_changed', { to: actor.email }],
        ['integration.suspended', {}],
        ['integration.reactivated', {}],
      ]);
    },
  );

  test('a form with the same content changes nothing and writes no event', async () => {
    const { administrator } = await createPeople(db);
    const request = requestOf(administrator);
    const { id } = orThrow(await createIntegration(db, administrator, request));
    const before = await listAuditEventsOf(db, administrator);
    orThrow(await changeIntegration(db, administrator, { ...request, id }));
    expect(await listAuditEventsOf(db, administrator)).toEqual(before);
  });

  test.each([
    ['name', { name: ' ' }],
    ['name', { name: 'a\u202Eb' }],
    ['description', { description: `charter_live_${'a'.repeat(46)}` }],
    ['description', { description: 'a'.repeat(1001) }],
    ['role', { role: 'manager' }],
    ['owner', { owner: 'nobody' }],
    ['owner', { owner: 'nobody@example.test' }],
    ['notice_email', { noticeEmail: 'nobody' }],
  ])('%s is refused for %j', async (field, change) => {
    const { administrator } = await createPeople(db);
    expect(await outcomeOf(createIntegration(db, administrator, requestOf(administrator, change)))).toMatch(
      new RegExp(`^invalid: ${field} `),
    );
  });

  // The attack: an integration whose owner is a user of another organization. That user would see the integration and its keys.
  test('an owner must be an active user of the organization', async () => {
    const [{ administrator, member }, theirs] = [await createPeople(db), await createPeople(db)];
    expect(await codeOf(createIntegration(db, administrator, requestOf(theirs.member)))).toBe('invalid');
    orThrow(await deactivateUser(db, administrator, { userId: member.userId }));
    expect(await codeOf(createIntegration(db, administrator, requestOf(member)))).toBe('invalid');
    const { id } = await giveIntegration(db, theirs.administrator);
    const change = { ...requestOf(administrator), id };
    expect(await outcomeOf(changeIntegration(db, administrator, change))).toBe(
      'not_found: There is no such integration.',
    );
    expect(await codeOf(changeIntegration(db, administrator, { ...change, id: member.userId }))).toBe('not_found');
  });

  test('of 20 concurrent creations with names that look alike, one succeeds', async () => {
    const { administrator } = await createPeople(db);
    const outcomes = await times(20, (i) =>
      codeOf(
        createIntegration(db, administrator, requestOf(administrator, { name: i % 2 === 0 ? 'Import' : 'IMPORT' })),
      ),
    );
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 19 }, () => 'conflict'), 'done']);
  });

  test('an organization has at most 200 active integrations, under concurrent creations too', async () => {
    const { administrator, scope } = await createPeople(db);
    await db.prisma.user.createMany({
      data: Array.from({ length: MAX_ACTIVE_INTEGRATIONS - 1 }, (_, i) => ({
        id: newId(),
        organizationId: scope.organizationId,
        kind: 'integration' as const,
        name: `Integration ${i}`,
        role: 'viewer' as const,
        ownerUserId: administrator.userId,
      })),
    });
    const outcomes = await times(4, () => codeOf(createIntegration(db, administrator, requestOf(administrator))));
    expect(outcomes.toSorted()).toEqual(['conflict', 'conflict', 'conflict', 'done']);
  });
});

describe('owners', () => {
  test('a member sees the integrations that they own, and no other', async () => {
    const { administrator, member } = await createPeople(db);
    const [own, other] = [await giveIntegration(db, member), await giveIntegration(db, administrator)];
    expect(await namesSeenBy(member)).toEqual([own.name]);
    expect((await namesSeenBy(administrator)).toSorted()).toEqual([own.name, other.name].toSorted());
    expect(await getIntegration(db, member, { id: own.id, now: NOW })).toMatchObject({ name: own.name });
    for (const id of [other.id, newId(), 'x'])
      expect(await outcomeOf(getIntegration(db, member, { id, now: NOW }))).toMatch(/^forbidden: You may see only/);
  });

  test('a member creates keys of an integration that they own, as their own keys', async () => {
    const { administrator, member } = await createPeople(db);
    const [own, other] = [await giveIntegration(db, member), await giveIntegration(db, administrator)];
    expect(await create(member, own)).toBe('done');
    expect(await create(member, other)).toMatch(/^forbidden/);
    const forbidden = await createPeople(db, { membersMayCreateKeys: false });
    expect(await create(forbidden.member, await giveIntegration(db, forbidden.member))).toMatch(/^refused/);
  });

  // The attack: a demoted owner, now a viewer, gets a key that may write.
  test('a viewer sees and revokes the keys of an integration that they own, but creates none', async () => {
    const { viewer } = await createPeople(db);
    const own = await giveIntegration(db, viewer);
    const { id: keyId } = await giveIntegrationKey(db, viewer, own);
    expect(await getKeyAccess(db, viewer, own.id)).toMatchObject({ refusal: 'role', mayRevoke: true });
    expect(await create(viewer, own)).toMatch(/^refused: You may not create API keys of this integration/);
    expect(await outcomeOf(revokeKey(db, viewer, { keyId, userId: own.id }))).toBe('done');
  });

  test.each(['member', 'viewer'] as const)('a %s manages no integration, not even one that they own', async (role) => {
    const people = await createPeople(db);
    const owner = people[role];
    const { id } = await giveIntegration(db, owner);
    for (const action of [
      () => createIntegration(db, owner, requestOf(owner)),
      () => changeIntegration(db, owner, { ...requestOf(owner), id }),
      () => suspendIntegration(db, owner, { id }),
      () => reactivateIntegration(db, owner, { id }),
      () => takeOwnership(db, owner, { id }),
    ])
      expect(await outcomeOf(action())).toMatch(/^forbidden: You may not manage integrations/);
  });
});

describe('an owner who leaves', () => {
  test('a deactivation needs a new owner, and the keys of the integration stay valid', async () => {
    const { administrator, member } = await createPeople(db);
    const integration = await giveIntegration(db, member);
    const key = await giveIntegrationKey(db, member, integration);
    const own = await giveKey(db, member);
    const { userId } = member;
    const deactivate = (newOwner?: string) => outcomeOf(deactivateUser(db, administrator, { userId, newOwner }));
    for (const newOwner of [undefined, '', 'nobody@example.test', member.email])
      expect(await deactivate(newOwner)).toMatch(/^invalid: new_owner must be/);
    expect(await outcomeOfUse(db, own.key)).toBe('done');
    expect(await deactivate(administrator.email.toUpperCase())).toBe('done');
    expect(await outcomeOfUse(db, own.key)).toMatch(/^unauthenticated/);
    expect(await outcomeOfUse(db, key.key)).toBe('done');
    expect(await getIntegration(db, administrator, { id: integration.id, now: NOW })).toMatchObject({
      ownerId: administrator.userId,
    });
  });

  test('a demotion needs an owner, who may be the same user', async () => {
    const { administrator, manager, member } = await createPeople(db);
    const integration = await giveIntegration(db, manager);
    const { userId } = manager;
    const demote = (role: string, newOwner?: string) =>
      outcomeOf(changeRole(db, administrator, { userId, role, newOwner }));
    expect(await demote('administrator')).toBe('done');
    expect(await demote('member')).toMatch(/^invalid: new_owner must be given/);
    expect(await demote('member', manager.email)).toBe('done');
    const ownerOf = async () => (await getIntegration(db, administrator, { id: integration.id, now: NOW })).ownerId;
    expect(await ownerOf()).toBe(manager.userId);
    expect(await demote('viewer', member.email)).toBe('done');
    expect(await ownerOf()).toBe(member.userId);
  });

  test('an integration whose owner is deactivated shows it, until somebody takes it', async () => {
    const { administrator, manager, member } = await createPeople(db);
    const { id } = await giveIntegration(db, member);
    // A server of the previous version deactivates owners without naming a successor.
    await db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt: new Date() } });
    expect(await getIntegration(db, administrator, { id, now: NOW })).toMatchObject({ isOwnerActive: false });
    expect(await outcomeOf(takeOwnership(db, manager, { id }))).toBe('done');
    expect(await getIntegration(db, administrator, { id, now: NOW })).toMatchObject({
      isOwnerActive: true,
      ownerId: manager.userId,
    });
    orThrow(await reactivateUser(db, administrator, { userId: member.userId }));
    expect(await namesSeenBy(member)).toEqual([]);
  });

  // The race: two transactions deadlock, or an integration gets an owner who has just been deactivated.
  test('concurrent deactivations, new integrations and new keys leave every integration with an active owner', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { administrator, other, manager, scope } = await createPeople(db);
      const leaving = await Promise.all([createActor(db, scope, 'member'), createActor(db, scope, 'manager')]);
      const owned = await Promise.all(leaving.map((owner) => giveIntegration(db, owner)));
      await times(16, async (i) => {
        const [who, integration] = [leaving[i % 2], owned[i % 2]];
        if (who === undefined || integration === undefined) return;
        if (i < 4) await outcomeOf(deactivateUser(db, administrator, { userId: who.userId, newOwner: other.email }));
        else if (i < 8) await outcomeOf(createIntegration(db, manager, requestOf(who)));
        else if (i < 12) await outcomeOf(changeIntegration(db, manager, { ...requestOf(who), id: integration.id }));
        else await create(administrator, integration);
      });
      const { integrations } = await listIntegrations(db, administrator, LIST);
      expect(integrations.filter(({ isOwnerActive }) => !isOwnerActive)).toEqual([]);
    }
  });
});
