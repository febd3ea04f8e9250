import { DomainError } from '../../domain/errors.ts';
import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import {
  findMove,
  findMovingSeconds,
  hasComeWith,
  type Move,
  takeTurn,
} from '../../store/organizations/organization-moves.ts';
import { readRows } from '../../store/organizations/organization-rows.ts';
import type { Database } from '../../store/sql/database.ts';
import { lacksPrivilege } from '../../store/sql/database-errors.ts';
import {
  beginSnapshot,
  listMigrations,
  listTenantTables,
  silenceTriggers,
  withOwnConnection,
} from '../../store/sql/tenant-tables.ts';
import { findOrganization, findTaken, UNIQUE_TABLES } from '../../store/unscoped/operator.ts';
import { type ArchiveHead, linesIn, readArchive } from '../organizations/archive-format.ts';
import { type Activated, activateOrganization, completeMove } from '../organizations/complete-move.ts';
import { type Deletion, deleteOrganization } from '../organizations/delete-organization.ts';
import {
  cancelMove,
  type Exported,
  exportOrganization,
  requireStageOutside,
} from '../organizations/export-organization.ts';
import {
  busyError,
  type Imported,
  type ImportRequest,
  importOrganization,
  problemOf,
  requireSameMigrations,
  silencingError,
} from '../organizations/import-organization.ts';
import { getScope } from './organizations.ts';

export async function exportOrganizationById(
  db: Database,
  id: string,
  request: Parameters<typeof exportOrganization>[2],
): Promise<Exported> {
  return exportOrganization(db, await getScope(db, id), request);
}

export async function cancelMoveById(db: Database, id: string): Promise<void> {
  await cancelMove(db, await getScope(db, id));
}

/** Imports an organization. `lines` are the lines of an archive. */
export async function importOrganizationFrom(
  db: Database,
  lines: AsyncIterator<string>,
  { sourceKeyring }: Pick<ImportRequest, 'sourceKeyring'>,
): Promise<Imported & ArchiveHead['organization']> {
  const { head, rows } = await readArchive(lines);
  const imported = await importOrganization(db, OrganizationScope.grant(head.organization.id), {
    head,
    rows,
    sourceKeyring,
  });
  return { ...imported, ...head.organization };
}

export async function completeMoveById(
  db: Database,
  id: string,
  sink: Parameters<typeof completeMove>[2],
): ReturnType<typeof completeMove> {
  return completeMove(db, await getScope(db, id), sink);
}

/** Activates an imported organization. `lines` are the lines of the file that the command complete-move has written. */
export async function activateOrganizationFrom(
  db: Database,
  lines: AsyncIterator<string>,
): Promise<Activated & ArchiveHead['organization']> {
  const archive = await readArchive(lines);
  const { organization } = archive.head;
  return { ...(await activateOrganization(db, OrganizationScope.grant(organization.id), archive)), ...organization };
}

export async function deleteOrganizationById(db: Database, id: string, request: Deletion): Promise<number> {
  return deleteOrganization(db, await getScope(db, id), request);
}

// The steps of a move by one process that reaches both databases. What has been done is read from the databases, so the process
// can end at any moment, and another one can go on.

/** The two databases of a move. */
export type Ends = { readonly from: Database; readonly to: Database };

/**
 * How far a move is. "copied": the new database has the organization, but does not serve it. "moved": the new database serves the
 * organization.
 */
export type Standing = 'not started' | 'started' | 'copied' | 'moved';

type Place = { readonly name: string; readonly move: Move | null };

/** Returns how far the move of the organization is. Throws "conflict" if the databases are not the two ends of one move. */
export async function getStanding({ from, to }: Ends, id: string): Promise<Standing> {
  const scope = OrganizationScope.grant(id);
  const [here, there] = [await findPlace(from, scope), await findPlace(to, scope)];
  if (here === null) {
    if (there === null) await getScope(from, id);
    throw new DomainError('conflict', ONLY_THERE);
  }
  if (there !== null && there.move === null) {
    const hasMoved = here.move !== null && (await hasComeWith(to.prisma, scope, here.move.id));
    if (!hasMoved) throw new DomainError('conflict', IN_BOTH);
    return 'moved';
  }
  requireStageOutside(here.move, ['arriving', 'deleting']);
  if (there === null) return here.move === null ? 'not started' : 'started';
  if (there.move?.stage !== 'arriving') throw new DomainError('conflict', LEAVES_THERE);
  if (there.move.id !== here.move?.id) throw new DomainError('conflict', OTHER_COPY);
  return 'copied';
}

const ONLY_THERE =
  'Only the database of MOVE_TO_DATABASE_URL has this organization. If it is to move from there, exchange the two databases.';
const IN_BOTH =
  'Both databases have this organization, and it has not come to that of MOVE_TO_DATABASE_URL by a move from this one. Check whether both are the same database. Otherwise, list-operator-actions shows where it was moved and restored.';
const LEAVES_THERE =
  'The organization leaves the database of MOVE_TO_DATABASE_URL, or is being deleted there. Run delete-organization there first. To go on with a move from there, exchange the two databases.';
const OTHER_COPY =
  'The database of MOVE_TO_DATABASE_URL has a copy of the organization from another move, which was never served. Run this command with --undo, which deletes the copy, and then again without it.';

/** Returns the name and the move of the organization in a database; `null` if the database does not have it. */
async function findPlace(db: Database, scope: OrganizationScope): Promise<Place | null> {
  const organization = await findOrganization(db, scope.organizationId);
  return organization && { name: organization.name, move: await findMove(db.prisma, scope) };
}

/**
 * Throws if something would stop the move after it has begun: another version, a missing privilege, or an e-mail or domain that
 * the new database already has. Changes nothing.
 */
export async function requireMovable({ from, to }: Ends, id: string): Promise<void> {
  const scope = await getScope(from, id);
  await withOwnConnection(from.pool, async (query) => {
    await beginSnapshot(query);
    const migrations = await listMigrations(query);
    await withOwnConnection(to.pool, async (queryThere) => {
      await queryThere('begin');
      await requireSameMigrations(queryThere, { migrations });
      await silenceTriggers(queryThere, { isLocal: true }).catch((error: unknown) => {
        throw lacksPrivilege(error) ? silencingError() : error;
      });
      await queryThere('rollback');
    });
    const tables = (await listTenantTables(query)).filter(({ name }) => UNIQUE_TABLES.includes(name));
    for await (const chunk of readRows(query, scope, { tables, withSecrets: false })) {
      const taken = await findTaken(to, chunk);
      if (taken !== null) throw new DomainError('conflict', `${problemOf(taken, chunk.table)}. Nothing was moved.`);
    }
  });
}

/**
 * Starts the move unless it has started, and copies the organization through a pipe in memory. The export holds its lock until
 * the import is committed, so a move that is cancelled meanwhile leaves no copy.
 */
export async function copyOrganization({ from, to }: Ends, id: string): Promise<Exported> {
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const lines = linesIn(readable);
  // If the import fails, closing the reader fails the next write of the export.
  const importing = importOrganizationFrom(to, lines, { sourceKeyring: from.keyring }).finally(() =>
    lines.return(undefined),
  );
  // The failure is thrown below. This handler only prevents an unhandled rejection until then.
  importing.catch(() => {});
  try {
    return await exportOrganizationById(from, id, {
      kind: 'move',
      write: (text) => writer.write(text),
      publish: async () => {
        await writer.close();
        await importing;
      },
    });
  } catch (error) {
    await writer.abort(error).catch(() => {});
    // If the import has failed, its error is the cause. The error of the export only says that the pipe is closed.
    throw await importing.then(
      () => error ?? busyError(),
      (cause: unknown) => cause,
    );
  }
}

/** Takes the last two steps of a move: no more revocations here, then the new database serves the organization. */
export async function handOver({ from, to }: Ends, id: string): Promise<Activated> {
  let file = '';
  await completeMoveById(from, id, {
    write: async (text) => {
      file += text;
    },
  });
  return activateOrganizationFrom(to, linesIn([file]));
}

/**
 * Deletes the copy in the new database, and serves the organization in the old one again. Throws "conflict" if the new database
 * has served the organization in this move.
 */
export async function undoMove({ from, to }: Ends, id: string): Promise<void> {
  const scope = await getScope(from, id);
  const [here, there] = [await findPlace(from, scope), await findPlace(to, scope)];
  const wasServed = here?.move != null && (await hasComeWith(to.prisma, scope, here.move.id));
  if (wasServed || (there !== null && there.move === null)) throw new DomainError('conflict', SERVED_THERE);
  requireStageOutside(here?.move ?? null, ['arriving', 'deleting']);
  if (there?.move?.stage === 'leaving' || there?.move?.stage === 'completed')
    throw new DomainError('conflict', LEAVES_THERE);
  if (there !== null) await deleteOrganizationById(to, id, { name: there.name, confirmed: 'copy' });
  // Without a copy and without a move, this says that the organization does not move.
  if (there === null || here?.move != null) await cancelMoveById(from, id);
}

const SERVED_THERE =
  'The database of MOVE_TO_DATABASE_URL serves the organization, or has served it, so the move cannot be undone. To move it back, run delete-organization here, and then this command with the two databases exchanged.';

/** Returns the name of the organization, and for how many seconds it has been moving away from this database. */
export async function getMove(db: Database, id: string): Promise<{ readonly name: string; readonly seconds: number }> {
  const scope = await getScope(db, id);
  const place = await findPlace(db, scope);
  return { name: place?.name ?? '', seconds: await findMovingSeconds(db.prisma, scope) };
}

/** Runs work during which no other process moves, imports or deletes the organization in this database. */
export async function withTurn<T>(db: Database, id: string, work: () => Promise<T>): Promise<T> {
  return withOwnConnection(db.pool, async (query) => {
    if (!(await takeTurn(query, OrganizationScope.grant(id), { inTransaction: false }))) throw busyError();
    return work();
  });
}
