import { createReadStream, type Stats } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';
import type { Command } from 'commander';
import { codeOf, DomainError, memberOf } from '../../src/domain/errors.ts';
import { type Keyring, parseKeyring } from '../../src/domain/keyring.ts';
import { commandLine } from '../../src/domain/release.ts';
import {
  activateOrganizationFrom,
  cancelMoveById,
  completeMoveById,
  deleteOrganizationById,
  exportOrganizationById,
  importOrganizationFrom,
} from '../../src/service/operator/moves.ts';
import { type ArchiveKind, linesIn, parseHead } from '../../src/service/organizations/archive-format.ts';
import { MoveEndedError, type Sink } from '../../src/service/organizations/export-organization.ts';
import { listOperatorActions } from '../../src/store/audit/audit.ts';
import { type Context, parseUuid } from './context.ts';

const STILL_STOPPED =
  'Requests of the organization still get 503. Repeat the command, with another file if need be, or run cancel-move.';

export function addArchiveCommands(program: Command, { config, execute }: Context): void {
  program
    .command('export-organization')
    .description('write all data of an organization to a file of JSON Lines, without secrets')
    .requiredOption('--id <uuid>', "the organization's id", parseUuid)
    .requiredOption('--file <path>', 'is replaced once the export is complete')
    .option(
      '--move',
      'write the secrets, too, for import-organization; from now on, requests of the organization get 503',
    )
    .action(({ id, file, move = false }: { id: string; file: string; move?: boolean }) =>
      execute(async (db) => {
        const kind = move ? 'move' : 'data';
        await requireOwnArchive(file, { id, kind });
        let isStopped = false;
        const { name, moveId, rows } = await writeWhole(file, { isExclusive: true }, ({ write, publish }) =>
          exportOrganizationById(db, id, {
            kind,
            write: (text) => {
              isStopped = move;
              return write(text);
            },
            publish: async () => {
              await requireOwnArchive(file, { id, kind });
              await publish();
            },
          }),
        ).catch((error: unknown) => {
          throw isStopped && error instanceof DomainError && !(error instanceof MoveEndedError)
            ? new DomainError(error.code, `${error.message} ${STILL_STOPPED}`)
            : error;
        });
        const exported = { organization_id: id, name, move_id: moveId, rows: sum(rows.values()), file };
        return move ? { ...exported, next: afterExport({ id, file }) } : exported;
      }),
    );

  program
    .command('import-organization')
    .description('insert an organization that was exported with --move; activate-organization then serves it')
    .requiredOption('--file <path>', 'the file that export-organization has written')
    .option(
      '--source-key <path>',
      'a file with the encryption key of the other installation, unless both have the same',
    )
    .action(({ file, sourceKey }: { file: string; sourceKey?: string }) =>
      execute(async (db) => {
        const sourceKeyring = sourceKey === undefined ? undefined : await readKeyring(sourceKey);
        const imported = await importOrganizationFrom(db, linesOf(file), { sourceKeyring });
        const { id, name, rows, before } = imported;
        if (before === 'activated') {
          const next = afterActivation({ id, name, isCell: config.cell !== null });
          return { organization_id: id, name, note: 'It was imported and activated before.', next };
        }
        const next = afterImport({ id });
        return before === 'nothing'
          ? { organization_id: id, name, rows, next }
          : { organization_id: id, name, note: 'It was imported before.', next };
      }),
    );

  program
    .command('complete-move')
    .description(
      'write what activate-organization needs: the revocations since export-organization --move, and that no more follow',
    )
    .requiredOption('--id <uuid>', "the organization's id", parseUuid)
    .requiredOption('--file <path>', 'is replaced once it is complete')
    .action(({ id, file }: { id: string; file: string }) =>
      execute(async (db) => {
        await requireOwnArchive(file, { id, kind: 'completion' });
        const { name, revocations } = await writeWhole(file, { isExclusive: true }, (sink) =>
          completeMoveById(db, id, sink),
        );
        return { organization_id: id, name, revocations, file, next: afterCompletion(file) };
      }),
    );

  program
    .command('activate-organization')
    .description(
      'carry out the revocations during the move of an organization that was imported, and serve it from now on',
    )
    .requiredOption('--file <path>', 'the file that complete-move has written')
    .action(({ file }: { file: string }) =>
      execute(async (db) => {
        const { id, name, revocations, isNew } = await activateOrganizationFrom(db, linesOf(file));
        const next = afterActivation({ id, name, isCell: config.cell !== null });
        return isNew
          ? { organization_id: id, name, revocations, next }
          : { organization_id: id, name, note: 'It was activated before.', next };
      }),
    );

  program
    .command('cancel-move')
    .description('end the move that export-organization --move has begun; delete the file of the move then')
    .requiredOption('--id <uuid>', "the organization's id", parseUuid)
    .requiredOption(
      '--imported-nowhere',
      'confirms that no other installation has activated the organization, or will: two would serve it',
    )
    .action(({ id }: { id: string }) =>
      execute(async (db) => {
        await cancelMoveById(db, id);
        return { move_cancelled: id, note: 'Delete the file of the move: it can still be imported elsewhere.' };
      }),
    );

  program
    .command('delete-organization')
    .description('delete an organization and all its data, irrevocably')
    .requiredOption('--id <uuid>', "the organization's id", parseUuid)
    .requiredOption('--name <text>', "the organization's name, as a confirmation")
    .option('--erase', 'confirms that the organization is to be deleted here although it has not moved away')
    .action(({ id, name, erase = false }: { id: string; name: string; erase?: boolean }) =>
      execute(async (db) => ({
        deleted: id,
        rows: await deleteOrganizationById(db, id, { name, confirmed: erase ? 'any' : 'moved' }),
      })),
    );

  program
    .command('list-operator-actions')
    .description('list the exports, moves and deletions of organizations, newest first, at most 1,000')
    .action(() =>
      execute(async (db) => ({
        actions: (await listOperatorActions(db)).map(({ at, action, aboutId, aboutName, detail }) => ({
          at,
          action,
          organization_id: aboutId,
          name: aboutName,
          detail: JSON.stringify(detail),
        })),
      })),
    );
}

type Writing = {
  /**
   * Whether a second command fails if it writes the same file at the same time. Otherwise it replaces the file of the first
   * command.
   */
  readonly isExclusive: boolean;
  /** The owner and the mode of the file. Default: only the user of this process can read it. */
  readonly like?: Pick<Stats, 'mode' | 'uid' | 'gid'>;
};

/**
 * Calls `produce` with functions that write a file. The file appears at `path` when `produce` publishes it, and is removed after
 * an error.
 */
export async function writeWhole<T>(
  path: string,
  { isExclusive, like }: Writing,
  produce: (sink: Required<Sink>) => Promise<T>,
): Promise<T> {
  const partial = `${path}.partial`;
  // The rename below cannot replace a folder.
  if ((await stat(path).catch(() => null))?.isDirectory() === true)
    throw new DomainError('invalid', `${path} is a folder. Give the path of a file.`);
  try {
    // The file must be a new one, because other users may be able to read an existing file.
    if (!isExclusive) await rm(partial, { force: true });
    const file = await open(partial, 'wx', 0o600);
    let written = partial;
    const publish = async () => {
      await file.sync();
      await rename(partial, path);
      written = path;
    };
    try {
      if (like !== undefined) {
        await file.chown(like.uid, like.gid);
        await file.chmod(like.mode);
      }
      return await produce({ write: async (text) => void (await file.writeFile(text)), publish });
    } catch (error) {
      await rm(written, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === 'EEXIST')
      throw new DomainError(
        'conflict',
        `${partial} exists: another command writes ${path}, or was killed. Wait for its end, or delete ${partial} if none runs. Then repeat this command, or choose another file.`,
      );
    throw fileError(error, path);
  }
}

/**
 * Throws if the file is an archive of another organization or of another kind. It must not be overwritten, because the archive of
 * a move can be the only copy of an organization.
 */
async function requireOwnArchive(path: string, { id, kind }: { id: string; kind: ArchiveKind }): Promise<void> {
  const other = await headIn(path).catch(() => null);
  if (other === null || (other.organization.id === id && other.kind === kind)) return;
  const what =
    other.organization.id === id
      ? `a file of this organization of another kind ("${other.kind}")`
      : `an archive of another organization, "${other.organization.name}"`;
  throw new DomainError('conflict', `${path} is ${what}. Choose another file, or delete it first.`);
}

/** Returns the first line of an archive, parsed. Throws if the file is not an archive. */
async function headIn(path: string) {
  const lines = linesOf(path);
  const { value } = await lines.next();
  await lines.return(undefined);
  return parseHead(value ?? '');
}

async function* linesOf(path: string): AsyncGenerator<string, undefined> {
  try {
    yield* linesIn(createReadStream(path, 'utf8'));
  } catch (error) {
    throw fileError(error, path);
  }
}

async function readKeyring(path: string): Promise<Keyring> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw fileError(error, path);
  });
  const keyring = parseKeyring(text);
  if (keyring === null) throw new DomainError('invalid', `${path} has no encryption key: 32 bytes in base64.`);
  return keyring;
}

/** Returns a message for the operator if the error comes from the file system. Returns other errors unchanged. */
export function fileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  return /^E[A-Z]+$/.test(code) && !/^E(CONN|PIPE|TIMEDOUT|HOST|NET)/.test(code)
    ? new DomainError('invalid', `${path} cannot be read or written: ${reasonOf(error)} (${code}).`)
    : error;
}

/** Returns the operating system's message for the error, such as "no space left on device". */
function reasonOf(error: unknown): string {
  const errno = memberOf(error, 'errno');
  return typeof errno === 'number' ? getSystemErrorMessage(errno) : 'the file system refuses it';
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}

// What the operator has to do after each command of a move.

const ADMIN = commandLine('admin');

function afterExport({ id, file }: { id: string; file: string }): string {
  return (
    `Requests of the organization get 503 now. In the other installation, run ${ADMIN} import-organization --file ${file}. ` +
    `To undo the move before that, run ${ADMIN} cancel-move --id ${id} --imported-nowhere here.`
  );
}

function afterImport({ id }: { id: string }): string {
  return (
    `This installation does not serve the organization yet. In the old one, run ${ADMIN} complete-move --id ${id} --file FILE. ` +
    `Then run ${ADMIN} activate-organization --file FILE here.`
  );
}

function afterCompletion(file: string): string {
  return `In the new installation, run ${ADMIN} activate-organization --file ${file}. It then serves the organization.`;
}

function afterActivation({ id, name, isCell }: { id: string; name: string; isCell: boolean }): string {
  const send = isCell
    ? `Run ${ADMIN} moved-keys --file moved-keys.map here, and reload HAProxy with that file.`
    : 'Send the requests of the organization to this installation.';
  return `${send} Then, in the old installation, run ${ADMIN} delete-organization --id ${id} --name ${JSON.stringify(name)}.`;
}
