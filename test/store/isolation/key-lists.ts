import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { totalOf } from '../../../src/domain/key-usage.ts';
import { insertApiKey, replaceApiKey } from '../../../src/store/api-keys.ts';
import type { Database } from '../../../src/store/database.ts';
import { findKeyHistory, findLiveSuccessor } from '../../../src/store/key-history.ts';
import { findKeyHolder } from '../../../src/store/key-holder.ts';
import {
  countKeysOf,
  findListedKey,
  findMovedKey,
  listActiveKeysMadeForOthers,
  listKeysMovedFrom,
  listKeysOf,
} from '../../../src/store/key-lists.ts';
import { findKeyRotations } from '../../../src/store/key-rotations.ts';
import { findOrganizationUse } from '../../../src/store/key-uses.ts';
import {
  countOrganizationKeys,
  findMatchingKeys,
  findOrganizationKeyByHash,
  listOrganizationKeys,
} from '../../../src/store/organization-keys.ts';
import { insertUser } from '../../../src/store/users.ts';
import { addRequests } from '../../support/data/key-uses.ts';
import { createKeyRow, type Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const NOW = new Date('2026-05-04T12:00:00.000Z');

/** A user of ours with the same id as one of theirs: a look-up by that id must return ours or nothing. */
async function withSameId({ prisma }: Database, { scope }: Tenant, { userId: id }: Tenant): Promise<string> {
  const email = `${newId()}@example.test`;
  await insertUser(prisma, scope, { id, email, name: 'Same', role: 'viewer', passwordHash: null });
  return email;
}

/** A key that the tenant's user made for another user of the organization. */
async function makeForOther({ prisma }: Database, { scope, userId: createdByUserId }: Tenant): Promise<string> {
  const [id, userId] = [newId(), newId()];
  const email = `${userId}@example.test`;
  await insertUser(prisma, scope, { id: userId, email, name: 'Other', role: 'viewer', passwordHash: null });
  const key = { id, userId, createdByUserId, name: 'Made', permissions: [], expiresAt: null, createdAt: NOW };
  await insertApiKey(prisma, scope, { ...key, keyHash: randomBytes(32), keyPrefix: 'charter_live_0000' });
  return id;
}

async function rotate({ prisma }: Database, { scope, userId }: Tenant, id: string): Promise<string> {
  const successor = { id: newId(), keyHash: randomBytes(32), keyPrefix: 'charter_live_0000' };
  await replaceApiKey(prisma, scope, { id, userId, at: NOW, byUserId: userId, successor });
  return successor.id;
}

export const keyListProofs: Proofs = {
  async listKeysOf({ db, ours, theirs }) {
    await createKeyRow(db, theirs);
    const query = { userId: theirs.userId, isActive: true, now: NOW, from: null, limit: 10 };
    expect(await listKeysOf(db, ours.scope, query)).toEqual([]);
    await withSameId(db, ours, theirs);
    const own = await createKeyRow(db, { ...theirs, scope: ours.scope });
    expect(await listKeysOf(db, ours.scope, query)).toMatchObject([{ id: own.id, holderName: 'Same' }]);
  },

  async listActiveKeysMadeForOthers({ db, ours, theirs }) {
    await makeForOther(db, theirs);
    const query = { userId: theirs.userId, now: NOW, from: null, limit: 10 };
    expect(await listActiveKeysMadeForOthers(db, ours.scope, query)).toEqual([]);
    await withSameId(db, ours, theirs);
    const own = await makeForOther(db, { ...theirs, scope: ours.scope });
    expect(await listActiveKeysMadeForOthers(db, ours.scope, query)).toMatchObject([{ id: own, createdBy: 'Same' }]);
  },

  async listKeysMovedFrom({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    const moved = { movedAt: NOW, movedFromUserId: theirs.userId };
    await db.prisma.apiKey.updateMany({ where: { id, organizationId: theirs.scope.organizationId }, data: moved });
    expect(await listKeysMovedFrom(db, ours.scope, { userId: theirs.userId, limit: 10 })).toEqual([]);
    expect(await listKeysMovedFrom(db, theirs.scope, { userId: theirs.userId, limit: 10 })).toMatchObject([{ id }]);
  },

  async findMovedKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    const { userId } = theirs;
    expect(await findMovedKey(db, theirs.scope, { userId, id })).toBeNull();
    const moved = { movedAt: NOW, movedFromUserId: userId };
    await db.prisma.apiKey.updateMany({ where: { id, organizationId: theirs.scope.organizationId }, data: moved });
    expect(await findMovedKey(db, ours.scope, { userId, id })).toBeNull();
    expect(await findMovedKey(db, theirs.scope, { userId, id })).toMatchObject({ id });
  },

  async countKeysOf({ db, ours, theirs }) {
    await createKeyRow(db, theirs);
    await createKeyRow(db, theirs, { expiresAt: new Date(0) });
    const { userId } = theirs;
    expect(await countKeysOf(db, ours.scope, { userId, now: NOW })).toEqual({ active: 0, ended: 0, hasMoved: false });
    expect(await countKeysOf(db, theirs.scope, { userId, now: NOW })).toEqual({ active: 1, ended: 1, hasMoved: false });
  },

  async findListedKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    for (const { userId } of [ours, theirs]) expect(await findListedKey(db, ours.scope, { userId, id })).toBeNull();
    await withSameId(db, ours, theirs);
    await createKeyRow(db, { ...theirs, scope: ours.scope }, { id, name: 'Ours' });
    expect(await findListedKey(db, ours.scope, { userId: theirs.userId, id })).toMatchObject({ name: 'Ours' });
  },
};

export const keyHolderProofs: Proofs = {
  async findKeyHolder({ db, ours, theirs }) {
    expect(await findKeyHolder(db, ours.scope, theirs.userId)).toBeNull();
    const email = await withSameId(db, ours, theirs);
    expect(await findKeyHolder(db, ours.scope, theirs.userId)).toMatchObject({ email });
  },
};

export const keyHistoryProofs: Proofs = {
  // The attack: a refusal that reveals how a key of another organization ended, and who ended it.
  async findKeyHistory({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs, { name: 'Theirs' });
    await rotate(db, theirs, id);
    for (const { userId } of [ours, theirs])
      expect(await findKeyHistory(db.prisma, ours.scope, { id, userId })).toBeNull();
    await createKeyRow(db, ours, { id, name: 'Ours' });
    const { userId } = ours;
    expect(await findKeyHistory(db.prisma, ours.scope, { id, userId })).toMatchObject({
      name: 'Ours',
      rotatedAt: null,
    });
  },

  async findLiveSuccessor({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs, { name: 'Theirs' });
    const successor = await rotate(db, theirs, id);
    expect(await findLiveSuccessor(db.prisma, ours.scope, { id, now: NOW })).toBeNull();
    // Our key with the same id has ended: the look-up must not continue in their organization.
    await createKeyRow(db, ours, { id, name: 'Ours' });
    await createKeyRow(db, ours, { id: successor, name: 'Ours too', expiresAt: new Date(0) });
    await db.prisma.apiKey.update({
      where: { organizationId_id: { organizationId: ours.scope.organizationId, id } },
      data: { rotatedAt: NOW, successorId: successor },
    });
    expect(await findLiveSuccessor(db.prisma, ours.scope, { id, now: NOW })).toBeNull();
  },
};

/** Counts requests with the key in this hour. */
async function count(db: Database, { scope: { organizationId } }: Tenant, keyId: string, successful: number) {
  await addRequests(db, { organizationId, keyId, at: NOW, successful });
}

export const keyRotationProofs: Proofs = {
  async findKeyRotations({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs, { name: 'Theirs' });
    await count(db, theirs, id, 5);
    const successor = await rotate(db, theirs, id);
    const find = (key: { userId: string; id: string }) => findKeyRotations(db, ours.scope, { ...key, now: NOW });
    for (const { userId } of [ours, theirs]) {
      const { keys, usage } = await find({ userId, id });
      expect([keys, totalOf(usage.day)]).toEqual([[], { successful: 0, refused: 0, failed: 0 }]);
    }
    // Our key with the same id and the same successor: neither direction continues in their organization.
    await createKeyRow(db, ours, { id, name: 'Ours' });
    // The attack: the requests of a key of another organization.
    const own = await find({ userId: ours.userId, id });
    expect(own.keys).toMatchObject([{ name: 'Ours' }]);
    expect(totalOf(own.usage.hour).successful).toBe(0);
    await count(db, ours, id, 3);
    expect(totalOf((await find({ userId: ours.userId, id })).usage.hour).successful).toBe(3);
    await createKeyRow(db, ours, { id: successor, name: 'Ours too' });
    const { userId } = ours;
    expect((await find({ userId, id: successor })).keys).toMatchObject([{ name: 'Ours too' }]);
    await db.prisma.apiKey.update({
      where: { organizationId_id: { organizationId: ours.scope.organizationId, id } },
      data: { rotatedAt: NOW, successorId: successor },
    });
    expect((await find({ userId, id })).keys).toMatchObject([
      { name: 'Ours', step: 0 },
      { name: 'Ours too', step: 1 },
    ]);
  },
};

export const keyUseProofs: Proofs = {
  async findOrganizationUse({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs, { name: 'Theirs' });
    await count(db, theirs, id, 5);
    const query = { now: NOW, keys: 10 };
    const before = await findOrganizationUse(db, ours.scope, query);
    expect([totalOf(before.usage.hour), before.mostUsed]).toEqual([{ successful: 0, refused: 0, failed: 0 }, []]);
    await withSameId(db, ours, theirs);
    await createKeyRow(db, { ...theirs, scope: ours.scope }, { id, name: 'Ours' });
    await count(db, ours, id, 3);
    const { usage, mostUsed } = await findOrganizationUse(db, ours.scope, query);
    for (const period of [usage.hour, usage.day]) expect(totalOf(period).successful).toBe(3);
    expect(mostUsed).toMatchObject([{ id, name: 'Ours', holder: { name: 'Same' }, successful: 3 }]);
  },
};

const EVERY = {
  search: '',
  holder: '',
  permission: null,
  isUnused: false,
  isExpiringSoon: false,
  lacksAddresses: false,
} as const;

export const organizationKeyProofs: Proofs = {
  async listOrganizationKeys({ db, ours, theirs }) {
    await createKeyRow(db, theirs);
    const query = { filters: EVERY, isActive: true, order: 'latest' as const, from: null, now: NOW, limit: 10 };
    expect(await listOrganizationKeys(db, ours.scope, query)).toEqual([]);
    const email = await withSameId(db, ours, theirs);
    const own = await createKeyRow(db, { ...theirs, scope: ours.scope });
    expect(await listOrganizationKeys(db, ours.scope, query)).toMatchObject([{ id: own.id, holderName: 'Same' }]);
    // The filter by user compares the users of our organization only.
    const byHolder = (holder: string) => ({ ...query, filters: { ...EVERY, holder } });
    expect(await listOrganizationKeys(db, ours.scope, byHolder(theirs.email))).toEqual([]);
    expect(await listOrganizationKeys(db, ours.scope, byHolder(email))).toHaveLength(1);
  },

  async countOrganizationKeys({ db, ours, theirs }) {
    await createKeyRow(db, theirs);
    const query = { filters: EVERY, now: NOW };
    const none = { expiringSoon: 0, unused: 0, lackingAddresses: 0, requiresAddresses: false };
    expect(await countOrganizationKeys(db, ours.scope, query)).toEqual({ active: 0, ended: 0, ...none });
    await createKeyRow(db, ours, { permissions: ['parent_programs:write'] });
    await db.prisma.organization.update({
      where: { id: theirs.scope.organizationId },
      data: { requiresAddresses: true },
    });
    const one = { active: 1, ended: 0, ...none, unused: 1, lackingAddresses: 1 };
    expect(await countOrganizationKeys(db, ours.scope, query)).toEqual(one);
  },

  async findOrganizationKeyByHash({ db, ours, theirs }) {
    const { id, hash } = await createKeyRow(db, theirs);
    expect(await findOrganizationKeyByHash(db, ours.scope, hash.toString('hex'))).toBeNull();
    const { userId } = theirs;
    expect(await findOrganizationKeyByHash(db, theirs.scope, hash.toString('hex'))).toMatchObject({ id, userId });
  },

  async findMatchingKeys({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    const search = { text: 'charter_', limit: 2 };
    expect(await findMatchingKeys(db, ours.scope, search)).toEqual([]);
    expect(await findMatchingKeys(db, theirs.scope, search)).toEqual([id]);
  },
};
