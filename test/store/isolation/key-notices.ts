import { checkKeysSoon } from '../../../src/store/key-checks.ts';
import { insertActionNotice } from '../../../src/store/key-notices.ts';
import { dismissKeyNotice } from '../../../src/store/shown-notices.ts';
import { createKeyRow, type Tenant } from '../../support/postgres/store.ts';
import type { Proofs, World } from './proof.ts';

const noticesOf = ({ db }: World, { scope: { organizationId } }: Tenant) =>
  db.prisma.keyNotice.findMany({ where: { organizationId } });

async function notify({ db }: World, scope: Tenant['scope'], keyId: string, { userId }: Tenant): Promise<void> {
  const notice = { keyId, userId, kind: 'revoked', byUserId: null, detail: '' } as const;
  await db.prisma.$transaction((tx) => insertActionNotice(tx, scope, notice));
}

export const keyNoticeProofs: Proofs = {
  async insertActionNotice(world) {
    const { db, ours, theirs } = world;
    const { id } = await createKeyRow(db, theirs);
    // No user of ours has the id, so nothing is written.
    await notify(world, ours.scope, id, theirs);
    // A foreign key includes the organization.
    await expect(notify(world, ours.scope, id, ours)).rejects.toThrow();
    expect([await noticesOf(world, ours), await noticesOf(world, theirs)]).toEqual([[], []]);
  },
};

export const shownNoticeProofs: Proofs = {
  async dismissKeyNotice(world) {
    const { db, ours, theirs } = world;
    const { id: keyId } = await createKeyRow(db, theirs);
    await notify(world, theirs.scope, keyId, theirs);
    const [{ id = '' } = {}] = await noticesOf(world, theirs);
    for (const { userId } of [ours, theirs]) expect(await dismissKeyNotice(db, ours.scope, { id, userId })).toBe(false);
    expect(await noticesOf(world, theirs)).toMatchObject([{ dismissedAt: null }]);
    expect(await dismissKeyNotice(db, theirs.scope, { id, userId: theirs.userId })).toBe(true);
  },
};

export const keyCheckProofs: Proofs = {
  async checkKeysSoon({ db, ours, theirs }) {
    for (const tenant of [ours, theirs]) await createKeyRow(db, tenant);
    await db.prisma.apiKey.updateMany({ data: { nextCheckAt: null } });
    await db.prisma.$transaction((tx) => checkKeysSoon(tx, ours.scope));
    const changed = await db.prisma.apiKey.findMany({ where: { nextCheckAt: { not: null } } });
    expect(changed.map(({ organizationId }) => organizationId)).toEqual([ours.scope.organizationId]);
  },
};
