import { DomainError } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { recordAudit } from '../../store/audit.ts';
import { type Database, type Transaction, transaction } from '../../store/database.ts';
import { isBeingDeleted, recordOperatorAction } from '../../store/operator-actions.ts';
import {
  endMove,
  findMove,
  lockOrganizationAlone,
  type Move,
  nextMoveId,
  startMove,
} from '../../store/organization-moves.ts';
import { readRows } from '../../store/organization-rows.ts';
import { beginSnapshot, listMigrations, listTenantTables, withOwnConnection } from '../../store/tenant-tables.ts';
import { ARCHIVE_FORMAT, type ArchiveKind, endLine, headLine, rowLine } from './archive-format.ts';

export type Exported = {
  readonly name: string;
  /** `null` unless the organization moves. */
  readonly moveId: string | null;
  readonly rows: ReadonlyMap<string, number>;
};

/**
 * Passes the archive of the organization to `write`, in parts of some hundred lines. For a move, its requests get 503 from
 * before the first row is read, until the move is cancelled or the organization is deleted; repeat it as often as needed.
 */
export async function exportOrganization(
  db: Database,
  scope: OrganizationScope,
  { kind, write }: { readonly kind: ArchiveKind; readonly write: (text: string) => Promise<void> },
): Promise<Exported> {
  const { name, moveId } = await startExport(db, scope, kind);
  const { organizationId } = scope;
  const counts = new Map<string, number>();
  await withOwnConnection(db.pool, async (query) => {
    await beginSnapshot(query);
    const migrations = await listMigrations(query);
    const tables = await listTenantTables(query);
    const head = {
      organization: { id: organizationId, name },
      move_id: moveId,
      at: new Date().toISOString(),
      migrations,
    };
    await write(headLine({ charter_archive: ARCHIVE_FORMAT, kind, ...head }));
    for await (const { table, rows } of readRows(query, scope, { tables, withSecrets: kind === 'move' })) {
      await write(rows.map((row) => rowLine(table, row)).join(''));
      counts.set(table, (counts.get(table) ?? 0) + rows.length);
    }
    await write(endLine(counts));
  });
  return { name, moveId, rows: counts };
}

/** Records the export. Throws if the organization moves and another kind of export is asked for. */
async function startExport(db: Database, scope: OrganizationScope, kind: ArchiveKind) {
  const id = scope.organizationId;
  return transaction(db, async (tx) => {
    const organization = await lockOrganizationAlone(tx, scope);
    if (organization === null) throw new DomainError('not_found', `There is no organization with the id ${id}.`);
    const { name } = organization;
    const move = await findMove(tx, scope);
    await refuseDeleted(tx, move);
    // An export that is repeated during a move finds the same rows, and the same move.
    if (move !== null && kind === 'move') return { name, moveId: move.id };
    const action = kind === 'move' ? 'organization.move_started' : 'organization.exported';
    const moveId = kind === 'move' ? await nextMoveId(tx, scope) : null;
    const detail = moveId === null ? {} : { move: moveId };
    await recordAudit(tx, scope, { action, actorUserId: null, detail, auditSource: null });
    await recordOperatorAction(tx, { action, organization: { id, name }, detail });
    if (moveId !== null) await startMove(tx, scope, moveId);
    return { name, moveId };
  });
}

/** The organization serves its requests again, in this database. Throws a conflict if it does not move, or is being deleted. */
export async function cancelMove(db: Database, scope: OrganizationScope): Promise<void> {
  await transaction(db, async (tx) => {
    const organization = await lockOrganizationAlone(tx, scope);
    const move = await findMove(tx, scope);
    if (organization === null || move === null || !(await endMove(tx, scope)))
      throw new DomainError('conflict', 'The organization does not move.');
    await refuseDeleted(tx, move);
    const action = 'organization.move_cancelled';
    const detail = { move: move.id };
    await recordAudit(tx, scope, { action, actorUserId: null, detail, auditSource: null });
    const about = { id: scope.organizationId, name: organization.name };
    await recordOperatorAction(tx, { action, organization: about, detail });
  });
}

async function refuseDeleted(tx: Transaction, move: Move | null): Promise<void> {
  if (move !== null && (await isBeingDeleted(tx, move.id)))
    throw new DomainError(
      'conflict',
      'Its deletion has begun, so some of its data is gone. Repeat delete-organization.',
    );
}
