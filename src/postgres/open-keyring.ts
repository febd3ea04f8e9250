import type { Keyring } from '../domain/keyring.ts';
import { StartUpError } from '../domain/start-up-error.ts';
import { addEncryptionKey, listEncryptionKeys } from '../store/secrets.ts';
import { connectOrExplain } from './connection-problem.ts';
import { createEncryptionKeyFile, encryptionKeyFile, readEncryptionKeyFile } from './encryption-key-file.ts';

export type KeyringChoice = {
  /** Undefined: the file in `dataDir`, which is created for a database without encrypted secrets. */
  readonly keyring: Keyring | undefined;
  readonly dataDir: string;
};

/**
 * The keys of the secrets in the database at `url`, which must be migrated. Throws a StartUpError if one of them is missing.
 * The current key is then among those that may encrypt in this database.
 */
export async function openKeyring(url: string, { keyring: given, dataDir }: KeyringChoice): Promise<Keyring> {
  const client = await connectOrExplain(url, 'charter-migrate');
  try {
    const ids = await listEncryptionKeys(client);
    const keyring = given ?? (await readEncryptionKeyFile(dataDir)) ?? (await create(dataDir, ids));
    const source = given === undefined ? encryptionKeyFile(dataDir) : 'ENCRYPTION_KEY';
    refuseMissing(ids, keyring, source);
    if (ids.includes(keyring.currentId)) return keyring;
    // Of processes with different keys that start at once on an empty database, only one may add its key.
    await client.query('begin');
    await client.query('lock table encryption_keys in exclusive mode');
    refuseMissing(await listEncryptionKeys(client), keyring, source);
    await addEncryptionKey(client, keyring);
    await client.query('commit');
    return keyring;
  } finally {
    client.end().catch(() => undefined);
  }
}

function create(dataDir: string, ids: readonly string[]): Promise<Keyring> {
  if (ids.length === 0) return createEncryptionKeyFile(dataDir);
  throw new StartUpError(
    `The encryption key of this database is missing: there is no ${encryptionKeyFile(dataDir)}.`,
    'Restore this file from a backup, or set ENCRYPTION_KEY to the key of the other processes that use this database.',
  );
}

function refuseMissing(ids: readonly string[], keyring: Keyring, source: string): void {
  const missing = ids.filter((id) => !keyring.has(id));
  if (missing.length === 0) return;
  throw new StartUpError(
    `${source} lacks a key with which secrets in this database are encrypted (key id ${missing.join(', ')}).`,
    'Add the missing key after the first one. To remove a key for good, run "npm run admin -- rotate-encryption-key" first.',
  );
}
