import { v7 as newId } from 'uuid';
import { recordAudit } from '../../../src/store/audit.ts';
import { transaction } from '../../../src/store/database.ts';
import { recordOperatorAction } from '../../../src/store/operator-actions.ts';
import {
  endMove,
  findMove,
  findMoveId,
  findRecordSince,
  lockOrganizationAlone,
  nextMoveId,
  startMove,
  takeTurn,
  wasMovedBy,
} from '../../../src/store/organization-moves.ts';
import { deleteRows, insertRows, readRows } from '../../../src/store/organization-rows.ts';
import { listTenantTables, queryIn, type TenantTable } from '../../../src/store/tenant-tables.ts';
import type { Proofs, World } from './proof.ts';

const usersOf = ({ db }: World, organizationId: string) => db.prisma.user.count({ where: { organizationId } });

/** In a transaction that is committed. */
function withUsers<T>(
  { db }: World,
  work: (query: ReturnType<typeof queryIn>, users: TenantTable) => Promise<T>,
): Promise<T> {
  return transaction(db, async (tx) => {
    const query = queryIn(tx);
    const users = (await listTenantTables(query)).find(({ name }) => name === 'users');
    if (users === undefined) throw new Error('There is no table of users.');
    return work(query, users);
  });
}

async function readUsers(world: World, scope: World['ours']['scope']): Promise<string[]> {
  return withUsers(world, async (query, users) => {
    const read: string[] = [];
    for await (const { rows } of readRows(query, scope, { tables: [users], withSecrets: true })) read.push(...rows);
    return read;
  });
}

export const organizationMoveProofs: Proofs = {
  async startMove({ db, ours, theirs }) {
    await startMove(db.prisma, ours.scope, newId());
    expect(await findMove(db.prisma, ours.scope)).not.toBeNull();
    expect(await findMove(db.prisma, theirs.scope)).toBeNull();
    const organization = await db.prisma.organization.findUnique({ where: { id: theirs.scope.organizationId } });
    expect(organization?.suspendedAt).toBeNull();
  },

  async findMove({ db, ours, theirs }) {
    await startMove(db.prisma, theirs.scope, newId());
    expect(await findMove(db.prisma, ours.scope)).toBeNull();
  },

  async findMoveId({ db, ours, theirs }) {
    const id = newId();
    await startMove(db.prisma, theirs.scope, id);
    expect(await findMoveId(queryIn(db.prisma), ours.scope)).toBeNull();
    expect(await findMoveId(queryIn(db.prisma), theirs.scope)).toBe(id);
  },

  async takeTurn({ db, ours, theirs }) {
    const take = (scope: typeof ours.scope) =>
      transaction(db, (tx) => takeTurn(queryIn(tx), scope, { inTransaction: true }));
    await transaction(db, async (tx) => {
      expect(await takeTurn(queryIn(tx), ours.scope, { inTransaction: true })).toBe(true);
      expect(await take(theirs.scope)).toBe(true);
    });
  },

  async endMove({ db, ours, theirs }) {
    await startMove(db.prisma, theirs.scope, newId());
    expect(await endMove(db.prisma, ours.scope)).toBe(false);
    expect(await findMove(db.prisma, theirs.scope)).not.toBeNull();
  },

  async lockOrganizationAlone({ db, ours, theirs }) {
    await transaction(db, async (tx) => {
      expect(await lockOrganizationAlone(tx, ours.scope)).toEqual({ name: 'Test', suspendedAt: null });
      const lock = 'select from organizations where id = $1 for update skip locked';
      expect((await db.pool.query(lock, [ours.scope.organizationId])).rowCount).toBe(0);
      expect((await db.pool.query(lock, [theirs.scope.organizationId])).rowCount).toBe(1);
    });
  },

  async wasMovedBy({ db, ours, theirs }) {
    const id = newId();
    const moved = { action: 'organization.moved', actorUserId: null, detail: { move: id }, auditSource: null } as const;
    await recordAudit(db.prisma, theirs.scope, moved);
    expect(await wasMovedBy(db.prisma, theirs.scope, id)).toBe(true);
    expect(await wasMovedBy(db.prisma, ours.scope, id)).toBe(false);
  },

  async findRecordSince({ db, ours, theirs }) {
    const id = await recordMove({ db, theirs }, Date.now());
    expect(await findRecordSince(db.prisma, theirs.scope, id)).toMatchObject({ moveId: id });
    expect(await findRecordSince(db.prisma, ours.scope, id)).toBeNull();
  },

  async nextMoveId({ db, ours, theirs }) {
    const id = await recordMove({ db, theirs }, Date.now() + 3_600_000);
    expect((await nextMoveId(db.prisma, theirs.scope)) > id).toBe(true);
    expect((await nextMoveId(db.prisma, ours.scope)) > id).toBe(false);
  },
};

async function recordMove({ db, theirs }: Pick<World, 'db' | 'theirs'>, msecs: number): Promise<string> {
  const organization = { id: theirs.scope.organizationId, name: 'Theirs' };
  const move = newId({ msecs });
  await recordOperatorAction(db.prisma, { action: 'organization.moved', organization, detail: { move } });
  return move;
}

export const organizationRowProofs: Proofs = {
  async readRows(world) {
    const read = await readUsers(world, world.ours.scope);
    expect(read.map((row) => JSON.parse(row).id)).toEqual([world.ours.userId]);
  },

  async insertRows(world) {
    const [row = ''] = await readUsers(world, world.theirs.scope);
    const another = row.replace(world.theirs.userId, newId()).replace(world.theirs.email, 'another@example.test');
    const { scope } = world.ours;
    expect(await withUsers(world, (query, table) => insertRows(query, scope, { table, rows: [another] }))).toBe(0);
    expect(await usersOf(world, world.theirs.scope.organizationId)).toBe(1);
  },

  async deleteRows(world) {
    expect(await withUsers(world, (query, users) => deleteRows(query, world.ours.scope, users))).toBe(1);
    expect(await usersOf(world, world.theirs.scope.organizationId)).toBe(1);
  },
};
