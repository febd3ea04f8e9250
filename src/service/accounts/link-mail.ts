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
  const what = isToProvider ? 'a link to sign in' : 'a new password';
  const [subject, why] =
    kind === 'invitation'
      ? [`You are invited to ${organizationName} on Charter`, `You are invited to ${organizationName} on Charter.`]
      : [
          isToProvider ? 'Sign in to Charter' : 'Set a new Charter password',
          `Somebody, probably you, asked for ${what} at ${organizationName}.`,
        ];
  const text = [
    `Hello ${name},`,
    `${why} Open this link to ${isToProvider ? 'sign in at the identity provider of your organization' : 'set your password'}:`,
    url,
    `It works once, within ${hours === 1 ? 'an hour' : `${hours} hours`}. If you did not expect it, ignore this mail.`,
  ].join('\n\n');
  return { to: { name, address: email }, subject, text: `${text}\n` };
}
