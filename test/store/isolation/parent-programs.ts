import { v7 as newId } from 'uuid';
import type { NewParentProgram } from '../../../src/domain/parent-program.ts';
import type { Database } from '../../../src/store/database.ts';
import { type ListQuery, listParentPrograms, positionOf } from '../../../src/store/parent-program-list.ts';
import {
  deleteParentProgram,
  findParentProgram,
  insertParentProgram,
  readParentProgram,
  replaceParentProgram,
} from '../../../src/store/parent-programs.ts';
import type { Tenant } from '../../support/store.ts';
import type { Proofs } from './proof.ts';

const CONTENT: NewParentProgram = { name: 'Nordic', description: null, externalId: 'NOR-1', metadata: { a: 'b' } };
const PAGE: ListQuery = { sortField: 'created_at', descending: false, limit: 101, after: null };

function insert({ prisma }: Database, { scope }: Tenant, id = newId(), content = CONTENT) {
  return insertParentProgram(prisma, scope, { id, content });
}

export const parentProgramListProofs: Proofs = {
  async listParentPrograms({ db, ours, theirs }) {
    const { externalId, createdAt, updatedAt, ...others } = await insert(db, ours);
    const own = { ...others, external_id: externalId, created_at: createdAt, updated_at: updatedAt };
    const foreign = await insert(db, theirs);
    const listed = async (query: Partial<ListQuery>) =>
      (await listParentPrograms(db, ours.scope, { ...PAGE, ...query })).rows.map(({ json }) => JSON.parse(json));
    const updatedSince = new Date(0);
    const searches: Partial<ListQuery>[] = [
      ...[{}, { search: 'nordic' }, { externalId: 'NOR-1' }, { updatedSince }],
      { updatedSince, sortField: 'name' },
      { updatedSince, sortField: 'updated_at' },
      // The attack: a cursor position from another organization's rows.
      { after: positionOf({ value: '2000-01-01T00:00:00.000Z', id: foreign.id }, 'created_at') },
    ];
    for (const search of searches) expect(await listed(search)).toEqual([own]);
    for (const sortField of ['created_at', 'updated_at', 'name'] as const) {
      for (const descending of [true, false]) {
        expect(await listed({ sortField, descending })).toEqual([own]);
      }
    }
  },
};

export const parentProgramProofs: Proofs = {
  async findParentProgram({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    expect(await findParentProgram(db, ours.scope, foreign.id)).toBeNull();
    const own = await insert(db, ours, foreign.id, { ...CONTENT, name: 'Of the same id' });
    expect((await findParentProgram(db, ours.scope, foreign.id))?.program).toEqual(own);
    expect((await findParentProgram(db, theirs.scope, foreign.id))?.program).toEqual(foreign);
  },

  async insertParentProgram({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    // The same id and the same external id are available, or an organization could find out another's.
    const own = await insert(db, ours, foreign.id, { ...CONTENT, name: 'Of the same id' });
    expect(own).toMatchObject({ id: foreign.id, externalId: 'NOR-1', name: 'Of the same id' });
    expect((await findParentProgram(db, theirs.scope, foreign.id))?.program).toEqual(foreign);
  },

  async readParentProgram({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    const locked = { id: foreign.id, isLocked: true };
    expect(await db.prisma.$transaction((tx) => readParentProgram(tx, ours.scope, locked))).toBeNull();
    const own = await insert(db, ours, foreign.id, { ...CONTENT, name: 'Of the same id' });
    await db.prisma.$transaction(async (tx) => {
      expect((await readParentProgram(tx, ours.scope, locked))?.program).toEqual(own);
      // Their row is not locked with ours: one organization cannot make another wait.
      await db.prisma.$transaction((other) => readParentProgram(other, theirs.scope, locked), { timeout: 1000 });
    });
  },

  async replaceParentProgram({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    const own = await insert(db, ours, foreign.id);
    const before = await readParentProgram(db.prisma, ours.scope, { id: own.id, isLocked: false });
    if (before === null) throw new Error('What was inserted is not there.');
    const change = { before, content: { ...CONTENT, name: 'Changed' } };
    expect(await replaceParentProgram(db.prisma, theirs.scope, change)).toBeNull();
    expect(await replaceParentProgram(db.prisma, ours.scope, change)).toMatchObject({ name: 'Changed' });
    expect((await findParentProgram(db, theirs.scope, foreign.id))?.program).toEqual(foreign);
  },

  async deleteParentProgram({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    await insert(db, ours, foreign.id);
    await deleteParentProgram(db.prisma, ours.scope, foreign.id);
    expect(await findParentProgram(db, ours.scope, foreign.id)).toBeNull();
    await deleteParentProgram(db.prisma, ours.scope, foreign.id);
    expect((await findParentProgram(db, theirs.scope, foreign.id))?.program).toEqual(foreign);
  },
};
