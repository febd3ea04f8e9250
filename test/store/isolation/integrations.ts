import { v7 as newId } from 'uuid';
import type { Database } from '../../../src/store/database.ts';
import {
  changeIntegration,
  countActiveIntegrations,
  findActivePerson,
  findIntegration,
  insertIntegration,
  listActiveIntegrations,
  listIntegrations,
  setOwner,
} from '../../../src/store/integrations.ts';
import type { Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const NOW = new Date('2026-05-04T12:00:00.000Z');
const EVERY = { ownerUserId: null, limit: 10 };
const QUERY = { ...EVERY, isSuspended: false, from: null, now: NOW };

async function create(db: Database, { scope, userId }: Tenant, name: string, id = newId()): Promise<string> {
  const content = { name, description: '', role: 'viewer', ownerUserId: userId, noticeEmail: '' } as const;
  await insertIntegration(db.prisma, scope, { ...content, id });
  return id;
}

export const integrationProofs: Proofs = {
  // The attack: an integration that a user of another organization owns, and so sees.
  async insertIntegration({ db, ours, theirs }) {
    const foreignOwner = create(db, { ...ours, userId: theirs.userId }, 'Forged');
    await expect(foreignOwner).rejects.toMatchObject({ code: 'P2003' });
    await create(db, theirs, 'Same');
    // The same name is available.
    await create(db, ours, 'Same');
    await expect(create(db, ours, 'SAME')).rejects.toMatchObject({ code: 'P2002' });
  },

  async changeIntegration({ db, ours, theirs }) {
    const id = await create(db, theirs, 'Theirs');
    await expect(changeIntegration(db.prisma, ours.scope, id, { name: 'Taken' })).rejects.toMatchObject({
      code: 'P2025',
    });
    await create(db, ours, 'Ours', id);
    await changeIntegration(db.prisma, ours.scope, id, { name: 'Changed' });
    expect(await findIntegration(db, theirs.scope, { id, now: NOW })).toMatchObject({ name: 'Theirs' });
  },

  async countActiveIntegrations({ db, ours, theirs }) {
    await create(db, theirs, 'Theirs');
    expect(await countActiveIntegrations(db.prisma, ours.scope)).toBe(0);
    expect(await countActiveIntegrations(db.prisma, theirs.scope)).toBe(1);
  },

  async listActiveIntegrations({ db, ours, theirs }) {
    await create(db, theirs, 'Theirs');
    for (const ownerUserId of [null, theirs.userId])
      expect(await listActiveIntegrations(db.prisma, ours.scope, { ...EVERY, ownerUserId })).toEqual([]);
    const id = await create(db, ours, 'Ours');
    expect(await listActiveIntegrations(db.prisma, ours.scope, EVERY)).toMatchObject([{ id }]);
  },

  async setOwner({ db, ours, theirs }) {
    const id = await create(db, theirs, 'Theirs');
    await setOwner(db.prisma, ours.scope, { ids: [id], ownerUserId: ours.userId });
    expect(await findIntegration(db, theirs.scope, { id, now: NOW })).toMatchObject({ ownerId: theirs.userId });
  },

  async findActivePerson({ db, ours, theirs }) {
    expect(await findActivePerson(db.prisma, ours.scope, theirs.email)).toBeNull();
    expect(await findActivePerson(db.prisma, theirs.scope, theirs.email)).toBe(theirs.userId);
  },

  async listIntegrations({ db, ours, theirs }) {
    await create(db, theirs, 'Theirs');
    for (const ownerUserId of [null, theirs.userId])
      expect(await listIntegrations(db, ours.scope, { ...QUERY, ownerUserId })).toEqual([]);
    const id = await create(db, ours, 'Ours');
    expect(await listIntegrations(db, ours.scope, QUERY)).toMatchObject([{ id, ownerId: ours.userId }]);
  },

  async findIntegration({ db, ours, theirs }) {
    const id = await create(db, theirs, 'Theirs');
    expect(await findIntegration(db, ours.scope, { id, now: NOW })).toBeNull();
    await create(db, ours, 'Ours', id);
    expect(await findIntegration(db, ours.scope, { id, now: NOW })).toMatchObject({ name: 'Ours' });
  },
};
