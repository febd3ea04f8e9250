import { domainToASCII, domainToUnicode } from 'node:url';
import { invalidField } from '../errors.ts';

/** Printable characters, except those with a meaning in a mail header or an address list. */
const LOCAL_PART = /^[^\s@<>()",:;\\[\]\p{C}]+$/u;

/**
 * Characters that no domain has. Some have a meaning in a URL, so the conversion to ASCII would cut or decode the domain at such
 * a character.
 */
const NOT_IN_DOMAIN = /[\s@<>()",:;\\[\]/?#%\p{C}]/u;

/**
 * Returns an e-mail address in the form in which it is stored and compared: trimmed, in lower case, with the domain in ASCII (UTS
 * 46), and at most 254 characters. In the part before the "@", whose meaning only the mail server knows, only the Unicode form
 * and the letter case are normalized. Returns `null` if the text is not an e-mail address.
 */
export function normalEmail(text: string): string | null {
  const whole = text.trim();
  const at = whole.lastIndexOf('@');
  const local = whole.slice(0, Math.max(at, 0)).normalize('NFC').toLowerCase();
  const domain = normalDomain(whole.slice(at + 1));
  if (domain === null || !LOCAL_PART.test(local)) return null;
  const email = `${local}@${domain}`;
  return email.length <= 254 ? email : null;
}

/** Returns the normal form of an e-mail. Throws an error for the field. */
export function parseEmail(text: string, field = 'email'): string {
  const email = normalEmail(text);
  if (email === null) throw invalidField(field, 'must be an e-mail address, such as mei@example.org.');
  return email;
}

/**
 * Returns the normal form of a domain: `bücher.example` becomes `xn--bcher-kva.example`, and full-width letters become ordinary
 * letters. Returns `null` if the text is not a domain of at least two labels.
 */
export function normalDomain(text: string): string | null {
  if (NOT_IN_DOMAIN.test(text)) return null;
  const domain = domainToASCII(text).toLowerCase().replace(/\.$/, '');
  return /^[^.]+(\.[^.]+)+$/.test(domain) ? domain : null;
}

/**
 * Returns the normal form of a domain. Throws an error for the field "domain" if the text is not a domain of at least two labels.
 */
export function parseDomain(text: string): string {
  const domain = normalDomain(text.trim().replace(/^@/, '')) ?? '';
  const isName = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9-]{2,63}$/.test(domain);
  if (!isName || domain.length > MAX_DOMAIN_CHARACTERS)
    throw invalidField('domain', 'must be the domain of e-mail addresses, such as example.org.');
  return domain;
}

/**
 * The maximum length of a domain. The name of its TXT record is 18 characters longer, and a DNS name has at most 253 characters.
 */
const MAX_DOMAIN_CHARACTERS = 235;

export function domainOfEmail(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

/**
 * Returns the text of a search. If the text contains an "@", the part after the "@" is converted to the form of stored domains.
 */
export function withNormalDomain(text: string): string {
  const at = text.lastIndexOf('@');
  const domain = at === -1 ? null : normalDomain(text.slice(at + 1));
  return domain === null ? text : `${text.slice(0, at + 1)}${domain}`;
}

/** The e-mails of removed users. Their domain is reserved (RFC 2606), so nobody gets mail there. */
const REMOVED = /^removed-[0-9a-f-]{36}@removed\.invalid$/;

/** Returns the replacement for the e-mail of a user whom an operator has removed, but whose history remains. */
export function removedEmailOf(userId: string): string {
  return `removed-${userId}@removed.invalid`;
}

export function isRemovedEmail(email: string | null): boolean {
  return email !== null && REMOVED.test(email);
}

/** Returns a normalized e-mail in the form in which people write it. */
export function shownEmail(email: string): string {
  if (isRemovedEmail(email)) return 'no e-mail';
  const domain = domainOfEmail(email);
  return `${email.slice(0, email.length - domain.length)}${domainToUnicode(domain) || domain}`;
}
