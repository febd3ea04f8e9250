import { DomainError } from '../../domain/errors.ts';
import { type Keyring, MissingEncryptionKeyError } from '../../domain/keyring.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { recordOperatorAction } from '../../store/audit/audit.ts';
import {
  findMove,
  findRecordSince,
  hasComeWith,
  hasOrganization,
  type MoveRecord,
  setStage,
  takeTurn,
} from '../../store/organizations/organization-moves.ts';
import { insertRows, type RowsOfTable } from '../../store/organizations/organization-rows.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import { isRefusedValue, lacksPrivilege, violatedUnique } from '../../store/sql/database-errors.ts';
import { encryptAnew, lockEncryptionKey } from '../../store/sql/secrets.ts';
import {
  listMigrations,
  listTenantTables,
  lockMigrations,
  type Query,
  queryIn,
  removeTimeouts,
  silenceTriggers,
} from '../../store/sql/tenant-tables.ts';
import { findTaken, type Taken } from '../../store/unscoped/operator.ts';
import { type Archive, type ArchiveHead, type ArchiveRow, DamagedError } from './archive-format.ts';
import { requireSameMove, requireStageOutside } from './export-organization.ts';

export type Imported = {
  readonly rows: number;
  /**
   * The state that this call found: "nothing" if the organization did not exist, "imported" if an earlier call had imported the
   * archive, "activated" if the organization was activated after that.
   */
  readonly before: 'nothing' | 'imported' | 'activated';
};

export type ImportRequest = Archive & {
  /** The encryption keys of the source database; `undefined` if this database has the same keys. */
  readonly sourceKeyring?: Keyring | undefined;
};

/** The maximum numbers of rows and of characters that are sent to PostgreSQL in one statement. */
const CHUNK = { rows: 1000, characters: 4_000_000 };
const DAY_SECONDS = 24 * 60 * 60;

/**
 * Inserts the organization of an archive that was exported for a move, in one transaction. Requests of the organization get 503
 * until `activateOrganization` is called.
 */
export async function importOrganization(
  db: Database,
  scope: OrganizationScope,
  archive: ImportRequest,
): Promise<Imported> {
  const { kind, move_id: moveId, organization } = archive.head;
  if (kind === 'completion')
    throw new DomainError('invalid', 'This file is that of complete-move. It is for activate-organization.');
  if (kind !== 'move' || moveId === null)
    throw new DomainError('invalid', 'This archive has no secrets, so it cannot be imported. Export it with --move.');
  try {
    return await transaction(
      db,
      async (tx) => {
        const query = queryIn(tx);
        await removeTimeouts(query);
        if (!(await takeTurn(query, scope, { inTransaction: true }))) throw busyError();
        await requireSameMigrations(query, archive.head);
        const before = await getProgress(tx, scope, moveId);
        if (before !== 'nothing') return { rows: 0, before };
        await requireNewFile(tx, scope, moveId);
        await requireEncryptionKey(query, db.keyring);
        await silenceTriggers(query, { isLocal: true });
        const rows = await insertAll(query, db, { ...archive, scope });
        if (!(await setStage(tx, scope, { id: moveId, stage: 'arriving' })))
          throw new DamagedError('its move is missing');
        await recordOperatorAction(tx, { action: 'organization.imported', organization, detail: { move: moveId } });
        return { rows, before };
      },
      { timeoutSeconds: DAY_SECONDS },
    );
  } catch (error) {
    if (!(error instanceof TakenError)) throw refusalOf(error, archive);
    throw await refusalOfTaken(db, scope, error);
  }
}

export function busyError(): DomainError {
  return new DomainError(
    'conflict',
    'Another move, import or deletion of this organization is running in this database. Wait for its end. Nothing was changed.',
  );
}

/** The error for a chunk with a row whose unique value already exists in this database. */
class TakenError extends Error {
  readonly chunk: RowsOfTable;
  constructor(chunk: RowsOfTable, cause: unknown) {
    super('A row is taken.', { cause });
    this.chunk = chunk;
  }
}

/**
 * Throws unless the other database has the same migrations as this one. Locks the migrations until the transaction ends, because a
 * concurrent migration could miss the new rows.
 */
export async function requireSameMigrations(
  query: Query,
  { migrations }: Pick<ArchiveHead, 'migrations'>,
): Promise<void> {
  await lockMigrations(query);
  const own = await listMigrations(query);
  const difference = [
    ...migrations.filter((each) => !own.includes(each)).map((each) => `only the other one has ${each}`),
    ...own.filter((each) => !migrations.includes(each)).map((each) => `only this one has ${each}`),
  ];
  if (difference.length === 0) return;
  throw new DomainError(
    'conflict',
    `The two databases have different versions of Charter: ${difference[0]}. Upgrade the older one, then try again.`,
  );
}

/**
 * Checks the encryption key, because the triggers that normally check it are disabled during the import. A rotation of the
 * encryption key waits until the import ends.
 */
async function requireEncryptionKey(query: Query, keyring: Keyring): Promise<void> {
  if (await lockEncryptionKey(query, keyring)) return;
  throw new DomainError(
    'conflict',
    'The encryption key of this database has just been replaced. Try again with the new one.',
  );
}

/** Returns how far this archive was imported before. Throws "conflict" if the organization exists for another reason. */
async function getProgress(tx: Transaction, scope: OrganizationScope, moveId: string): Promise<Imported['before']> {
  if (!(await hasOrganization(tx, scope))) return 'nothing';
  const move = await findMove(tx, scope);
  requireStageOutside(move, ['deleting']);
  if (move?.stage === 'arriving') {
    requireSameMove(move, moveId);
    return 'imported';
  }
  if (move === null && (await hasComeWith(tx, scope, moveId))) return 'activated';
  if (move?.id === moveId)
    throw new DomainError('conflict', 'The organization leaves this database. Import the file in the other one.');
  throw new DomainError(
    'conflict',
    `The organization ${scope.organizationId} exists in this database. If it was moved away before, delete it here first.`,
  );
}

/**
 * Throws if the file is outdated, because its import would restore keys, people or a whole organization that have ended since the
 * export.
 */
async function requireNewFile(tx: Transaction, scope: OrganizationScope, moveId: string): Promise<void> {
  const record = await findRecordSince(tx, scope, moveId);
  if (record !== null) throw new DomainError('conflict', `${reasonAgainst(record, moveId)} Nothing was imported.`);
}

function reasonAgainst({ action, moveId, at }: MoveRecord, ofFile: string): string {
  const when = at.toISOString();
  if (moveId !== ofFile || action === 'organization.deletion_started') {
    const what = action === 'organization.deletion_started' ? 'deletion' : 'move';
    return `The file is older than a ${what} of the organization, which this database has recorded on ${when}. It would bring back keys that have ended since.`;
  }
  if (action === 'organization.move_cancelled')
    return `The move of this file was cancelled in this database on ${when}, so the file can no longer be imported here.`;
  return action === 'organization.move_started'
    ? `The organization has left this database with the move of this file, which began on ${when}. Here, the file can no longer be imported.`
    : `The file was imported here on ${when}, and the organization has left or was deleted since. A file of a move is good for one import. Export the organization again where it is served.`;
}

async function insertAll(
  query: Query,
  db: Database,
  archive: ImportRequest & { scope: OrganizationScope },
): Promise<number> {
  const tables = new Map((await listTenantTables(query)).map((table) => [table.name, table]));
  const from = [db.keyring, ...(archive.sourceKeyring === undefined ? [] : [archive.sourceKeyring])];
  let inserted = 0;
  const insert = async ({ table, rows }: RowsOfTable) => {
    const target = tables.get(table);
    if (target === undefined) throw new DamagedError();
    const encrypted = rows.map((row) => encryptAnew(table, row, { from, to: db.keyring }));
    const count = await insertRows(query, archive.scope, { table: target, rows: encrypted }).catch((error) => {
      throw violatedUnique(error) === undefined ? error : new TakenError({ table, rows }, error);
    });
    // PostgreSQL inserts fewer rows if one of them belongs to another organization.
    if (count !== rows.length) throw new DamagedError();
    inserted += rows.length;
  };
  // The next chunk is read from the file while PostgreSQL inserts the previous chunk.
  let inserting = Promise.resolve();
  try {
    for await (const chunk of chunksOf(archive.rows)) {
      await inserting;
      inserting = insert(chunk);
      // One of the two awaits throws the failure after the next chunk has been read. This handler only prevents an unhandled
      // rejection.
      inserting.catch(() => {});
    }
  } finally {
    await inserting;
  }
  return inserted;
}

async function* chunksOf(rows: AsyncIterable<ArchiveRow>): AsyncGenerator<RowsOfTable> {
  let chunk: { table: string; rows: string[]; characters: number } = { table: '', rows: [], characters: 0 };
  for await (const { table, row } of rows) {
    const isFull = chunk.rows.length >= CHUNK.rows || chunk.characters >= CHUNK.characters;
    if (chunk.rows.length > 0 && (isFull || table !== chunk.table)) {
      yield chunk;
      chunk = { table: '', rows: [], characters: 0 };
    }
    chunk.table = table;
    chunk.rows.push(row);
    chunk.characters += row.length;
  }
  if (chunk.rows.length > 0) yield chunk;
}

async function refusalOfTaken(
  db: Database,
  { organizationId }: OrganizationScope,
  { chunk, cause }: TakenError,
): Promise<DomainError> {
  const taken = await findTaken(db, chunk);
  const cancel = `run cancel-move --id ${organizationId} --imported-nowhere in the installation that it is from.`;
  return new DomainError(
    'conflict',
    taken === null
      ? `This database has a row that the archive has, too: ${violatedUnique(cause)}. If another export of the organization does not help, ${cancel}`
      : `${problemOf(taken, chunk.table)}, and repeat the import, or ${cancel}`,
  );
}

/** Describes an e-mail or a domain in rows of this table that another organization has, and what to do. Ends without a full stop. */
export function problemOf({ id, name, value }: Taken, table: string): string {
  const remedy =
    table === 'sso_domains'
      ? 'Only one organization of a database can have a verified domain. Remove it there (Organization, Sign-in)'
      : 'Only one user of a database can have an e-mail. Change it there (admin change-email), or remove the user (admin remove-user)';
  return `The organization "${name}" (${id}) of the new installation has ${value} already. ${remedy}`;
}

/** Returns an error that says what the operator can do, if the operator can fix the error; otherwise, the error itself. */
function refusalOf(error: unknown, { sourceKeyring }: ImportRequest): unknown {
  if (isRefusedValue(error)) return new DamagedError();
  if (lacksPrivilege(error)) return silencingError();
  if (error instanceof MissingEncryptionKeyError) {
    const missing =
      sourceKeyring === undefined
        ? 'which is not one of this installation. Give the encryption key of the other one: --source-key FILE.'
        : 'which is neither one of this installation nor in the file of --source-key.';
    return new DomainError('invalid', `${error.message.split(',')[0]}, ${missing}`);
  }
  return error;
}

export function silencingError(): DomainError {
  return new DomainError(
    'forbidden',
    'The database user may not write rows as they are. As a superuser, run GRANT SET ON PARAMETER session_replication_role ' +
      'TO the user, from PostgreSQL 15 on, or run this command with DATABASE_URL of a superuser.',
  );
}
