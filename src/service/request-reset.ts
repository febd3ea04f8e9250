import { linkUrl } from '../domain/access-link.ts';
import type { Trace } from '../domain/actor.ts';
import { normalEmail } from '../domain/person.ts';
import type { Database } from '../store/database.ts';
import { makeOwnLink } from './access-links.ts';
import { linkMail } from './link-mail.ts';
import type { Outbox } from './mail.ts';
import { refuseWhenRateLimited } from './rate-limit.ts';

export type ResetDeps = { outbox: Outbox; publicUrl: string };

/**
 * For whoever forgot the password. It answers alike, and as fast, whoever the e-mail belongs to: the rest is done after the
 * answer, and only where mail can be sent, because the link goes nowhere but to the account's own e-mail. It voids no
 * other link: anybody can ask. Three an hour and account from one network; a fourth is slowed, whoever's the e-mail is.
 */
export async function requestReset(
  db: Database,
  { email, trace, now = new Date() }: { email: string; trace: Trace; now?: Date },
  { outbox, publicUrl }: ResetDeps,
): Promise<void> {
  const address = normalEmail(email);
  await refuseWhenRateLimited(db, { at: 'reset-request', account: address ?? email, ip: trace.ip });
  if (address === null || !outbox.canSend) return;
  outbox.later(async () => {
    const link = await makeOwnLink(db, { email: address, trace, now });
    if (link !== null) await outbox.send(linkMail({ ...link, url: linkUrl(publicUrl, link.token) }));
  });
}
