import type { OrganizationScope } from './organization-scope.ts';
import type { Permission } from './role.ts';

/** Who a request acts for, once its key has been accepted. */
export type Caller = {
  readonly scope: OrganizationScope;
  readonly organizationName: string;
  /** Signs the organization's page cursors: 32 bytes in hexadecimal. */
  readonly cursorKey: string;
  /** As the look-up that accepted the key has found it: it changes with every change of the organization's data. */
  readonly organizationVersion: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: Date | null;
};
