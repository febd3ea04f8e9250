import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { DomainError } from './errors.ts';

// An encrypted secret consists of a version byte, the id of the key, a nonce, the ciphertext and a tag (AES-256-GCM). The tag
// also authenticates the place of the secret, so that nobody can copy the secret to another row, column or organization.

const FORMAT_VERSION = 1;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;

/** The place of a secret in the database: its column, and the ids that identify its row. */
export type SecretPlace = { readonly column: string; readonly ids: readonly string[] };

type EncryptionKey = { readonly id: string; readonly key: KeyObject };

/** The secret was encrypted with a key that this process does not have. */
export class MissingEncryptionKeyError extends DomainError {
  /** `keyId` is in hexadecimal. */
  constructor(keyId: string, { column }: SecretPlace) {
    super(
      'unavailable',
      `A value of ${column} is encrypted with the key ${keyId}, which this process does not have. ` +
        'Add this key to ENCRYPTION_KEY, or to the file encryption-key, and restart the process.',
    );
    this.name = 'MissingEncryptionKeyError';
  }
}

/** The keys that encrypt secrets in the database. Neither console.log nor JSON.stringify reveals them. */
export class Keyring {
  readonly #current: EncryptionKey;
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /** Creates a keyring of keys of 32 bytes. The first key encrypts; every key decrypts. */
  constructor([first, ...others]: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#current = derive(first);
    this.#keys = new Map([this.#current, ...others.map(derive)].map(({ id, key }) => [id, key]));
  }

  /** Returns the id of the key that encrypts: 8 bytes in hexadecimal. The id reveals nothing about the key. */
  get currentId(): string {
    return this.#current.id;
  }

  has(id: string): boolean {
    return this.#keys.has(id);
  }

  encrypt(secret: Uint8Array, place: SecretPlace): Buffer<ArrayBuffer> {
    const header = Buffer.concat([Buffer.from([FORMAT_VERSION]), Buffer.from(this.#current.id, 'hex')]);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#current.key, nonce).setAAD(bindTo(header, place));
    return Buffer.concat([header, nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  /**
   * Returns the decrypted secret. Throws if the secret is damaged or belongs to another place; throws a MissingEncryptionKeyError
   * if the key of the secret is not in the keyring.
   */
  decrypt(encrypted: Uint8Array, place: SecretPlace): Buffer {
    const bytes = Buffer.from(encrypted);
    const header = bytes.subarray(0, HEADER_BYTES);
    const id = encryptionKeyIdOf(bytes);
    const key = this.#keys.get(id);
    if (header[0] !== FORMAT_VERSION) throw new Error(`A value of ${place.column} is not an encrypted secret.`);
    if (key === undefined) throw new MissingEncryptionKeyError(id, place);
    const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(bindTo(header, place)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  }
}

/**
 * Parses keys of 32 bytes in base64 or base64url, separated by commas or white space. Returns `null` if there is no key, or a key
 * is malformed.
 */
export function parseKeyring(text: string): Keyring | null {
  const keys = text.split(/[\s,]+/).filter((each) => each !== '');
  const [first, ...others] = keys.map((each) => Buffer.from(each, 'base64'));
  const isValid = keys.every((each) => /^[A-Za-z0-9+/_-]{43}=?$/.test(each));
  return first !== undefined && isValid ? new Keyring([first, ...others]) : null;
}

/** Creates a random key, in base64. */
export function mintEncryptionKey(): string {
  return randomBytes(KEY_BYTES).toString('base64');
}

/** Returns the id of the key that encrypted a secret, in hexadecimal. */
export function encryptionKeyIdOf(encrypted: Uint8Array): string {
  return Buffer.from(encrypted.subarray(1, HEADER_BYTES)).toString('hex');
}

function derive(bytes: Uint8Array): EncryptionKey {
  if (bytes.length !== KEY_BYTES) throw new Error(`An encryption key has ${KEY_BYTES} bytes.`);
  const output = (purpose: string, length: number) => Buffer.from(hkdfSync('sha256', bytes, '', purpose, length));
  return {
    id: output('charter key id', KEY_ID_BYTES).toString('hex'),
    key: createSecretKey(output('charter secrets', KEY_BYTES)),
  };
}

function bindTo(header: Uint8Array, { column, ids }: SecretPlace): Buffer {
  return Buffer.concat([header, Buffer.from([column, ...ids].join('\0'))]);
}
