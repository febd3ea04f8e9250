import { v7 as newId } from 'uuid';
import type { AuditSource } from '../../domain/audit/actor.ts';
import { MovingError } from '../../domain/errors.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { insertKeyEvents } from '../audit/audit.ts';
import { MAX_ADMINISTRATORS } from '../people/user-lists.ts';
import type { Database } from '../sql/database.ts';
import { isRefusedByMove } from '../sql/database-errors.ts';
import { storable, storableClient } from '../sql/values.ts';
import { isCurrent, keyColumns } from './key-row.ts';

export type RevokedKey = Pick<ApiKey, 'id' | 'name' | 'prefix'> & {
  readonly organizationId: string;
  readonly organizationName: string;
  /** The user or integration that has the key. */
  readonly userId: string;
  readonly holderName: string;
  /** The owner of the integration; `null` if a user has the key. */
  readonly ownerId: string | null;
  /** The integration's address for notices; empty if there is none. */
  readonly noticeEmail: string;
};

export type Report = {
  /** The SHA-256 of each reported key. */
  readonly hashes: readonly Buffer[];
  readonly why: string;
  readonly at: Date;
  readonly auditSource: AuditSource;
};

const REVOKE = {
  name: 'revoke_reported_keys',
  // One statement handles all reported keys, whether or not they exist, so that the response time reveals little. The statement
  // locks the organizations first, like every change that ends a key, and then the keys in the same order as writeKeyUses.
  text: `
    with reported as (
      select key_hash, event_id from unnest($1::bytea[], $2::uuid[]) as reported (key_hash, event_id)),
    organization as materialized (
      select id, name from organizations o
      where id = any(array(select k.organization_id from api_keys k join reported r on r.key_hash = k.key_hash))
        and not exists (select from organization_moves m where m.organization_id = o.id and m.stage <> 'leaving')
      order by id for no key update),
    held as materialized (
      select k.organization_id, k.id, r.event_id
      from api_keys k join reported r on r.key_hash = k.key_hash
      where k.organization_id = any(array(select id from organization))
      order by k.organization_id, k.id for no key update of k),
    ended as (
      update api_keys k set revoked_at = $3, is_leaked = true from held
      where k.organization_id = held.organization_id and k.id = held.id and ${isCurrent('k')}
      returning k.organization_id, k.id, k.user_id, k.name, k.key_prefix, held.event_id),
    recorded as (${insertKeyEvents({
      action: 'key.revoked',
      from: 'ended',
      detail: "'name', name, 'prefix', key_prefix, 'why', $4::text",
      client: '$5, $6, $7',
    })})
    select moving.is_any as "isAnyMoving", ended.organization_id as "organizationId", organization.name as "organizationName", ${keyColumns('ended', ['id', 'name', 'prefix'])},
           ended.user_id as "userId", u.name as "holderName", u.owner_user_id as "ownerId",
           u.notice_email as "noticeEmail"
    from (
      select exists (select from api_keys k join reported r on r.key_hash = k.key_hash
                     join organization_moves m on m.organization_id = k.organization_id and m.stage <> 'leaving') as is_any) moving
    left join ended on true
    left join organization on organization.id = ended.organization_id
    left join users u on u.organization_id = ended.organization_id and u.id = ended.user_id
    order by ended.organization_id, ended.id`,
};

type Row = { readonly isAnyMoving: boolean } & (RevokedKey | { readonly id: null });

export type Revocation = {
  /** The revoked keys, which can belong to several organizations. */
  readonly revoked: readonly RevokedKey[];
  /** Whether any of the keys were not revoked because their organization is moving to another database. */
  readonly isAnyMoving: boolean;
};

/**
 * Revokes each reported key that exists and is neither rotated nor revoked, and records each revocation, in one transaction.
 * Throws a MovingError, and revokes no key, if a move is completed in the meantime.
 */
export async function revokeReportedKeys(db: Database, { hashes, why, at, auditSource }: Report): Promise<Revocation> {
  const { ip, userAgent } = storableClient(auditSource);
  const eventIds = hashes.map(() => newId());
  const values = [hashes, eventIds, at, why, ip, userAgent, storable(auditSource.requestId, 64)];
  const { rows } = await db.pool.query<Row>({ ...REVOKE, values }).catch((error: unknown) => {
    throw isRefusedByMove(error) ? new MovingError() : error;
  });
  return {
    revoked: rows.filter((row) => row.id !== null),
    isAnyMoving: rows.some(({ isAnyMoving }) => isAnyMoving),
  };
}

export type Person = {
  readonly organizationId: string;
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly isAdministrator: boolean;
};

const CONCERNED = {
  name: 'find_people_of_reports',
  text: `
    select u.organization_id as "organizationId", u.id, u.name, u.email, u.role = 'administrator' as "isAdministrator"
    from (select distinct id from unnest($1::uuid[]) as o (id)) o, lateral (
      (select * from users
       where organization_id = o.id and kind = 'person' and role = 'administrator' and deactivated_at is null
       order by name, id limit ${MAX_ADMINISTRATORS})
      union
      (select * from users
       where organization_id = o.id and kind = 'person' and id = any($2::uuid[]) and deactivated_at is null)) u
    order by u.organization_id, u.name, u.id`,
};

/**
 * Lists the active people who must hear of the revocations: the users who have the keys, the owners of the integrations, and up
 * to MAX_ADMINISTRATORS of each organization.
 */
export async function listConcernedPeople(db: Database, keys: readonly RevokedKey[]): Promise<readonly Person[]> {
  const values = [
    keys.map(({ organizationId }) => organizationId),
    keys.map(({ userId, ownerId }) => ownerId ?? userId),
  ];
  return (await db.pool.query<Person>({ ...CONCERNED, values })).rows;
}
