import { v7 as newId } from 'uuid';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { AuditAction } from '../audit/audit.ts';
import type { Transaction } from '../sql/database.ts';
import { isLockTimeout } from '../sql/database-errors.ts';
import { type Query, queryIn } from '../sql/tenant-tables.ts';

export type MoveStage = 'leaving' | 'completed' | 'arriving' | 'deleting';
export type Move = { readonly id: string; readonly startedAt: Date; readonly stage: MoveStage };

export async function findMove(tx: Transaction, { organizationId }: OrganizationScope): Promise<Move | null> {
  return tx.organizationMove.findUnique({
    where: { organizationId },
    select: { id: true, startedAt: true, stage: true },
  });
}

/**
 * Returns for how many seconds the organization has been moving, by the clock of the database; 0 if the organization is not
 * moving.
 */
export async function findMovingSeconds(tx: Transaction, { organizationId }: OrganizationScope): Promise<number> {
  const [move] = await tx.$queryRaw<{ seconds: number }[]>`
    select extract(epoch from clock_timestamp() - started_at)::float8 as seconds
    from organization_moves where organization_id = ${organizationId}::uuid`;
  return move?.seconds ?? 0;
}

/** Returns the id of the organization's move; `null` if the organization is not moving. */
export async function findMoveId(query: Query, { organizationId }: OrganizationScope): Promise<string | null> {
  const text = 'select id from organization_moves where organization_id = $1::uuid';
  return (await query<{ id: string }>(text, [organizationId]))[0]?.id ?? null;
}

/**
 * Locks the organization until the transaction ends, before a change such as the start of a move, after which requests must not
 * change the organization's data. Waits for every transaction that has locked the organization or inserted a row of it. Returns
 * the organization's name; `null` if the organization does not exist.
 */
export async function lockOrganizationAlone(
  tx: Transaction,
  { organizationId }: OrganizationScope,
): Promise<{ readonly name: string; readonly suspendedAt: Date | null } | null> {
  await tx.$queryRaw`select 1 from organizations where id = ${organizationId}::uuid for update`;
  return tx.organization.findUnique({ where: { id: organizationId }, select: { name: true, suspendedAt: true } });
}

/**
 * Starts a move. The caller must have called `lockOrganizationAlone`. From the commit on, the organization's requests get 503, so
 * no request changes data that has already been copied.
 */
export async function startMove(tx: Transaction, { organizationId }: OrganizationScope, id: string): Promise<void> {
  await tx.$executeRaw`
    insert into organization_moves (organization_id, id, suspended_at)
    select id, ${id}::uuid, suspended_at from organizations where id = ${organizationId}::uuid`;
  await tx.$executeRaw`
    update organizations set suspended_at = coalesce(suspended_at, now()) where id = ${organizationId}::uuid`;
}

/** Sets the stage of a move. Returns `false` if the organization has no move with this id. */
export async function setStage(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { id, stage }: Pick<Move, 'id' | 'stage'>,
): Promise<boolean> {
  return (await tx.organizationMove.updateMany({ where: { organizationId, id }, data: { stage } })).count === 1;
}

/**
 * Sets the stage of deletions that were begun by an earlier version of Charter, which did not store stages. Some rows of these
 * organizations may already be deleted.
 */
export async function markDeletions(query: Query): Promise<void> {
  await query(`
    update organization_moves m set stage = 'deleting'
    where stage <> 'deleting' and exists (
      select from operator_actions a
      where a.about_id = m.organization_id and a.action = 'organization.deletion_started' and a.detail ->> 'move' = m.id::text)`);
}

/**
 * Ends a move. The organization is then active or suspended as before the move. Returns `false` if the organization is not
 * moving.
 */
export async function endMove(tx: Transaction, { organizationId }: OrganizationScope): Promise<boolean> {
  const changed = await tx.$executeRaw`
    with ended as (
      delete from organization_moves where organization_id = ${organizationId}::uuid returning organization_id, suspended_at)
    update organizations o set suspended_at = ended.suspended_at from ended where o.id = ended.organization_id`;
  return changed === 1;
}

export async function hasOrganization(tx: Transaction, { organizationId }: OrganizationScope): Promise<boolean> {
  return (await tx.organization.count({ where: { id: organizationId } })) > 0;
}

/**
 * Returns whether this move is the latest move that brought the organization to this database. Reads the operators' actions,
 * because the audit log moves with the organization and so contains moves to other databases, too.
 */
export async function hasComeWith(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  moveId: string,
): Promise<boolean> {
  const [last] = await tx.$queryRaw<{ id: string }[]>`
    select detail ->> 'move' as id from operator_actions
    where about_id = ${organizationId}::uuid and action = 'organization.moved'
    order by (detail ->> 'move')::uuid desc limit 1`;
  return last?.id === moveId;
}

/** A record of a move or deletion, which a database keeps even when the organization is gone. */
export type MoveRecord = {
  readonly action:
    | 'organization.move_started'
    | 'organization.move_cancelled'
    | 'organization.moved'
    | 'organization.deletion_started';
  readonly moveId: string;
  readonly at: Date;
};

/**
 * Returns the first record of this move or of a later move; `null` if there is no such record. If this move was cancelled,
 * returns the cancellation instead of the start. Ignores a deletion during this move, because that deletion removed a copy that
 * was never used.
 */
export async function findRecordSince(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  moveId: string,
): Promise<MoveRecord | null> {
  const [record] = await tx.$queryRaw<MoveRecord[]>`
    select action, move::text as "moveId", at
    from operator_actions, lateral (select (detail ->> 'move')::uuid as move) of_action
    where about_id = ${organizationId}::uuid and move >= ${moveId}::uuid
      and (action in ('organization.move_started', 'organization.moved')
        or (action = 'organization.move_cancelled' and move = ${moveId}::uuid)
        or (action = 'organization.deletion_started' and move > ${moveId}::uuid))
    order by move, action <> 'organization.move_cancelled', id limit 1`;
  return record ?? null;
}

/**
 * Returns a UUIDv7 that is greater than the ids of all earlier moves of the organization. The records of moves in other databases
 * came with the organization, so the ids are in order even though each database has its own clock.
 */
export async function nextMoveId(tx: Transaction, { organizationId }: OrganizationScope): Promise<string> {
  const [last] = await tx.$queryRaw<{ id: string }[]>`
    select detail ->> 'move' as id from operator_actions
    where about_id = ${organizationId}::uuid and detail ? 'move' order by (detail ->> 'move')::uuid desc limit 1`;
  const msecs = last === undefined ? 0 : Number.parseInt(last.id.replaceAll('-', '').slice(0, 12), 16) + 1;
  return newId({ msecs: Math.max(Date.now(), msecs) });
}

/**
 * The number of seconds to wait for the lock. If a command is killed, PostgreSQL notices this at the end of the SQL statement,
 * and only then releases the lock.
 */
const TURN_SECONDS = 3;
const TURN = "hashtextextended('transfer of ' || $1, 0)";

/**
 * Waits a few seconds until no other import or deletion of the organization is in progress. Then prevents other imports and
 * deletions until the transaction ends or, without a transaction, until the connection ends. Returns `false` if another import or
 * deletion is still in progress.
 */
export async function takeTurn(
  query: Query,
  { organizationId }: OrganizationScope,
  { inTransaction }: { readonly inTransaction: boolean },
): Promise<boolean> {
  await query(`set ${inTransaction ? 'local ' : ''}lock_timeout = '${TURN_SECONDS}s'`);
  const lock = inTransaction ? 'pg_advisory_xact_lock' : 'pg_advisory_lock';
  try {
    await query(`select ${lock}(${TURN}) is null as waited`, [organizationId]);
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
  await query(`set ${inTransaction ? 'local ' : ''}lock_timeout = 0`);
  return true;
}

/**
 * The SQL condition that the organization `o` is moving. Only suspended organizations are looked up, because a moving
 * organization is always suspended.
 */
export const IS_MOVING =
  'o.suspended_at is not null and exists (select from organization_moves m where m.organization_id = o.id)';

/**
 * The actions that are allowed while an organization moves away. A trigger adds the move to the audit events of these actions,
 * and refuses all other actions (see the migration revocations_during_a_move).
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

/** Lists the audit events of the CARRIED actions during the move, the earliest first, each as JSON. */
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
 * Inserts the audit events that do not exist yet, and returns the inserted events, the earliest first. Returns `null` if an event
 * belongs to another organization or has an action that is not allowed. `rows` are in the JSON of `listRevocationsOfMove`.
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
