import { LINK_HOURS } from '../../domain/people/access-link.ts';
import { shownEmail } from '../../domain/people/email.ts';
import type { Database } from '../../store/sql/database.ts';
import { findCredentials } from '../../store/unscoped/people.ts';
import { type Mail, mailOf, type Outbox } from '../mail.ts';
import type { AccessLink } from '../sign-in/password.ts';

export type MailedLink = Pick<AccessLink, 'token' | 'kind' | 'name' | 'email'> & {
  readonly organizationName: string;
  /**
   * Whether the link leads to the identity provider, because the organization requires single sign-on. Otherwise, the user sets a
   * password.
   */
  readonly isToProvider: boolean;
};

/**
 * Mails a link to the user. If an invited person has an account in another organization, the mail says so in place of the link,
 * so that only the owner of the mailbox learns of that account.
 */
export function mailLink(
  { db, outbox }: { readonly db: Database; readonly outbox: Outbox },
  link: Omit<MailedLink, 'token'> & Pick<AccessLink, 'hasAccepted'> & { readonly url: string },
): void {
  outbox.later(async () => {
    const isTaken = !link.hasAccepted && (await findCredentials(db, link.email)) !== null;
    await outbox.send(isTaken ? existingAccountMail(link) : linkMail(link));
  });
}

function existingAccountMail({ name, email, organizationName }: Omit<MailedLink, 'token'>): Mail {
  const subject = `You are invited to ${organizationName} on Charter`;
  const paragraphs = [
    `${subject}, but ${shownEmail(email)} has an account in another organization already, and an e-mail can have one account only.`,
    'To accept, ask for an invitation to another e-mail. If you no longer need your account, ask support to remove it, and then for a new invitation.',
    'If you did not expect it, ignore this mail.',
  ];
  return mailOf({ name, email }, { subject, paragraphs });
}

export function linkMail({
  kind,
  name,
  email,
  organizationName,
  isToProvider,
  url,
}: Omit<MailedLink, 'token'> & { readonly url: string }): Mail {
  const hours = LINK_HOURS[kind];
  const reset = isToProvider
    ? { subject: 'Sign in to Charter', wanted: 'a link to sign in' }
    : { subject: 'Set a new Charter password', wanted: 'a new password' };
  const invited = `You are invited to ${organizationName} on Charter`;
  const [subject, why] =
    kind === 'invitation'
      ? [invited, `${invited}.`]
      : [reset.subject, `Somebody, probably you, asked for ${reset.wanted} at ${organizationName}.`];
  const paragraphs = [
    `${why} Open this link to ${isToProvider ? 'sign in at the identity provider of your organization' : 'set your password'}:`,
    url,
    `It works once, within ${hours === 1 ? 'an hour' : `${hours} hours`}. If you did not expect it, ignore this mail.`,
  ];
  return mailOf({ name, email }, { subject, paragraphs });
}
