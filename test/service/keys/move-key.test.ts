import type { Actor } from '../../../src/domain/audit/actor.ts';
import { permissionsOf } from '../../../src/domain/people/role.ts';
import { changeIntegration, suspendIntegration } from '../../../src/service/integrations/change-integration.ts';
import { listKeys } from '../../../src/service/keys/list-keys.ts';
import { moveKey } from '../../../src/service/keys/move-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import {
  changeRoleInTheTable,
  createPeople,
  giveKey,
  listAuditEventsOf,
  outcomeOf,
  times,
} from '../../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey, type TestIntegration } from '../../support/data/integrations.ts';
import { callerWith, listLiveKeys, outcomeOfUse } from '../../support/data/key-uses.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

function move(by: Actor, from: Actor, key: { id: string; name: string }, to: TestIntegration, name = key.name) {
  return outcomeOf(moveKey(db, by, { keyId: key.id, userId: from.userId, integrationId: to.id, name }));
}

test('a move keeps the key, its name, its permissions and its expiry, and changes for whom it acts', async () => {
  const { administrator, member } = await createPeople(db);
  const integration = await giveIntegration(db, member);
  const key = await giveKey(db, member);
  expect(await callerWith(db, key.key)).toMatchObject({ integration: null });
  expect(await move(member, member, key, integration)).toBe('done');
  const { id: keyId, name: keyName, permissions, expiresAt } = key;
  expect(await callerWith(db, key.key)).toMatchObject({ keyId, keyName, permissions, expiresAt, integration });
  expect(await listLiveKeys(db, member.userId)).toEqual([]);
  expect(await listKeys(db, administrator, integration.id)).toMatchObject({
    keys: [{ id: keyId, movedFrom: member.name }],
  });
});

test('the audit log has the move as an event of both, and the list of the user still shows the key', async () => {
  const { member } = await createPeople(db);
  const integration = await giveIntegration(db, member);
  const key = await giveKey(db, member);
  expect(await move(member, member, key, integration, 'Moved')).toBe('done');
  const events = (await listAuditEventsOf(db, member)).filter(({ action }) => action === 'key.moved');
  const renamed = { before: key.name, name: 'Moved' };
  expect(events).toMatchObject([
    {
      actorUserId: member.userId,
      targetUserId: member.userId,
      keyId: key.id,
      detail: { ...renamed, to: integration.name },
    },
    {
      actorUserId: member.userId,
      targetUserId: integration.id,
      keyId: key.id,
      detail: { ...renamed, from: member.name },
    },
  ]);
  const { moved, keys } = await listKeys(db, member, member.userId);
  expect(keys).toEqual([]);
  expect(moved).toMatchObject([{ id: key.id, holder: { id: integration.id, email: null }, state: 'active' }]);
});

// The attack: a key with more permissions than the integration's role, or one that gains permissions by the move.
test('a moved key has at most the permissions of the integration, and gains none', async () => {
  const { manager, member } = await createPeople(db);
  const [reader, writer] = [await giveIntegration(db, manager, { role: 'viewer' }), await giveIntegration(db, manager)];
  const strong = await giveKey(db, member);
  expect(await move(manager, member, strong, reader)).toBe('done');
  expect((await callerWith(db, strong.key)).permissions).toEqual(permissionsOf('viewer'));
  const weak = await giveKey(db, member, { permissions: ['parent_programs:read'] });
  expect(await move(manager, member, weak, writer)).toBe('done');
  expect((await callerWith(db, weak.key)).permissions).toEqual(['parent_programs:read']);
});

describe('who may move a key', () => {
  const REFUSED = /^forbidden|^refused|^not_found/;

  test('a member, their own key to an integration that they own, and to no other', async () => {
    const { administrator, member } = await createPeople(db);
    const [own, others] = [await giveIntegration(db, member), await giveIntegration(db, administrator)];
    const key = await giveKey(db, member);
    expect(await move(member, member, key, others)).toMatch(REFUSED);
    expect(await move(member, administrator, await giveKey(db, administrator), own)).toMatch(REFUSED);
    expect(await move(member, member, key, own)).toBe('done');
  });

  test('nobody who may not create keys: a viewer, and a member where the policy forbids it', async () => {
    const { viewer } = await createPeople(db);
    const toViewer = await giveIntegration(db, viewer, { role: 'viewer' });
    expect(await move(viewer, viewer, await giveKey(db, viewer), toViewer)).toMatch(REFUSED);
    const { member } = await createPeople(db, { membersMayCreateKeys: false });
    expect(await move(member, member, await giveKey(db, member), await giveIntegration(db, member))).toMatch(REFUSED);
  });

  // The attack: a manager gets an administrator's key by moving it to an integration, because managers can rotate the keys of
  // integrations.
  test('a manager, keys of members and managers, but not of an administrator', async () => {
    const { administrator, manager, member } = await createPeople(db);
    const integration = await giveIntegration(db, administrator);
    expect(await move(manager, administrator, await giveKey(db, administrator), integration)).toMatch(REFUSED);
    expect(await move(manager, member, await giveKey(db, member), integration)).toBe('done');
  });

  test('nobody across organizations, and nobody from an integration', async () => {
    const { administrator, member } = await createPeople(db);
    const theirs = await createPeople(db);
    const [ours, foreign] = [await giveIntegration(db, administrator), await giveIntegration(db, theirs.administrator)];
    const key = await giveKey(db, member);
    expect(await move(administrator, member, key, foreign)).toBe('not_found: There is no such integration.');
    expect(await move(theirs.administrator, member, key, foreign)).toMatch(REFUSED);
    const person = { id: member.userId, name: member.name };
    expect(await move(administrator, administrator, await giveKey(db, administrator), person)).toMatch(REFUSED);
    const held = await giveIntegrationKey(db, administrator, ours);
    const moving = { keyId: held.id, userId: ours.id, integrationId: foreign.id, name: 'Moved' };
    expect(await outcomeOf(moveKey(db, administrator, moving))).toMatch(REFUSED);
  });
});

test('a move needs a name that no other key of the integration has, and room for the key', async () => {
  const { manager, member } = await createPeople(db);
  const integration = await giveIntegration(db, manager);
  await giveIntegrationKey(db, manager, integration, { name: 'Import' });
  const key = await giveKey(db, member, { name: 'IMPORT' });
  expect(await move(manager, member, key, integration)).toMatch(
    /^name-taken: Integration .* has a key named "Import" already/,
  );
  expect(await move(manager, member, key, integration, 'Import 2')).toBe('done');
  for (let i = 0; i < 8; i += 1) await giveIntegrationKey(db, manager, integration);
  expect(await move(manager, member, await giveKey(db, member), integration)).toMatch(
    /^conflict: .* has 10 active keys/,
  );
});

test('neither a key that has ended nor one for a suspended integration is moved', async () => {
  const { manager, member } = await createPeople(db);
  const integration = await giveIntegration(db, manager);
  const ended = await giveKey(db, member);
  orThrow(await revokeKey(db, member, { keyId: ended.id, userId: member.userId }));
  expect(await move(manager, member, ended, integration)).toMatch(/^conflict: The key ".*" was revoked/);
  orThrow(await suspendIntegration(db, manager, integration));
  expect(await move(manager, member, await giveKey(db, member), integration)).toMatch(/^refused: .* is suspended/);
});

// The race: two integrations both get the key, or a move reactivates a key that a rotation has replaced.
test('of concurrent moves and rotations of a key one succeeds, and one key is active', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { administrator, manager, member } = await createPeople(db);
    const targets = [await giveIntegration(db, manager), await giveIntegration(db, administrator)];
    const key = await giveKey(db, member);
    const outcomes = await times(8, (i) => {
      const target = targets[i % 2] ?? { id: '', name: '' };
      const rotation = { keyId: key.id, userId: member.userId, environment: 'live' } as const;
      return i < 6
        ? move(i % 3 === 0 ? administrator : manager, member, key, target)
        : outcomeOf(rotateKey(db, member, rotation));
    });
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    const live = await Promise.all([member.userId, ...targets.map(({ id }) => id)].map((id) => listLiveKeys(db, id)));
    expect(live.flat()).toHaveLength(1);
  }
});

test('a moved key lives on when its former user is demoted, and ends with the suspension of the integration', async () => {
  const { manager, member } = await createPeople(db);
  const integration = await giveIntegration(db, manager);
  const key = await giveKey(db, member);
  expect(await move(manager, member, key, integration)).toBe('done');
  await changeRoleInTheTable(db, member, 'viewer');
  expect((await callerWith(db, key.key)).permissions).toEqual(permissionsOf('member'));
  const content = { name: integration.name, description: '', owner: manager.email, noticeEmail: '' };
  orThrow(await changeIntegration(db, manager, { ...content, id: integration.id, role: 'viewer' }));
  expect((await callerWith(db, key.key)).permissions).toEqual(permissionsOf('viewer'));
  orThrow(await suspendIntegration(db, manager, integration));
  expect(await outcomeOfUse(db, key.key)).toMatch(/^unauthenticated: The integration Integration .* was suspended at /);
});
