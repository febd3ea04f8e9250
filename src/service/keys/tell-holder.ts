import type { ActionKind } from '../../domain/keys/key-notice.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { insertActionNotice } from '../../store/keys/key-notices.ts';
import type { LockedHolder } from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';

type Told = {
  readonly holder: Pick<LockedHolder, 'id' | 'ownerUserId'>;
  readonly keyId: string;
  readonly kind: ActionKind;
  /** `null` for an operator. */
  readonly byUserId: string | null;
  readonly detail?: string;
};

/**
 * Has a mail sent to the holder of a key, or to the owner of its integration, unless that person did this. The mail belongs to the
 * transaction: it is sent if, and only if, the transaction commits.
 */
export async function tellHolder(
  tx: Transaction,
  scope: OrganizationScope,
  { holder, byUserId, detail = '', ...notice }: Told,
): Promise<void> {
  if ((holder.ownerUserId ?? holder.id) === byUserId) return;
  await insertActionNotice(tx, scope, { ...notice, userId: holder.id, byUserId, detail });
}
