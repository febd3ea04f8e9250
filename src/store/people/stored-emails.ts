import type pg from 'pg';
import { normalEmail } from '../../domain/people/email.ts';

// Corrects e-mails that an earlier version has stored, in all organizations.

/**
 * Records that users who have never had a way to sign in have not accepted their invitation, so that the invitation does not
 * reserve the e-mail for them.
 */
export async function markInvited(client: pg.ClientBase): Promise<void> {
  await client.query(`
    update users u set has_accepted = false
    where kind = 'person' and has_accepted and password_hash is null
      and not exists (select from passkeys p where p.organization_id = u.organization_id and p.user_id = u.id)
      and not exists (select from sso_identities i where i.organization_id = u.organization_id and i.user_id = u.id)
      and not exists (select from audit_events e
                      where e.organization_id = u.organization_id and e.target_user_id = u.id
                        and e.act in ('user.password_set', 'user.sso_linked', 'user.created_by_sso'))`);
}

/** Returns whether any e-mail needs its normal form. Reads an index, which usually has no entry. */
export async function hasUnusualEmails(client: pg.ClientBase): Promise<boolean> {
  const text = `select exists (select from users where ${IS_UNUSUAL}) as "has"`;
  return (await client.query<{ has: boolean }>(text)).rows[0]?.has === true;
}

/** The SQL condition that the domain is not in ASCII or ends with a dot. The index has the same condition. */
const IS_UNUSUAL = "(email ~ '@.*[^ -~]' or email like '%.')";

/**
 * An e-mail that could not be normalized, and the user who has it. `takenBy` is the id of the user who already has the normal
 * form; `null` if the e-mail has no normal form.
 */
export type KeptEmail = { readonly userId: string; readonly takenBy: string | null };

type UnusualEmail = { organization_id: string; id: string; email: string; has_accepted: boolean };

/**
 * Normalizes the e-mails of people, those of the oldest accounts first. If another account already has the normal form, or the
 * e-mail has no normal form, the e-mail is left unchanged and returned, because only an operator knows which account is the right
 * one.
 */
export async function normalizeEmails(client: pg.ClientBase): Promise<KeptEmail[]> {
  const { rows } = await client.query<UnusualEmail>(
    `select organization_id, id, email, has_accepted from users where ${IS_UNUSUAL} order by has_accepted desc, created_at, id`,
  );
  const kept: KeptEmail[] = [];
  for (const { organization_id, id, email, has_accepted } of rows) {
    const normal = normalEmail(email);
    const taken = await client.query<{ id: string }>(
      `select id from users where email = $3 and id <> $2 and (organization_id = $1 or has_accepted and $4::boolean)
       order by created_at limit 1`,
      [organization_id, id, normal, has_accepted],
    );
    const takenBy = taken.rows[0]?.id ?? null;
    if (normal === null || takenBy !== null) kept.push({ userId: id, takenBy });
    else
      await client.query('update users set email = $3 where organization_id = $1 and id = $2', [
        organization_id,
        id,
        normal,
      ]);
  }
  return kept;
}

/** Normalizes the addresses for notices about integrations. Several integrations may have the same address. */
export async function normalizeNoticeEmails(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ organization_id: string; id: string; notice_email: string }>(
    "select organization_id, id, notice_email from users where kind = 'integration' and (notice_email ~ '@.*[^ -~]' or notice_email like '%.')",
  );
  for (const { organization_id, id, notice_email } of rows) {
    const email = normalEmail(notice_email);
    if (email !== null)
      await client.query('update users set notice_email = $3 where organization_id = $1 and id = $2', [
        organization_id,
        id,
        email,
      ]);
  }
}
