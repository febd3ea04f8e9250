import { LINK_HOURS } from '../../domain/access-link.ts';
import type { Mail } from '../mail.ts';
import type { AccessLink } from './make-link.ts';

/** The mail that brings a link to its user. */
export function linkMail({
  kind,
  name,
  email,
  organizationName,
  url,
}: Pick<AccessLink, 'kind' | 'name' | 'email'> & { organizationName: string; url: string }): Mail {
  const hours = LINK_HOURS[kind];
  const [subject, why] =
    kind === 'invitation'
      ? [`You are invited to ${organizationName} on Charter`, `You are invited to ${organizationName} on Charter.`]
      : ['Set a new Charter password', `Somebody, probably you, asked for a new password at ${organizationName}.`];
  const text = [
    `Hello ${name},`,
    `${why} Open this link to set your password:`,
    url,
    `It works once, within ${hours === 1 ? 'an hour' : `${hours} hours`}. If you did not expect it, ignore this mail.`,
  ].join('\n\n');
  return { to: { name, address: email }, subject, text: `${text}\n` };
}
