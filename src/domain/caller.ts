import type { OrganizationScope } from './organizations/organization-scope.ts';
import type { Permission } from './people/role.ts';

/** The key of an authenticated request, its organization and its permissions. */
export type Caller = {
  readonly scope: OrganizationScope;
  readonly organizationName: string;
  /** The key that signs the organization's page cursors, encrypted, in hexadecimal. */
  readonly cursorKey: string;
  /** As read with the key. It changes with every change of the organization's data. */
  readonly organizationVersion: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: Date | null;
  /** The integration that holds the key; `null` if a person does. */
  readonly integration: { readonly id: string; readonly name: string } | null;
  /** The address of the client, as addressIn returns it. Only writes need it. */
  readonly clientAddress: () => string | null;
};
