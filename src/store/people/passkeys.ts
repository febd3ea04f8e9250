import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Transaction } from '../sql/database.ts';

export type NewPasskey = {
  readonly id: string;
  readonly userId: string;
  readonly credentialId: Uint8Array<ArrayBuffer>;
  readonly userHandle: Uint8Array<ArrayBuffer>;
  /** In the format of COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
  readonly name: string;
  readonly createdAt: Date;
};

/** Throws a unique violation if a user of any organization has a passkey with this credential id. */
export async function insertPasskey(
  tx: Transaction,
  scope: OrganizationScope,
  { transports, ...passkey }: NewPasskey,
): Promise<void> {
  const data = { ...passkey, transports: [...transports], organizationId: scope.organizationId };
  await tx.passkey.create({ data, select: { id: true } });
}

export type StoredPasskey = NewPasskey & { readonly lastUsedAt: Date | null };

/** All passkeys of the user, the oldest first. */
export async function listPasskeysOf(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string,
): Promise<StoredPasskey[]> {
  const where = { organizationId: scope.organizationId, userId };
  const rows = await tx.passkey.findMany({ where, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  return rows.map(({ counter, ...row }) => ({ ...row, counter: Number(counter) }));
}

/** Returns false if the user has no such passkey. */
export async function renamePasskey(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, id, name }: { userId: string; id: string; name: string },
): Promise<boolean> {
  const where = { organizationId: scope.organizationId, userId, id };
  return (await tx.passkey.updateMany({ where, data: { name } })).count === 1;
}

/** Returns false if the user has no such passkey. */
export async function deletePasskey(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, id }: { userId: string; id: string },
): Promise<boolean> {
  return (await tx.passkey.deleteMany({ where: { organizationId: scope.organizationId, userId, id } })).count === 1;
}

/** Deletes all passkeys of the user. Returns how many. */
export async function deletePasskeysOf(tx: Transaction, scope: OrganizationScope, userId: string): Promise<number> {
  return (await tx.passkey.deleteMany({ where: { organizationId: scope.organizationId, userId } })).count;
}

export type PasskeyUse = {
  readonly userId: string;
  readonly id: string;
  readonly counter: number;
  readonly isBackedUp: boolean;
  readonly at: Date;
};

export async function recordPasskeyUse(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, id, counter, isBackedUp, at }: PasskeyUse,
): Promise<void> {
  await tx.passkey.updateMany({
    where: { organizationId: scope.organizationId, userId, id },
    data: { counter, isBackedUp, lastUsedAt: at },
  });
}
