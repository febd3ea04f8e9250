import { DAY_MS } from '../../domain/duration.ts';
import type { ActionKind } from '../../domain/keys/key-notice.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Database, Transaction } from '../sql/database.ts';
import { BATCH_ROWS, type Deletion, deleteInBatches } from '../sql/delete-in-batches.ts';

// Notices about keys. A row is what one recipient is told once; it is written in the transaction of its cause. All times are
// those of the database's clock, which all processes share.

const COLUMNS =
  'organization_id, id, key_id, user_id, kind, occasion, is_for_address, ends_at, by_user_id, detail, mail_due_at';

/**
 * Inserts a notice for each row of `wanted`, and another one for the address of an integration, unless they exist. The rows have
 * organization_id, key_id, user_id, kind, occasion, ends_at, by_user_id and detail.
 */
export function insertNoticesOf(wanted: string): string {
  return `
    insert into key_notices (${COLUMNS})
    select w.organization_id, gen_random_uuid(), w.key_id, w.user_id, w.kind, w.occasion, r.is_for_address, w.ends_at,
           w.by_user_id, w.detail, date_trunc('milliseconds', now())
    from ${wanted} w
    join users h on h.organization_id = w.organization_id and h.id = w.user_id
    cross join (values (false), (true)) as r (is_for_address)
    where not r.is_for_address or h.notice_email <> ''
    on conflict do nothing`;
}

export type ActionNotice = {
  readonly keyId: string;
  /** The user or the integration whose key it is. */
  readonly userId: string;
  readonly kind: ActionKind;
  /** `null` for an operator. */
  readonly byUserId: string | null;
  readonly detail: string;
};

/** A notice of what somebody did with a key of somebody else. */
export async function insertActionNotice(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { keyId, userId, kind, byUserId, detail }: ActionNotice,
): Promise<void> {
  await tx.$executeRawUnsafe(
    `with wanted as (
       select $1::uuid as organization_id, $2::uuid as key_id, $3::uuid as user_id, $4::key_notice_kind as kind,
              ''::text as occasion, null::timestamptz as ends_at, $5::uuid as by_user_id, $6::text as detail)
     ${insertNoticesOf('wanted')}`,
    organizationId,
    keyId,
    userId,
    kind,
    byUserId,
    detail,
  );
}

/** The row `d` is not of an organization that moves: the database to which it moves tells the holders of its keys. */
export const STAYS = 'not exists (select from organization_moves m where m.organization_id = d.organization_id)';

/** Longer than any notice is of use. */
const DAYS_KEPT = 90;

/** Deletes notices of all organizations that are older than 90 days, in batches. Returns how many. */
export async function deleteOldKeyNotices(db: Database, deletion: Deletion): Promise<number> {
  const before = new Date(deletion.now.getTime() - DAYS_KEPT * DAY_MS);
  return deleteInBatches(
    deletion,
    () => db.prisma.$executeRaw`
      delete from key_notices where (organization_id, id) in (
        select organization_id, id from key_notices where created_at < ${before}
        limit ${BATCH_ROWS}::int for update skip locked)`,
  );
}
