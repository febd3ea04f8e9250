import {
  countUsers,
  findMatchingUsers,
  findPeopleOutside,
  findUser,
  listAdministrators,
  listBreakGlassCandidates,
  listUsers,
} from '../../../src/store/user-lists.ts';
import { changeUser } from '../../../src/store/users.ts';
import { givePasskey } from '../../support/data/accounts.ts';
import { withSameId } from './people.ts';
import type { Proofs } from './proof.ts';

export const userListProofs: Proofs = {
  async findMatchingUsers({ db, ours, theirs }) {
    const search = { text: theirs.email, limit: 2 };
    expect(await findMatchingUsers(db, ours.scope, search)).toEqual([]);
    expect(await findMatchingUsers(db, theirs.scope, search)).toEqual([{ id: theirs.userId, isWholeEmail: true }]);
  },

  async listUsers({ db, ours, theirs }) {
    const query = { search: '', state: 'all', from: null, limit: 100 } as const;
    const found = await listUsers(db, ours.scope, query);
    expect(found.map(({ id }) => id)).toEqual([ours.userId]);
    expect(await listUsers(db, ours.scope, { ...query, search: theirs.email })).toEqual([]);
  },

  async countUsers({ db, ours, theirs }) {
    const query = { search: '', state: 'all', position: null } as const;
    expect(await countUsers(db, ours.scope, query)).toEqual({ total: 1, before: 0 });
    expect(await countUsers(db, ours.scope, { ...query, search: theirs.email })).toEqual({ total: 0, before: 0 });
  },

  async findUser({ db, ours, theirs }) {
    expect(await findUser(db, ours.scope, theirs.userId)).toBeNull();
    const email = await withSameId(db, ours, theirs);
    expect(await findUser(db, ours.scope, theirs.userId)).toMatchObject({ email });
  },

  async findPeopleOutside({ db, ours, theirs }) {
    const outside = { domains: [], besides: theirs.userId, limit: 100 };
    expect((await findPeopleOutside(db, ours.scope, outside)).people.map(({ email }) => email)).toEqual([ours.email]);
    expect((await findPeopleOutside(db, theirs.scope, outside)).total).toBe(0);
  },

  async listBreakGlassCandidates({ db, ours, theirs }) {
    for (const { scope, userId } of [ours, theirs]) await changeUser(db.prisma, scope, userId, { passwordHash: 'x' });
    await givePasskey(db, theirs);
    expect(await listBreakGlassCandidates(db, ours.scope)).toEqual([]);
    expect(await listBreakGlassCandidates(db, theirs.scope)).toMatchObject([{ id: theirs.userId }]);
  },

  async listAdministrators({ db, ours }) {
    expect(await listAdministrators(db, ours.scope)).toMatchObject([{ id: ours.userId }]);
  },
};
