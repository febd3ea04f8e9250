import { v7 as newId } from 'uuid';
import type { Database } from '../../../src/store/database.ts';
import { deleteRows, insertRows, readRowsToChange, replaceRows } from '../../../src/store/row-batches.ts';
import { findRow } from '../../../src/store/rows.ts';
import { PARENT_PROGRAMS } from '../../../src/store/tables/parent-programs.ts';
import { accepted, type Tenant, writerOf } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const CONTENT = { name: 'Nordic', description: null, externalId: 'NOR-1', metadata: {} };

/** A row of each organization with one id and one external id. */
async function insertTwins(db: Database, { ours, theirs }: { ours: Tenant; theirs: Tenant }) {
  const id = newId();
  const [writer, theirWriter] = [await writerOf(db, ours), await writerOf(db, theirs)];
  const rows = [{ id, place: 0, content: CONTENT }];
  accepted(await insertRows(db.prisma, theirs.scope, PARENT_PROGRAMS, { rows, writer: theirWriter }));
  const foreign = await find(db, theirs, id);
  // An id and an external id are unique only within an organization, or one could find out another's.
  const own = { id, place: 0, content: { ...CONTENT, name: 'Of the same id' } };
  accepted(await insertRows(db.prisma, ours.scope, PARENT_PROGRAMS, { rows: [own], writer }));
  return { id, writer, foreign };
}

async function find(db: Database, { scope }: Tenant, id: string) {
  return (await findRow(db, scope, PARENT_PROGRAMS, id))?.row;
}

export const rowBatchProofs: Proofs = {
  async insertRows({ db, ours, theirs }) {
    const { id, foreign } = await insertTwins(db, { ours, theirs });
    expect(await find(db, ours, id)).toMatchObject({ name: 'Of the same id' });
    expect(await find(db, theirs, id)).toEqual(foreign);
  },

  async readRowsToChange({ db, ours, theirs }) {
    const { id } = await insertTwins(db, { ours, theirs });
    const sought = { ids: [id], unique: new Map([['externalId', ['NOR-1']]]) };
    await db.prisma.$transaction(async (tx) => {
      const read = await readRowsToChange(tx, ours.scope, PARENT_PROGRAMS, sought);
      expect(read).toEqual([await find(db, ours, id)]);
      // Their rows are not locked with ours: one organization cannot make another wait.
      await db.prisma.$transaction((other) => readRowsToChange(other, theirs.scope, PARENT_PROGRAMS, sought), {
        timeout: 10_000,
      });
    });
  },

  async replaceRows({ db, ours, theirs }) {
    const { id, writer, foreign } = await insertTwins(db, { ours, theirs });
    const rows = [{ id, place: 0, content: { ...CONTENT, name: 'Changed' } }];
    const written = accepted(await replaceRows(db.prisma, ours.scope, PARENT_PROGRAMS, { rows, writer }));
    expect([...written.keys()]).toEqual([id]);
    expect(await find(db, ours, id)).toMatchObject({ name: 'Changed' });
    expect(await find(db, theirs, id)).toEqual(foreign);
  },

  async deleteRows({ db, ours, theirs }) {
    const { id, writer, foreign } = await insertTwins(db, { ours, theirs });
    const written = accepted(
      await deleteRows(db.prisma, ours.scope, PARENT_PROGRAMS, { rows: [{ id, place: 0 }], writer }),
    );
    expect([...written.keys()]).toEqual([id]);
    expect(await find(db, ours, id)).toBeUndefined();
    expect(await find(db, theirs, id)).toEqual(foreign);
  },
};
