import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import {
  insertApiKey,
  listCurrentKeys,
  moveApiKey,
  recordExpiry,
  renameApiKey,
  replaceApiKey,
  revokeApiKey,
  revokeApiKeysOf,
} from '../../../src/store/api-keys.ts';
import type { Database } from '../../../src/store/database.ts';
import { findRestrictedKey, restrictApiKey } from '../../../src/store/key-restrictions.ts';
import { createKeyRow, type Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const AT = new Date('2026-05-04T12:00:00.000Z');

const act = ({ userId }: Tenant) => ({ userId, at: AT, byUserId: userId });
const successor = () => ({ id: newId(), keyHash: randomBytes(32), keyPrefix: 'charter_live_0000' });

function rowOf({ prisma }: Database, { scope: { organizationId } }: Tenant, id: string) {
  return prisma.apiKey.findUnique({ where: { organizationId_id: { organizationId, id } } });
}

export const apiKeyProofs: Proofs = {
  async listCurrentKeys({ db, ours, theirs }) {
    await createKeyRow(db, theirs);
    const own = await createKeyRow(db, ours);
    expect(await listCurrentKeys(db.prisma, ours.scope, theirs.userId)).toEqual([]);
    expect(await listCurrentKeys(db.prisma, ours.scope, ours.userId)).toMatchObject([{ id: own.id }]);
  },

  // The attack: a key of one's own organization that acts for a user of another one.
  async insertApiKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs, { name: 'Same' });
    const key = {
      id: newId(),
      createdByUserId: null,
      name: 'Forged',
      expiresAt: null,
      createdAt: AT,
      permissions: [],
      keyHash: new Uint8Array(32),
      keyPrefix: 'charter_live_0000',
    };
    const foreignUser = insertApiKey(db.prisma, ours.scope, { ...key, userId: theirs.userId });
    await expect(foreignUser).rejects.toMatchObject({ code: 'P2003' });
    const foreignCreator = insertApiKey(db.prisma, ours.scope, {
      ...key,
      userId: ours.userId,
      createdByUserId: theirs.userId,
    });
    await expect(foreignCreator).rejects.toMatchObject({ code: 'P2003' });
    // The same id and name are available.
    await createKeyRow(db, ours, { id, name: 'Same' });
    expect(await listCurrentKeys(db.prisma, theirs.scope, theirs.userId)).toMatchObject([{ id }]);
  },

  async recordExpiry({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs, { expiresAt: AT });
    await recordExpiry(db, ours.scope, { id, expiresAt: AT });
    expect(await rowOf(db, theirs, id)).toMatchObject({ expiredAt: null });
    await createKeyRow(db, ours, { id, expiresAt: AT });
    await recordExpiry(db, ours.scope, { id, expiresAt: AT });
    expect(await rowOf(db, ours, id)).toMatchObject({ expiredAt: AT });
    expect(await rowOf(db, theirs, id)).toMatchObject({ expiredAt: null });
  },

  async revokeApiKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    // With the other user's id too, in case only the user is compared.
    for (const { userId } of [ours, theirs]) {
      expect(await revokeApiKey(db.prisma, ours.scope, { ...act(ours), id, userId })).toBeNull();
    }
    await createKeyRow(db, ours, { id, name: 'Same' });
    expect(await revokeApiKey(db.prisma, ours.scope, { ...act(ours), id })).toMatchObject({ name: 'Same' });
    expect(await rowOf(db, ours, id)).toMatchObject({ revokedAt: AT, revokedByUserId: ours.userId });
    expect(await rowOf(db, theirs, id)).toMatchObject({ revokedAt: null });
  },

  async revokeApiKeysOf({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    expect(await revokeApiKeysOf(db.prisma, ours.scope, { ...act(ours), userId: theirs.userId })).toEqual([]);
    await createKeyRow(db, ours, { id });
    expect(await revokeApiKeysOf(db.prisma, ours.scope, act(ours))).toMatchObject([{ id }]);
    expect(await rowOf(db, theirs, id)).toMatchObject({ revokedAt: null });
  },

  // The attack: a rotation returns the successor, and with it the power of the replaced key.
  async replaceApiKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    for (const { userId } of [ours, theirs]) {
      const rotation = { ...act(ours), id, userId, successor: successor() };
      expect(await replaceApiKey(db.prisma, ours.scope, rotation)).toBeNull();
    }
    await createKeyRow(db, ours, { id, name: 'Same' });
    const replacing = successor();
    const rotation = { ...act(ours), id, successor: replacing };
    expect(await replaceApiKey(db.prisma, ours.scope, rotation)).toMatchObject({ name: 'Same' });
    expect(await rowOf(db, ours, id)).toMatchObject({ rotatedAt: AT, successorId: replacing.id });
    expect(await rowOf(db, ours, replacing.id)).toMatchObject({ userId: ours.userId });
    expect(await rowOf(db, theirs, id)).toMatchObject({ rotatedAt: null, successorId: null });
    expect(await rowOf(db, theirs, replacing.id)).toBeNull();
  },

  // The attack: a key of another organization that is drawn into one's own.
  async moveApiKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    for (const { userId } of [ours, theirs]) {
      const move = { id, userId, at: AT, integrationId: ours.userId, name: 'Taken' };
      expect(await moveApiKey(db.prisma, ours.scope, move)).toBe(false);
    }
    await createKeyRow(db, ours, { id, name: 'Ours' });
    const foreign = { id, userId: ours.userId, at: AT, integrationId: theirs.userId, name: 'Taken' };
    await expect(moveApiKey(db.prisma, ours.scope, foreign)).rejects.toThrow();
    expect(await moveApiKey(db.prisma, ours.scope, { ...foreign, integrationId: ours.userId })).toBe(true);
    expect(await rowOf(db, theirs, id)).toMatchObject({ userId: theirs.userId, movedAt: null });
  },

  async renameApiKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs, { name: 'Theirs' });
    for (const { userId } of [ours, theirs]) {
      expect(await renameApiKey(db.prisma, ours.scope, { id, userId, at: AT, name: 'Taken' })).toBeNull();
    }
    await createKeyRow(db, ours, { id, name: 'Ours' });
    const renaming = { id, userId: ours.userId, at: AT, name: 'Renamed' };
    expect(await renameApiKey(db.prisma, ours.scope, renaming)).toEqual({ oldName: 'Ours' });
    expect(await rowOf(db, theirs, id)).toMatchObject({ name: 'Theirs' });
  },
};

export const keyRestrictionProofs: Proofs = {
  async findRestrictedKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    for (const { userId } of [ours, theirs])
      expect(await findRestrictedKey(db.prisma, ours.scope, { id, userId })).toBeNull();
    const { userId } = theirs;
    expect(await findRestrictedKey(db.prisma, theirs.scope, { id, userId })).toMatchObject({ addresses: [] });
  },

  async restrictApiKey({ db, ours, theirs }) {
    const { id } = await createKeyRow(db, theirs);
    const restriction = { id, addresses: ['192.0.2.1'], requestsPerSecond: 1 };
    await expect(restrictApiKey(db.prisma, ours.scope, restriction)).rejects.toMatchObject({ code: 'P2025' });
    await createKeyRow(db, ours, { id });
    await restrictApiKey(db.prisma, ours.scope, restriction);
    expect(await rowOf(db, ours, id)).toMatchObject({ allowedAddresses: ['192.0.2.1'], requestsPerSecond: 1 });
    expect(await rowOf(db, theirs, id)).toMatchObject({ allowedAddresses: [], requestsPerSecond: null });
  },
};
