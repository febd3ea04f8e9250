import type { Database } from '../../../src/store/database.ts';
import { claimIdempotencyKey, recordResult } from '../../../src/store/idempotency-keys.ts';
import type { Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const KEY = 'order-1';
const HASH = Buffer.alloc(32, 7);

function claim({ prisma }: Database, { scope }: Tenant) {
  return claimIdempotencyKey(prisma, scope, { key: KEY, requestHash: HASH });
}

export const idempotencyKeyProofs: Proofs = {
  // The attack: guess another organization's key, to get the result of its create.
  async claimIdempotencyKey({ db, ours, theirs }) {
    await claim(db, theirs);
    await recordResult(db.prisma, theirs.scope, { key: KEY, result: 'theirs' });
    expect(await claim(db, ours)).toEqual({ kind: 'claimed' });
    expect(await claim(db, theirs)).toEqual({ kind: 'used', requestHash: HASH, result: 'theirs' });
  },

  async recordResult({ db, ours, theirs }) {
    await claim(db, theirs);
    await expect(recordResult(db.prisma, ours.scope, { key: KEY, result: 'forged' })).rejects.toMatchObject({
      code: 'P2025',
    });
    await claim(db, ours);
    await recordResult(db.prisma, ours.scope, { key: KEY, result: 'ours' });
    expect(await claim(db, ours)).toMatchObject({ result: 'ours' });
    expect(await claim(db, theirs)).toMatchObject({ result: '' });
  },
};
