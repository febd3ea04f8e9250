import { v7 as newId } from 'uuid';
import { isUniqueViolation } from '../../../src/store/database-errors.ts';
import { findUserByEmail } from '../../../src/store/unscoped/operator.ts';
import { insertUser, lockUser } from '../../../src/store/users.ts';
import type { Proofs } from './proof.ts';

const USER = { name: 'Test', role: 'administrator', passwordHash: null } as const;

export const userProofs: Proofs = {
  async insertUser({ db, ours, theirs }) {
    // Ids may repeat across organizations; an e-mail stays with the organization that had it first.
    await insertUser(db.prisma, ours.scope, { ...USER, id: theirs.userId, email: `${newId()}@example.test` });
    const taken = insertUser(db.prisma, ours.scope, { ...USER, id: newId(), email: theirs.email });
    expect(await taken.catch(isUniqueViolation)).toBe(true);
    const found = await findUserByEmail(db, theirs.email);
    expect(found).toMatchObject({ id: theirs.userId, organizationId: theirs.scope.organizationId });
  },

  async lockUser({ db, ours, theirs }) {
    expect(await db.prisma.$transaction((tx) => lockUser(tx, ours.scope, theirs.userId))).toBeNull();
    const email = `${newId()}@example.test`;
    await insertUser(db.prisma, ours.scope, { ...USER, id: theirs.userId, email });
    await db.prisma.$transaction(async (tx) => {
      expect(await lockUser(tx, ours.scope, theirs.userId)).toMatchObject({ email });
      // Their row with the same id is not locked with ours.
      await db.prisma.$transaction((other) => lockUser(other, theirs.scope, theirs.userId), { timeout: 10_000 });
    });
  },
};
