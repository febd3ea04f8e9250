import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Database } from '../../store/sql/database.ts';
import { type ArchiveHead, readArchive } from '../organizations/archive-format.ts';
import { type Activated, activateOrganization, completeMove } from '../organizations/complete-move.ts';
import { type Deletion, deleteOrganization } from '../organizations/delete-organization.ts';
import { cancelMove, type Exported, exportOrganization } from '../organizations/export-organization.ts';
import { type Imported, type ImportRequest, importOrganization } from '../organizations/import-organization.ts';
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
