import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, StartUpError } from '../domain/errors.ts';
import { type Keyring, mintEncryptionKey, parseKeyring } from '../domain/keyring.ts';

/**
 * Returns the path of the file. The file is outside the folder of the database cluster, so that a copy of the database alone
 * reveals no secret.
 */
export function encryptionKeyFile(dataDir: string): string {
  return join(dataDir, 'encryption-key');
}

/** Reads the keys in the file; returns `null` if the file does not exist. */
export async function readEncryptionKeyFile(dataDir: string): Promise<Keyring | null> {
  const file = encryptionKeyFile(dataDir);
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return null;
    throw new StartUpError(`${file} cannot be read.`, 'Give the user that runs Charter permission to read it.', {
      cause,
    });
  });
  if (text === null) return null;
  await requirePrivateFile(file);
  const keyring = parseKeyring(text);
  if (keyring !== null) return keyring;
  throw new StartUpError(
    `${file} does not contain an encryption key.`,
    'Restore it from a backup. It has a key of 32 bytes in base64 on each line.',
  );
}

/**
 * Creates the file with a new key, or reads the file if it exists. The race: several processes create the file. `link` succeeds
 * for only one of them, and the file is complete as soon as it exists.
 */
export async function createEncryptionKeyFile(dataDir: string): Promise<Keyring> {
  const file = encryptionKeyFile(dataDir);
  // The name is random, because processes in containers that share the folder may have the same process id.
  const draft = `${file}.${randomUUID()}`;
  try {
    await mkdir(dataDir, { recursive: true });
    await writeFile(draft, `${mintEncryptionKey()}\n`, { mode: 0o600, flush: true });
    await link(draft, file).catch((cause: unknown) => {
      if (codeOf(cause) !== 'EEXIST') throw cause;
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StartUpError(
      `The encryption key could not be written to ${file}: ${reason}.`,
      'Set DATA_DIR to a folder that this user can write to, or set ENCRYPTION_KEY.',
      { cause },
    );
  } finally {
    await rm(draft, { force: true });
  }
  const keyring = await readEncryptionKeyFile(dataDir);
  if (keyring === null) throw new StartUpError(`${file} has disappeared.`, 'Start again.');
  return keyring;
}

async function requirePrivateFile(file: string): Promise<void> {
  if (process.platform === 'win32' || ((await stat(file)).mode & 0o077) === 0) return;
  throw new StartUpError(`Other users of this machine can read ${file}.`, `Allow only its owner: chmod 600 ${file}`);
}
