import type { KeyRecord } from '../../domain/keys/api-key.ts';
import type { Role } from '../../domain/people/role.ts';
import { IS_MOVING } from '../organizations/organization-moves.ts';
import type { Database } from '../sql/database.ts';
import { dateOf } from '../sql/values.ts';

/**
 * The result has only one column, because pg parses the description of every column for each result. The hashes are one string,
 * which is quick to send. A subquery splits the string, so that the planner does not know the number of hashes: a plan for only
 * one hash would not be used again, and planning takes ten times as long as the query.
 */
const FIND_KEYS = {
  name: 'find_keys_by_hash',
  rowMode: 'array' as const,
  text: `
    select json_build_array(
             encode(k.key_hash, 'hex'), k.organization_id, o.name, o.suspended_at, o.version::text,
             encode(o.cursor_key, 'hex'), k.id, k.name, k.permissions, k.expires_at, k.expired_at, k.rotated_at,
             k.revoked_at, u.role, u.deactivated_at, o.requests_per_key, o.requests_per_organization,
             case u.kind when 'integration' then json_build_array(u.id, u.name) end,
             k.requests_per_second,
             case when k.allowed_addresses <> '{}' then array_to_string(k.allowed_addresses, ' ') end, ${IS_MOVING})
    from api_keys k
    join users u on u.organization_id = k.organization_id and u.id = k.user_id
    join organizations o on o.id = k.organization_id
    where k.key_hash = any(array(select decode(unnest(string_to_array($1, ' ')), 'hex')))`,
};

/** The values in the order in which the query selects them. */
type FoundKey = readonly [
  keyHash: string,
  organizationId: string,
  organizationName: string,
  organizationSuspendedAt: string | null,
  organizationVersion: string,
  cursorKey: string,
  id: string,
  name: string,
  permissions: readonly string[],
  expiresAt: string | null,
  expiredAt: string | null,
  rotatedAt: string | null,
  revokedAt: string | null,
  role: Role,
  userDeactivatedAt: string | null,
  requestsPerKey: number | null,
  requestsPerOrganization: number | null,
  integration: readonly [id: string, name: string] | null,
  requestsPerSecond: number | null,
  allowedAddresses: string | null,
  organizationIsMoving: boolean,
];

/**
 * Returns the keys with these hashes, given in hexadecimal, with their users and organizations, by hash. Reads them in one SQL
 * query that uses an index.
 */
export async function listKeysByHash(db: Database, hashes: readonly string[]): Promise<Map<string, KeyRecord>> {
  const { rows } = await db.pool.query<[FoundKey]>({ ...FIND_KEYS, values: [hashes.join(' ')] });
  return new Map(rows.map(([found]) => [found[0], recordOf(found)]));
}

function recordOf(found: FoundKey): KeyRecord {
  const [, organizationId, organizationName, suspendedAt, organizationVersion, cursorKey, ...key] = found;
  const [id, name, permissions, expiresAt, expiredAt, rotatedAt, revokedAt, role, ...others] = key;
  const [deactivatedAt, perKey, perOrganization, integration, requestsPerSecond, ...last] = others;
  const [allowedAddresses, organizationIsMoving] = last;
  return {
    organizationId,
    organizationName,
    organizationSuspendedAt: dateOf(suspendedAt),
    organizationIsMoving,
    organizationVersion,
    cursorKey,
    organizationLimits: { perKey, perOrganization },
    requestsPerSecond,
    allowedAddresses,
    id,
    name,
    permissions,
    expiresAt: dateOf(expiresAt),
    expiredAt: dateOf(expiredAt),
    rotatedAt: dateOf(rotatedAt),
    revokedAt: dateOf(revokedAt),
    role,
    userDeactivatedAt: dateOf(deactivatedAt),
    integration: integration === null ? null : { id: integration[0], name: integration[1] },
  };
}
