import type { Holder } from '../../domain/keys/holder.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Role } from '../../domain/people/role.ts';
import type { Database } from '../sql/database.ts';

export type HolderWithPolicy = Holder & {
  readonly role: Role;
  readonly deactivatedAt: Date | null;
  /** Of an integration. */
  readonly ownerUserId: string | null;
  readonly organizationSuspendedAt: Date | null;
  readonly membersMayCreateKeys: boolean;
  readonly maxKeyLifeDays: number;
  readonly allowsUnendingKeys: boolean;
  readonly requiresAddresses: boolean;
  /** What the operator has set for the organization; `null` for the default of the installation. */
  readonly requestsPerKey: number | null;
  readonly requestsPerOrganization: number | null;
};

const HOLDER = {
  name: 'find_key_holder',
  text: `
    select u.id, u.kind, u.name, u.email, u.role, u.deactivated_at as "deactivatedAt",
           u.owner_user_id as "ownerUserId", o.suspended_at as "organizationSuspendedAt",
           o.members_may_create_keys as "membersMayCreateKeys", o.max_key_life_days as "maxKeyLifeDays",
           o.allows_unending_keys as "allowsUnendingKeys", o.requires_addresses as "requiresAddresses",
           o.requests_per_key as "requestsPerKey", o.requests_per_organization as "requestsPerOrganization"
    from users u join organizations o on o.id = u.organization_id
    where u.organization_id = $1 and u.id = $2`,
};

/** A user or an integration, with the organization's policy for keys. */
export async function findKeyHolder(
  db: Database,
  scope: OrganizationScope,
  userId: string,
): Promise<HolderWithPolicy | null> {
  const { rows } = await db.pool.query<HolderWithPolicy>({ ...HOLDER, values: [scope.organizationId, userId] });
  return rows[0] ?? null;
}
