import type { AuditSource } from '../../domain/audit/actor.ts';
import { linkUrl } from '../../domain/people/access-link.ts';
import { normalEmail } from '../../domain/people/email.ts';
import type { Database } from '../../store/sql/database.ts';
import type { Outbox } from '../mail.ts';
import { DONE, type Done, type RateLimited } from '../outcome.ts';
import { consumeAttempt } from '../sign-in/attempt-limits.ts';
import { makeOwnLinks } from './access-links.ts';
import { linkMail } from './link-mail.ts';

export type ResetDeps = { outbox: Outbox; publicUrl: string };

/**
 * Mails a reset link to the owner of an account who forgot the password. It returns the same, after the same time, whether or
 * not the e-mail has an account: the link is made after it has returned. Three requests an hour for one account from one
 * network; further ones are rate-limited, also for e-mails without an account.
 */
export async function requestReset(
  db: Database,
  { email, auditSource, now = new Date() }: { email: string; auditSource: AuditSource; now?: Date },
  { outbox, publicUrl }: ResetDeps,
): Promise<Done | RateLimited> {
  const address = normalEmail(email);
  const admission = await consumeAttempt(db, { at: 'reset-request', account: address ?? email, ip: auditSource.ip });
  if (admission.kind === 'rate-limited') return admission;
  if (address === null || !outbox.canSend) return DONE;
  outbox.later(async () => {
    for (const link of await makeOwnLinks(db, { email: address, auditSource, now }))
      await outbox.send(linkMail({ ...link, url: linkUrl(publicUrl, link.token) }));
  });
  return DONE;
}
