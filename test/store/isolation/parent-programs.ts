import { v7 as newId } from 'uuid';
import type { Database } from '../../../src/store/database.ts';
import { checkKeyOfWrite } from '../../../src/store/key-of-write.ts';
import { listRows, positionOf } from '../../../src/store/list.ts';
import { type ListQuery, listParentPrograms } from '../../../src/store/parent-program-list.ts';
import { deleteRow, findIdByUnique, findRow, insertRow, readRowToChange, replaceRow } from '../../../src/store/rows.ts';
import type { ContentOf } from '../../../src/store/table.ts';
import { PARENT_PROGRAMS, type ParentProgram } from '../../../src/store/tables/parent-programs.ts';
import { accepted, type Tenant, writerOf } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const CONTENT: ContentOf<ParentProgram> = {
  name: 'Nordic',
  description: null,
  externalId: 'NOR-1',
  metadata: { a: 'b' },
};
const PAGE: ListQuery = { sortField: 'created_at', descending: false, limit: 101, after: null };

async function insert(db: Database, tenant: Tenant, id = newId(), content = CONTENT) {
  const inserted = { id, content, writer: await writerOf(db, tenant) };
  return accepted(await insertRow(db.prisma, tenant.scope, PARENT_PROGRAMS, inserted));
}

export const parentProgramListProofs: Proofs = {
  async listParentPrograms({ db, ours, theirs }) {
    const { externalId, createdAt, updatedAt, ...others } = await insert(db, ours);
    const own = { ...others, external_id: externalId, created_at: createdAt, updated_at: updatedAt };
    // An id is unique only within an organization.
    const foreign = await insert(db, theirs, own.id);
    const listed = async (query: Partial<ListQuery>) =>
      (await listParentPrograms(db, ours.scope, { ...PAGE, ...query })).rows.map(({ json }) => JSON.parse(json));
    const updatedSince = new Date(0);
    const searches: Partial<ListQuery>[] = [
      ...[{}, { search: 'nordic' }, { externalId: 'NOR-1' }, { updatedSince }],
      { updatedSince, descending: true },
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

/** Proofs for the statements that all tables share. */
export const listProofs: Proofs = {
  async listRows({ db, ours, theirs }) {
    const [own, foreign] = [await insert(db, ours), await insert(db, theirs)];
    const ids = async (query: Partial<Parameters<typeof listRows<ParentProgram>>[3]>) =>
      (await listRows(db, ours.scope, PARENT_PROGRAMS, { ...PAGE, ...query })).rows.map(
        ({ json }) => JSON.parse(json).id,
      );
    // The attack: a cursor position from another organization's rows.
    const after = positionOf({ value: '2000-01-01T00:00:00.000Z', id: foreign.id }, 'created_at');
    for (const query of [{}, { equals: { externalId: 'NOR-1' } }, { after }])
      expect(await ids(query)).toEqual([own.id]);
  },
};

export const rowProofs: Proofs = {
  async findRow({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    expect(await findRow(db, ours.scope, PARENT_PROGRAMS, foreign.id)).toBeNull();
    const own = await insert(db, ours, foreign.id, { ...CONTENT, name: 'Of the same id' });
    expect((await findRow(db, ours.scope, PARENT_PROGRAMS, foreign.id))?.row).toEqual(own);
    expect((await findRow(db, theirs.scope, PARENT_PROGRAMS, foreign.id))?.row).toEqual(foreign);
  },

  async insertRow({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    // The same id and the same external id are available, or an organization could find out another's.
    const own = await insert(db, ours, foreign.id, { ...CONTENT, name: 'Of the same id' });
    expect(own).toMatchObject({ id: foreign.id, externalId: 'NOR-1', name: 'Of the same id' });
    expect((await findRow(db, theirs.scope, PARENT_PROGRAMS, foreign.id))?.row).toEqual(foreign);
  },

  async findIdByUnique({ db, ours, theirs }) {
    const named = { field: 'externalId', value: 'NOR-1' };
    await insert(db, theirs);
    expect(await findIdByUnique(db, ours.scope, PARENT_PROGRAMS, named)).toBeNull();
    const { id } = await insert(db, ours);
    expect(await findIdByUnique(db, ours.scope, PARENT_PROGRAMS, named)).toBe(id);
  },

  async readRowToChange({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    const [writer, theirWriter] = [await writerOf(db, ours), await writerOf(db, theirs)];
    const locked = { id: foreign.id, isLocked: true, writer };
    expect(
      accepted(await db.prisma.$transaction((tx) => readRowToChange(tx, ours.scope, PARENT_PROGRAMS, locked))),
    ).toBeNull();
    const own = await insert(db, ours, foreign.id, { ...CONTENT, name: 'Of the same id' });
    await db.prisma.$transaction(async (tx) => {
      expect(accepted(await readRowToChange(tx, ours.scope, PARENT_PROGRAMS, locked))?.row).toEqual(own);
      // Their rows are not locked with ours: one organization cannot make another wait.
      const read = { ...locked, writer: theirWriter };
      await db.prisma.$transaction((other) => readRowToChange(other, theirs.scope, PARENT_PROGRAMS, read), {
        timeout: 10_000,
      });
    });
  },

  async replaceRow({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    const own = await insert(db, ours, foreign.id);
    const { change, foreignChange } = await rewrites(db, { ours, theirs, id: own.id });
    const content = { ...CONTENT, name: 'Changed' };
    const replaced = await replaceRow(db.prisma, theirs.scope, PARENT_PROGRAMS, { ...foreignChange, content });
    expect(accepted(replaced)).toBeNull();
    expect(accepted(await replaceRow(db.prisma, ours.scope, PARENT_PROGRAMS, { ...change, content }))).toMatchObject({
      name: 'Changed',
    });
    expect((await findRow(db, theirs.scope, PARENT_PROGRAMS, foreign.id))?.row).toEqual(foreign);
  },

  async deleteRow({ db, ours, theirs }) {
    const foreign = await insert(db, theirs);
    const own = await insert(db, ours, foreign.id);
    const { change, foreignChange } = await rewrites(db, { ours, theirs, id: own.id });
    expect(accepted(await deleteRow(db.prisma, theirs.scope, PARENT_PROGRAMS, foreignChange))).toBeNull();
    expect(accepted(await deleteRow(db.prisma, ours.scope, PARENT_PROGRAMS, change))).not.toBeNull();
    expect(await findRow(db, ours.scope, PARENT_PROGRAMS, own.id)).toBeNull();
    expect((await findRow(db, theirs.scope, PARENT_PROGRAMS, foreign.id))?.row).toEqual(foreign);
  },
};

/** Changes of our program with this id, by our key, and of the same row in their scope, by their key. */
async function rewrites(db: Database, { ours, theirs, id }: { ours: Tenant; theirs: Tenant; id: string }) {
  const [writer, theirWriter] = [await writerOf(db, ours), await writerOf(db, theirs)];
  const before = accepted(
    await readRowToChange(db.prisma, ours.scope, PARENT_PROGRAMS, { id, writer, isLocked: false }),
  );
  if (before === null) throw new Error('What was inserted is not there.');
  return { change: { before, writer }, foreignChange: { before, writer: theirWriter } };
}

export const keyOfWriteProofs: Proofs = {
  // The attack: a key that may write in its own organization, in the scope of another one.
  async checkKeyOfWrite({ db, ours, theirs }) {
    const writer = await writerOf(db, theirs);
    expect(await checkKeyOfWrite(db.prisma, theirs.scope, { ...writer, isLocked: false })).toEqual({
      kind: 'accepted',
      value: null,
    });
    expect(await checkKeyOfWrite(db.prisma, ours.scope, { ...writer, isLocked: false })).toMatchObject({
      kind: 'refused',
      key: null,
    });
    const inserted = { id: newId(), content: CONTENT, writer };
    expect(await insertRow(db.prisma, ours.scope, PARENT_PROGRAMS, inserted)).toMatchObject({
      kind: 'refused',
      key: null,
    });
    expect(await findRow(db, ours.scope, PARENT_PROGRAMS, inserted.id)).toBeNull();
  },
};
