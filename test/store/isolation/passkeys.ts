import {
  deletePasskey,
  deletePasskeysOf,
  listPasskeysOf,
  recordPasskeyUse,
  renamePasskey,
} from '../../../src/store/passkeys.ts';
import { givePasskey } from '../../support/data/accounts.ts';
import type { Proofs } from './proof.ts';

const AT = new Date('2026-05-04T12:00:00.000Z');

export const passkeyProofs: Proofs = {
  // The attack: a passkey of one's own for the account of a user of another organization.
  async insertPasskey({ db, ours, theirs }) {
    await expect(givePasskey(db, { ...theirs, scope: ours.scope })).rejects.toMatchObject({ code: 'P2003' });
  },

  async listPasskeysOf({ db, ours, theirs }) {
    await givePasskey(db, theirs);
    expect(await listPasskeysOf(db.prisma, ours.scope, theirs.userId)).toEqual([]);
    expect(await listPasskeysOf(db.prisma, theirs.scope, theirs.userId)).toHaveLength(1);
  },

  async renamePasskey({ db, ours, theirs }) {
    const passkey = await givePasskey(db, theirs);
    expect(await renamePasskey(db.prisma, ours.scope, { ...passkey, name: 'Ours' })).toBe(false);
    expect(await listPasskeysOf(db.prisma, theirs.scope, theirs.userId)).toMatchObject([{ name: 'Laptop' }]);
  },

  async deletePasskey({ db, ours, theirs }) {
    const passkey = await givePasskey(db, theirs);
    expect(await deletePasskey(db.prisma, ours.scope, passkey)).toBe(false);
    expect(await deletePasskey(db.prisma, theirs.scope, passkey)).toBe(true);
  },

  async deletePasskeysOf({ db, ours, theirs }) {
    await givePasskey(db, theirs);
    expect(await deletePasskeysOf(db.prisma, ours.scope, theirs.userId)).toBe(0);
    expect(await deletePasskeysOf(db.prisma, theirs.scope, theirs.userId)).toBe(1);
  },

  async recordPasskeyUse({ db, ours, theirs }) {
    const passkey = await givePasskey(db, theirs);
    await recordPasskeyUse(db.prisma, ours.scope, { ...passkey, counter: 9, isBackedUp: false, at: AT });
    expect(await listPasskeysOf(db.prisma, theirs.scope, theirs.userId)).toMatchObject([
      { counter: 1, lastUsedAt: null },
    ]);
  },
};
