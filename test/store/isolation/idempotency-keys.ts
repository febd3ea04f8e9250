import { expect } from '@jest/globals';
import type { Database } from '../../../src/store/database.ts';
import { claimIdempotencyKey, recordAnswer } from '../../../src/store/idempotency-keys.ts';
import type { Tenant } from '../../support/store.ts';
import type { Proofs } from './proof.ts';

const KEY = 'order-1';
const HASH = Buffer.alloc(32, 7);

function claim({ prisma }: Database, { scope }: Tenant) {
  return claimIdempotencyKey(prisma, scope, { key: KEY, requestHash: HASH });
}

export const idempotencyKeyProofs: Proofs = {
  // The attack: a guessed key of another organization, to be answered with what that one has created.
  async claimIdempotencyKey({ db, ours, theirs }) {
    await claim(db, theirs);
    await recordAnswer(db.prisma, theirs.scope, { key: KEY, answer: 'theirs' });
    expect(await claim(db, ours)).toEqual({ kind: 'ours' });
    expect(await claim(db, theirs)).toEqual({ kind: 'answered', requestHash: HASH, answer: 'theirs' });
  },

  async recordAnswer({ db, ours, theirs }) {
    await claim(db, theirs);
    await expect(recordAnswer(db.prisma, ours.scope, { key: KEY, answer: 'forged' })).rejects.toMatchObject({
      code: 'P2025',
    });
    await claim(db, ours);
    await recordAnswer(db.prisma, ours.scope, { key: KEY, answer: 'ours' });
    expect(await claim(db, ours)).toMatchObject({ answer: 'ours' });
    expect(await claim(db, theirs)).toMatchObject({ answer: '' });
  },
};
