import { v7 as newId } from 'uuid';
import type { Database } from '../../../src/store/database.ts';
import { getOrganization, lockOrganization, setPolicy } from '../../../src/store/organizations.ts';
import {
  changeUser,
  countAdministrators,
  countRecoveryCodes,
  findPasswordHash,
  findWaysIn,
  insertUser,
  lockHolders,
  lockUsers,
} from '../../../src/store/users.ts';
import type { Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const POLICY = { membersMayCreateKeys: false, maxKeyLifeDays: 7, allowsUnendingKeys: true, requiresAddresses: false };

/** A user of ours with the same id as one of theirs: a change of one must not affect the other. */
export async function withSameId({ prisma }: Database, { scope }: Tenant, { userId: id }: Tenant): Promise<string> {
  const email = `${newId()}@example.test`;
  await insertUser(prisma, scope, { id, email, name: 'Same', role: 'administrator', passwordHash: null });
  return email;
}

const rowOf = ({ prisma }: Database, { scope: { organizationId }, userId: id }: Tenant) =>
  prisma.user.findUniqueOrThrow({ where: { organizationId_id: { organizationId, id } } });

export const peopleProofs: Proofs = {
  async lockUsers({ db, ours, theirs }) {
    const ids = [ours.userId, theirs.userId];
    const users = await db.prisma.$transaction((tx) => lockUsers(tx, ours.scope, ids));
    expect([...users.keys()]).toEqual([ours.userId]);
  },

  async lockHolders({ db, ours, theirs }) {
    const ids = [ours.userId, theirs.userId];
    const holders = await db.prisma.$transaction((tx) => lockHolders(tx, ours.scope, ids));
    expect([...holders.keys()]).toEqual([ours.userId]);
  },

  async changeUser({ db, ours, theirs }) {
    const before = await rowOf(db, theirs);
    await expect(changeUser(db.prisma, ours.scope, theirs.userId, { role: 'viewer' })).rejects.toThrow();
    await withSameId(db, ours, theirs);
    await changeUser(db.prisma, ours.scope, theirs.userId, { role: 'viewer', deactivatedAt: new Date() });
    expect(await rowOf(db, theirs)).toEqual(before);
  },

  async countAdministrators({ db, ours, theirs }) {
    await changeUser(db.prisma, theirs.scope, theirs.userId, { role: 'administrator', passwordHash: 'theirs' });
    const given = { besides: null, withoutProvider: false };
    expect(await countAdministrators(db.prisma, ours.scope, given)).toBe(0);
    await withSameId(db, ours, theirs);
    expect(await countAdministrators(db.prisma, ours.scope, given)).toBe(0);
  },

  async findPasswordHash({ db, ours, theirs }) {
    await changeUser(db.prisma, theirs.scope, theirs.userId, { passwordHash: 'theirs' });
    expect(await findPasswordHash(db, ours.scope, theirs.userId)).toBeNull();
    await withSameId(db, ours, theirs);
    expect(await findPasswordHash(db, ours.scope, theirs.userId)).toBeNull();
  },

  async findWaysIn({ db, ours, theirs }) {
    await changeUser(db.prisma, theirs.scope, theirs.userId, { passwordHash: 'theirs' });
    const none = { hasPassword: false, hasSecondFactor: false, passkeys: 0, isLinked: false };
    expect(await findWaysIn(db.prisma, ours.scope, theirs.userId)).toEqual(none);
    await withSameId(db, ours, theirs);
    expect(await findWaysIn(db.prisma, ours.scope, theirs.userId)).toEqual(none);
  },

  async countRecoveryCodes({ db, ours, theirs }) {
    await changeUser(db.prisma, theirs.scope, theirs.userId, { recoveryCodes: [new Uint8Array(32)] });
    expect(await countRecoveryCodes(db, ours.scope, theirs.userId)).toBe(0);
    await withSameId(db, ours, theirs);
    expect(await countRecoveryCodes(db, ours.scope, theirs.userId)).toBe(0);
  },
};

export const policyProofs: Proofs = {
  async getOrganization({ db, ours, theirs }) {
    await setPolicy(db.prisma, theirs.scope, POLICY);
    expect((await getOrganization(db.prisma, ours.scope)).policy).not.toEqual(POLICY);
  },

  async lockOrganization({ db, ours, theirs }) {
    await db.prisma.$transaction(async (tx) => {
      expect(await lockOrganization(tx, ours.scope)).toMatchObject({ name: 'Test' });
      // Their row is not locked with ours.
      await db.prisma.$transaction((other) => lockOrganization(other, theirs.scope), { timeout: 10_000 });
    });
  },

  async setPolicy({ db, ours, theirs }) {
    const before = await getOrganization(db.prisma, theirs.scope);
    await setPolicy(db.prisma, ours.scope, POLICY);
    expect(await getOrganization(db.prisma, theirs.scope)).toEqual(before);
    expect((await getOrganization(db.prisma, ours.scope)).policy).toEqual(POLICY);
  },
};
