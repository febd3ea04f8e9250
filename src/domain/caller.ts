import type { OrganizationScope } from './organization-scope.ts';
import type { Permission } from './role.ts';

/** Who a request acts for, once its key has been accepted. */
export type Caller = {
  readonly scope: OrganizationScope;
  readonly organizationName: string;
  /** 32 bytes that sign the organization's page cursors. */
  readonly cursorKey: Buffer;
  readonly keyId: string;
  readonly keyName: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: Date | null;
};
