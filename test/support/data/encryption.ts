import { Keyring } from '../../../src/domain/keyring.ts';
import type { OrganizationScope } from '../../../src/domain/organizations/organization-scope.ts';
import { placeOfTotpSecret } from '../../../src/store/sql/secrets.ts';

export const KEY = Buffer.alloc(32, 'test');

/** Encrypts the secrets of every test database; for the environment of another process. */
export const ENCRYPTION_KEY = KEY.toString('base64');
export const KEYRING = new Keyring([KEY]);

/** The secret of a second factor, as it is stored. */
export function encryptedSecret({ scope, userId }: { scope: OrganizationScope; userId: string }) {
  const { organizationId } = scope;
  return KEYRING.encrypt(Buffer.alloc(20), placeOfTotpSecret({ organizationId, id: userId }));
}
