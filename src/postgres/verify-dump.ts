import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import { codeOf, memberOf, StartUpError } from '../domain/errors.ts';
import type { Keyring } from '../domain/keyring.ts';
import { openSecrets } from '../store/sql/secrets.ts';
import { connectOrExplain, requireDirectConnection, type UrlVariable } from './connection-problem.ts';

/** The database into which a dump is restored. Its name is fixed, so that the next run removes it after an interruption. */
const SCRATCH = 'charter_verified_dump';

export type VerifiedDump = {
  readonly bytes: number;
  readonly seconds: number;
  /** The number of all rows. The next four members count the rows of the most important tables. */
  readonly rows: number;
  readonly organizations: number;
  readonly parentPrograms: number;
  readonly apiKeys: number;
  readonly events: number;
  /** The number of secrets that were decrypted: at most one of each kind. */
  readonly secrets: number;
};

/**
 * Restores a dump into a scratch database of the PostgreSQL at `url`, counts its rows and decrypts a secret of each kind. Drops
 * the scratch database afterwards. Throws a StartUpError or a MissingEncryptionKeyError if the dump cannot be used.
 */
export async function verifyDump(
  file: string,
  { url, variable, keyring }: { readonly url: string; readonly variable: UrlVariable; readonly keyring: Keyring },
): Promise<VerifiedDump> {
  const startedAt = performance.now();
  const bytes = await readSize(file);
  const client = await connectOrExplain(url, 'charter-verify-dump', variable);
  try {
    await requireDirectConnection(client, variable);
    await createScratch(client, variable);
    try {
      const scratch = Object.assign(new URL(url), { pathname: `/${SCRATCH}` });
      await restore(file, scratch);
      const found = await inspect(scratch.href, { variable, keyring });
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      return { bytes, seconds, ...found };
    } finally {
      await client.query(`DROP DATABASE IF EXISTS ${SCRATCH} WITH (FORCE)`);
    }
  } finally {
    client.end().catch(() => undefined);
  }
}

async function readSize(file: string): Promise<number> {
  const { size } = await stat(file).catch((cause: unknown) => {
    const remedy = 'Give the path of a file that "pg_dump --format=custom" has written.';
    throw new StartUpError(`${file} cannot be read: ${String(codeOf(cause))}.`, remedy, { cause });
  });
  return size;
}

async function createScratch(client: pg.Client, variable: UrlVariable): Promise<void> {
  try {
    // This fails while another run uses the database.
    await client.query(`DROP DATABASE IF EXISTS ${SCRATCH}`);
    await client.query(`CREATE DATABASE ${SCRATCH} TEMPLATE template0`);
  } catch (cause) {
    throw new StartUpError(
      `The scratch database ${SCRATCH} could not be created: ${reasonOf(cause)}.`,
      `Allow it (ALTER ROLE "${client.user}" CREATEDB), wait until another verification has ended, or set ${variable} to another PostgreSQL.`,
      { cause },
    );
  }
}

/** Restores the dump with pg_restore. The password is a variable, because all users of the machine can see the arguments. */
async function restore(file: string, database: URL): Promise<void> {
  const password = decodeURIComponent(database.password);
  const dbname = Object.assign(new URL(database), { password: '' }).href;
  const parameters = ['--exit-on-error', '--no-owner', '--no-acl', `--dbname=${dbname}`, file];
  const env = { ...process.env, ...(password !== '' && { PGPASSWORD: password }) };
  await promisify(execFile)('pg_restore', parameters, { env }).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT')
      throw new StartUpError('pg_restore is missing.', 'Install the client programs of PostgreSQL on this machine.');
    // The message contains only the first line of stderr, because the other lines can contain rows.
    const [reason = ''] = String(memberOf(cause, 'stderr')).split('\n');
    throw new StartUpError(`The dump cannot be restored: ${reason}`, 'Make another dump, and verify it.');
  });
}

type Inspecting = { readonly variable: UrlVariable; readonly keyring: Keyring };

async function inspect(
  url: string,
  { variable, keyring }: Inspecting,
): Promise<Omit<VerifiedDump, 'bytes' | 'seconds'>> {
  const client = await connectOrExplain(url, 'charter-verify-dump', variable);
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    );
    const counts = new Map<string, number>();
    for (const { name } of tables) {
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::float8 AS count FROM ${client.escapeIdentifier(name)}`,
      );
      counts.set(name, rows[0]?.count ?? 0);
    }
    const countOf = (name: string) => counts.get(name) ?? 0;
    if (countOf('organizations') === 0)
      throw new StartUpError('The dump has no organizations.', 'Make it from the database of the servers.');
    return {
      rows: [...counts.values()].reduce((sum, count) => sum + count, 0),
      organizations: countOf('organizations'),
      parentPrograms: countOf('parent_programs'),
      apiKeys: countOf('api_keys'),
      events: countOf('events'),
      secrets: await openSecrets(client, keyring),
    };
  } finally {
    await client.end();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
