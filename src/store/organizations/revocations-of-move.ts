import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { AuditAction } from '../audit/audit.ts';
import type { Transaction } from '../sql/database.ts';
import { queryIn } from '../sql/tenant-tables.ts';

/**
 * What is carried out while an organization leaves. A trigger names the move in these audit events, and refuses all others (see the
 * migration revocations_during_a_move).
 */
export const CARRIED = [
  'key.revoked',
  'user.deactivated',
  'integration.suspended',
  'integration.owner_changed',
  'user.signed_out',
  'user.session_ended',
  'user.signed_out_everywhere',
] as const satisfies readonly AuditAction[];

export type CarriedEvent = {
  readonly action: (typeof CARRIED)[number];
  readonly at: Date;
  readonly actorUserId: string | null;
  readonly targetUserId: string | null;
  readonly keyId: string | null;
  readonly detail: Readonly<Record<string, string>>;
};

/** The audit events of what was carried out during the move, the first one first, as JSON. */
export async function listRevocationsOfMove(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  moveId: string,
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ row: string }[]>`
    select translate(row_to_json(e)::text, E'\\r\\n', '  ') as row from audit_events e
    where organization_id = ${organizationId}::uuid and act = any(${[...CARRIED]}::varchar[])
      and detail ->> 'during_move' = ${moveId}
    order by at, id`;
  return rows.map(({ row }) => row);
}

/**
 * Inserts those events that are not here yet, and returns them, the first one first; `null` if a row is not of the
 * organization, or has another action. `rows` are JSON, as `listRevocationsOfMove` returns them.
 */
export async function insertRevocations(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  rows: readonly string[],
): Promise<CarriedEvent[] | null> {
  const [result] = await queryIn(tx)<{ sent: number; inserted: CarriedEvent[] }>(
    `with sent as (
       select * from json_populate_recordset(null::audit_events, $1::json)
       where organization_id = $2::uuid and act = any($3::varchar[])),
     inserted as (insert into audit_events select * from sent on conflict do nothing returning *)
     select (select count(*)::int from sent) as sent,
            coalesce(json_agg(json_build_object(
              'action', act, 'at', at, 'actorUserId', actor_user_id, 'targetUserId', target_user_id, 'keyId', key_id,
              'detail', detail) order by at, id), '[]') as inserted
     from inserted`,
    [`[${rows.join(',')}]`, organizationId, [...CARRIED]],
  );
  if (result === undefined || result.sent !== rows.length) return null;
  return result.inserted.map((event) => ({ ...event, at: new Date(event.at) }));
}
