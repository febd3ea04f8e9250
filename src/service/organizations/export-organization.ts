import { DomainError } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { recordAudit, recordOperatorAction } from '../../store/audit/audit.ts';
import {
  endMove,
  findMove,
  findMoveId,
  lockOrganizationAlone,
  type Move,
  type MoveStage,
  nextMoveId,
  startMove,
} from '../../store/organizations/organization-moves.ts';
import { readRows } from '../../store/organizations/organization-rows.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import {
  beginSnapshot,
  listMigrations,
  listTenantTables,
  queryIn,
  removeTimeouts,
  withOwnConnection,
} from '../../store/sql/tenant-tables.ts';
import { ARCHIVE_FORMAT, type ArchiveKind, ArchiveWriter } from './archive-format.ts';

export type Exported = {
  readonly name: string;
  /** The id of the move; `null` if the organization does not move. */
  readonly moveId: string | null;
  readonly rows: ReadonlyMap<string, number>;
};

export type Sink = {
  readonly write: (text: string) => Promise<void>;
  /** Publishes the archive. Called when the archive is complete and may be used. The move cannot be cancelled during the call. */
  readonly publish?: () => Promise<void>;
};

/**
 * Passes the archive of the organization to the sink, in parts of some hundred lines. For a move, requests of the organization
 * get 503 from before the first row is read until the move is cancelled or the organization is deleted; the export can be
 * repeated as often as needed. Throws if the move is cancelled or the deletion begins before the export ends.
 */
export async function exportOrganization(
  db: Database,
  scope: OrganizationScope,
  { kind, write, publish }: Sink & { readonly kind: ArchiveKind },
): Promise<Exported> {
  const { name, moveId } = await startExport(db, scope, kind);
  const archive = new ArchiveWriter(write);
  const migrations = await withOwnConnection(db.pool, async (query) => {
    await beginSnapshot(query);
    // The deletion of an organization begins with a move, so a snapshot that shows no move contains all rows of the organization.
    if ((await findMoveId(query, scope)) !== moveId) throw new MoveEndedError(kind);
    const own = await listMigrations(query);
    const tables = await listTenantTables(query);
    await archive.writeHead({
      charter_archive: ARCHIVE_FORMAT,
      kind,
      organization: { id: scope.organizationId, name },
      move_id: moveId,
      at: new Date().toISOString(),
      migrations: own,
    });
    for await (const { table, rows } of readRows(query, scope, { tables, withSecrets: kind === 'move' }))
      await archive.writeRows(table, rows);
    return own;
  });
  await transaction(
    db,
    async (tx) => {
      const query = queryIn(tx);
      await removeTimeouts(query);
      // The snapshot does not show what has happened since it was taken.
      if (moveId !== null) await requireMove(tx, scope, moveId);
      if (String(await listMigrations(query)) !== String(migrations))
        throw new DomainError(
          'conflict',
          'The database was upgraded during the export. Export the organization again.',
        );
      await archive.writeEnd();
      await publish?.();
    },
    { timeoutSeconds: PUBLISH_SECONDS },
  );
  return { name, moveId, rows: archive.rows };
}

/** The time limit for `publish`. A slow disk may need minutes to make a large file durable. */
const PUBLISH_SECONDS = 600;

/**
 * Throws unless the organization still moves. Locks the organization, so that the move is neither cancelled nor followed by a
 * deletion before the transaction ends.
 */
async function requireMove(tx: Transaction, scope: OrganizationScope, moveId: string): Promise<void> {
  await lockOrganizationAlone(tx, scope);
  const move = await findMove(tx, scope);
  if (move?.id !== moveId) throw new MoveEndedError('move');
  requireStageOutside(move, ['deleting']);
}

/** The move was cancelled, or another move began, before the export ended. */
export class MoveEndedError extends DomainError {
  constructor(kind: ArchiveKind) {
    super(
      'conflict',
      kind === 'move'
        ? 'The move was cancelled during the export, so there is no file.'
        : 'The organization has just begun to move, or is being deleted, so there is no file.',
    );
  }
}

/** Records the export and, for a move, starts the move. If the organization is already moving, the export continues that move. */
async function startExport(db: Database, scope: OrganizationScope, kind: ArchiveKind) {
  const id = scope.organizationId;
  return transaction(db, async (tx) => {
    const organization = await lockOrganizationAlone(tx, scope);
    if (organization === null) throw new DomainError('not_found', `There is no organization with the id ${id}.`);
    const { name } = organization;
    const move = await findMove(tx, scope);
    requireStageOutside(move, ['deleting', 'arriving']);
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

/**
 * Cancels the move, so that this database serves the organization again. Throws "conflict" if the organization is not moving, or
 * is being deleted.
 */
export async function cancelMove(db: Database, scope: OrganizationScope): Promise<void> {
  await transaction(db, async (tx) => {
    const organization = await lockOrganizationAlone(tx, scope);
    const move = await findMove(tx, scope);
    if (organization === null || move === null || !(await endMove(tx, scope)))
      throw new DomainError('conflict', 'The organization does not move.');
    requireStageOutside(move, ['deleting', 'arriving']);
    const action = 'organization.move_cancelled';
    const detail = { move: move.id };
    await recordAudit(tx, scope, { action, actorUserId: null, detail, auditSource: null });
    const about = { id: scope.organizationId, name: organization.name };
    await recordOperatorAction(tx, { action, organization: about, detail });
  });
}

const REASONS: Record<MoveStage, string> = {
  leaving: 'The organization leaves this database.',
  completed: 'The move is completed, so the organization is served elsewhere.',
  arriving:
    'The organization arrives in this database, which does not serve it yet. Run the command in the installation that it leaves.',
  deleting: 'Its deletion has begun, so some of its data is gone. Repeat delete-organization.',
};

export function requireStageOutside(move: Move | null, stages: readonly MoveStage[]): void {
  if (move !== null && stages.includes(move.stage)) throw new DomainError('conflict', REASONS[move.stage]);
}

/**
 * Throws unless the move of the file, `ofFile`, is the move by which the organization arrived in this database. Later moves have
 * greater ids.
 */
export function requireSameMove({ id }: Pick<Move, 'id'>, ofFile: string): void {
  if (id === ofFile) return;
  const remedy =
    ofFile < id
      ? 'Run complete-move in the installation that it leaves, and activate-organization here with the new file.'
      : 'This copy is of an earlier move. Run delete-organization with --erase here, import-organization with the file of the later move, and then activate-organization.';
  throw new DomainError(
    'conflict',
    `The file is that of the move ${ofFile}, but the organization arrives in this database with the move ${id}. Nothing was changed. ${remedy}`,
  );
}
