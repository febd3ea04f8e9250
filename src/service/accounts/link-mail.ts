import { LINK_HOURS } from '../../domain/access-link.ts';
import type { Mail } from '../mail.ts';
import type { AccessLink } from './make-link.ts';

export type MailedLink = Pick<AccessLink, 'token' | 'kind' | 'name' | 'email'> & {
  readonly organizationName: string;
  /** The organization requires single sign-on, so the link sets no password. */
  readonly isToProvider: boolean;
};

/** The mail that brings a link to its user. */
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
  const text = [
    `Hello ${name},`,
    `${why} Open this link to ${isToProvider ? 'sign in at the identity provider of your organization' : 'set your password'}:`,
    url,
    `It works once, within ${hours === 1 ? 'an hour' : `${hours} hours`}. If you did not expect it, ignore this mail.`,
  ].join('\n\n');
  return { to: { name, address: email }, subject, text: `${text}\n` };
}
