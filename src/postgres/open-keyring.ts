import type pg from 'pg';
import { StartUpError } from '../domain/errors.ts';
import type { Keyring } from '../domain/keyring.ts';
import { commandLine } from '../domain/release.ts';
import { addEncryptionKey, listEncryptionKeys, listUsedKeys } from '../store/sql/secrets.ts';
import { connectOrExplain, type UrlVariable } from './connection-problem.ts';
import { createEncryptionKeyFile, encryptionKeyFile, readEncryptionKeyFile } from './encryption-key-file.ts';

export type KeyringChoice = {
  /** The configured keys; `undefined` to use the file in `dataDir`, which is created if the database has no encrypted secrets. */
  readonly keyring: Keyring | undefined;
  readonly dataDir: string;
  /**
   * Whether the current key may replace all other keys of the database if nothing is encrypted with them. Default: `false`, so
   * that only one of several processes with different keys can start on an empty database.
   */
  readonly replacesUnusedKeys?: boolean;
};

/**
 * Returns the keys for the secrets in the database at `url`. The database must be migrated. Throws a StartUpError if a key that
 * encrypts secrets is missing, or if all keys of the database are missing. Adds the current key to the keys with which processes
 * may encrypt in this database.
 *
 * If a missing key has encrypted nothing, it may be lost, so a process that has another key of the database may start. The
 * missing key is not removed, because a running process may have it, and could then not write secrets any more.
 */
export async function openKeyring(
  url: string,
  choice: KeyringChoice,
  variable: UrlVariable = 'DATABASE_URL',
): Promise<Keyring> {
  const client = await connectOrExplain(url, 'charter-migrate', variable);
  try {
    const keyring = choice.keyring ?? (await readEncryptionKeyFile(choice.dataDir)) ?? (await create(client, choice));
    await client.query('begin');
    const isNew = !(await listEncryptionKeys(client)).includes(keyring.currentId);
    // If several processes with different keys start at the same time on an empty database, only one of them may add its key.
    if (isNew) await client.query('lock table encryption_keys in exclusive mode');
    await requireKeysOfDatabase(client, keyring, { ...choice, variable });
    if (isNew) await addEncryptionKey(client, keyring);
    await client.query('commit');
    return keyring;
  } finally {
    client.end().catch(() => undefined);
  }
}

const ROTATE = `"${commandLine('admin')} rotate-encryption-key"`;
const REPLACE_LOST_KEY = `Nothing is encrypted with the missing key. If it is lost, run ${ROTATE}, which replaces it.`;

async function create(client: pg.Client, { dataDir, replacesUnusedKeys = false }: KeyringChoice): Promise<Keyring> {
  const ids = await listEncryptionKeys(client);
  if (ids.length === 0) return createEncryptionKeyFile(dataDir);
  // Another process that starts at the same time may have created the file in the meantime.
  const created = await readEncryptionKeyFile(dataDir);
  if (created !== null) return created;
  const isUnused = (await listUsedKeys(client, ids)).length === 0;
  if (isUnused && replacesUnusedKeys) return createEncryptionKeyFile(dataDir);
  const remedy =
    'Restore this file from a backup, or set ENCRYPTION_KEY to the key of the other processes that use this database.';
  throw new StartUpError(
    `The encryption key of this database is missing: there is no ${encryptionKeyFile(dataDir)}.`,
    isUnused ? `${remedy} ${REPLACE_LOST_KEY}` : remedy,
  );
}

/** Returns where the keys are from, for messages. */
function sourceOf({ keyring, dataDir, variable }: KeyringChoice & { readonly variable: UrlVariable }): string {
  if (variable === 'MOVE_TO_DATABASE_URL') return 'MOVE_TO_ENCRYPTION_KEY, or ENCRYPTION_KEY if that is not set,';
  return keyring === undefined ? encryptionKeyFile(dataDir) : 'ENCRYPTION_KEY';
}

async function requireKeysOfDatabase(
  client: pg.Client,
  keyring: Keyring,
  choice: KeyringChoice & { readonly variable: UrlVariable },
): Promise<void> {
  const source = sourceOf(choice);
  const ids = await listEncryptionKeys(client);
  const missing = ids.filter((id) => !keyring.has(id));
  if (missing.length === 0) return;
  const used = await listUsedKeys(client, missing);
  if (used.length > 0) {
    throw new StartUpError(
      `${source} lacks a key with which secrets in this database are encrypted (key id ${used.join(', ')}).`,
      'If its key is the wrong one, replace it with the right one. Only if you are changing the key, add the old one after the ' +
        `new one, and run ${ROTATE} before you remove it.`,
    );
  }
  if (choice.replacesUnusedKeys === true || missing.length < ids.length) return;
  throw new StartUpError(
    `${source} lacks the key of this database (key id ${missing.join(', ')}).`,
    `If its key is the wrong one, replace it with the right one. ${REPLACE_LOST_KEY}`,
  );
}
