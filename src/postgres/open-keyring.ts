import type pg from 'pg';
import { StartUpError } from '../domain/errors.ts';
import type { Keyring } from '../domain/keyring.ts';
import { commandLine } from '../domain/release.ts';
import { addEncryptionKey, listEncryptionKeys, listUsedKeys } from '../store/sql/secrets.ts';
import { connectOrExplain, type UrlVariable } from './connection-problem.ts';
import { createEncryptionKeyFile, encryptionKeyFile, readEncryptionKeyFile } from './encryption-key-file.ts';

export type KeyringChoice = {
  /** The file in `dataDir` is used if it is omitted; it is created for a database without encrypted secrets. */
  readonly keyring: Keyring | undefined;
  readonly dataDir: string;
  /**
   * Whether this key may take the place of all others with which nothing is encrypted. False by default: of processes with
   * different keys that start on an empty database, only one may start.
   */
  readonly replacesUnusedKeys?: boolean;
};

/**
 * The keys of the secrets in the database at `url`, which must be migrated. Throws a StartUpError if one of them is missing.
 * The current key is then among those that may encrypt in this database.
 *
 * A missing key with which nothing is encrypted may be lost, so it keeps no process from starting that has another key of the
 * database. It is not removed: a process that has it may be running, and would fail to write secrets.
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
    // Only one of several processes with different keys that start at once on an empty database may add its key.
    if (isNew) await client.query('lock table encryption_keys in exclusive mode');
    await requireKeysOfDatabase(client, keyring, choice);
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
  // Another process that starts at the same time may have created the file since it was looked for.
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

async function requireKeysOfDatabase(client: pg.Client, keyring: Keyring, choice: KeyringChoice): Promise<void> {
  const source = choice.keyring === undefined ? encryptionKeyFile(choice.dataDir) : 'ENCRYPTION_KEY';
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
