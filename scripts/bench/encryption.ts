import { Keyring } from '../../src/domain/keyring.ts';

const KEY = Buffer.alloc(32, 'bench');

/** For the environment of the servers that are measured. */
export const ENCRYPTION_KEY = KEY.toString('base64');
export const KEYRING = new Keyring([KEY]);
