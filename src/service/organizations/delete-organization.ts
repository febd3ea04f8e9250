import { DomainError } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { recordOperatorAction } from '../../store/audit/audit.ts';
import {
  findMove,
  lockOrganizationAlone,
  type MoveStage,
  nextMoveId,
  setStage,
  startMove,
  takeTurn,
} from '../../store/organizations/organization-moves.ts';
import { deleteRows } from '../../store/organizations/organization-rows.ts';
import { deleteInChunks } from '../../store/sql/chunks.ts';
import { type Database, transaction } from '../../store/sql/database.ts';
import { lacksPrivilege } from '../../store/sql/database-errors.ts';
import {
  listTenantTables,
  silenceTriggers,
  type TenantTable,
  withOwnConnection,
} from '../../store/sql/tenant-tables.ts';
import { busyError, silencingError } from './import-organization.ts';

export type Deletion = {
  /** The name of the organization, which the operator must repeat, so that no other organization is deleted by mistake. */
  readonly name: string;
  /**
   * What the operator has confirmed to delete: an organization that has moved away, a copy that has arrived but was never served,
   * or any organization. Without this, an organization could be deleted in the database to which it has moved.
   */
  readonly confirmed: 'moved' | 'copy' | 'any';
};

/**
 * Deletes every row of the organization in chunks, and the organization itself last. Returns the number of deleted rows. Requests
 * of the organization get 503 as soon as the deletion starts, and 401 as soon as the organization's keys are deleted. An
 * interrupted deletion cannot be undone; call the function again to complete it.
 */
export async function deleteOrganization(
  db: Database,
  scope: OrganizationScope,
  { name, confirmed }: Deletion,
): Promise<number> {
  const organization = { id: scope.organizationId, name };
  await transaction(db, async (tx) => {
    const found = await lockOrganizationAlone(tx, scope);
    if (found?.name !== name)
      throw new DomainError('conflict', 'The organization has another name. Nothing was deleted.');
    const move = await findMove(tx, scope);
    if (move === null && confirmed !== 'any')
      throw new DomainError(
        'conflict',
        'The organization has not moved away from this database, so nothing was deleted. After a move, run this command in ' +
          'the old installation. To erase the organization, add --erase.',
      );
    const isConfirmed = confirmed === 'any' || (confirmed === 'copy' && move?.stage === 'arriving');
    if (move !== null && !isConfirmed && NOT_GONE[move.stage] !== null)
      throw new DomainError('conflict', `${NOT_GONE[move.stage]} Nothing was deleted.`);
    // The deletion was started by an earlier call.
    if (move?.stage === 'deleting') return;
    const id = move?.id ?? (await nextMoveId(tx, scope));
    if (move === null) await startMove(tx, scope, id);
    await setStage(tx, scope, { id, stage: 'deleting' });
    // A move that was imported, but never activated, is not recorded, so that the archive can be imported again.
    const detail = move?.stage === 'arriving' ? {} : { move: id };
    await recordOperatorAction(tx, { action: 'organization.deletion_started', organization, detail });
  });
  const rows = await deleteAll(db, scope);
  await transaction(db, (tx) =>
    recordOperatorAction(tx, { action: 'organization.deleted', organization, detail: { rows: String(rows) } }),
  );
  return rows;
}

/** Why an organization in this stage of a move has not moved away; `null` if it has moved away. */
const NOT_GONE: Record<MoveStage, string | null> = {
  leaving:
    'The move is not completed: run complete-move here, and activate-organization with its file in the new installation. To erase the organization, add --erase.',
  completed: null,
  arriving:
    'The organization arrives in this database, which does not serve it yet. To give up this copy, add --erase; it can then be imported again.',
  deleting: null,
};

/** The tables that are deleted last, because the row of the move prevents the organization from being served. */
const LAST = ['organization_moves', 'organizations'];

async function deleteAll({ pool }: Database, scope: OrganizationScope): Promise<number> {
  return withOwnConnection(pool, async (query) => {
    // Without this lock, rows that are imported for the organization meanwhile would be deleted, too.
    if (!(await takeTurn(query, scope, { inTransaction: false }))) throw busyError();
    await silenceTriggers(query).catch((error: unknown) => {
      throw lacksPrivilege(error) ? silencingError() : error;
    });
    const tables = (await listTenantTables(query)).reverse();
    const isLast = ({ name }: TenantTable) => LAST.includes(name);
    let deleted = 0;
    for (;;) {
      const before = deleted;
      for (const table of tables.filter((each) => !isLast(each)))
        deleted += await deleteInChunks({}, () => deleteRows(query, scope, table));
      await query('begin');
      for (const table of tables.filter(isLast)) deleted += await deleteRows(query, scope, table);
      await query('commit');
      // Transactions that began earlier may have inserted rows into a table after it was emptied, so the deletion is repeated
      // until it finds no rows.
      if (deleted === before) return deleted;
    }
  });
}
