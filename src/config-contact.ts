import { type Given, invalid } from './config-values.ts';
import { StartUpError } from './domain/errors.ts';

// The variables by which people and the installation reach each other.

export type ContactConfig = {
  /** Where people get support: a URL of a web page, or a mailto URL. `undefined` if the installation names none. */
  readonly supportUrl: string | undefined;
  /** If it is `null`, no mail is sent, and a link is shown to the user who made it. */
  readonly mail: { readonly smtpUrl: string; readonly mailFrom: string } | null;
};

export function readContactConfig(given: Given): ContactConfig {
  return {
    supportUrl: supportUrl('SUPPORT_CONTACT', given('SUPPORT_CONTACT')),
    mail: mail({ smtpUrl: given('SMTP_URL'), mailFrom: given('MAIL_FROM'), publicUrl: given('PUBLIC_URL') }),
  };
}

/** Of an e-mail address or a URL. */
export function supportUrl(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^[^\s@:/?&]+@[^\s@:/?&]+$/.test(text)) return `mailto:${text}`;
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw invalid(name, text, 'an e-mail address or a URL, such as https://support.example.org');
}

const MAIL_FROM = /^([^<>\p{C}]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/u;

function mail(given: Record<'smtpUrl' | 'mailFrom' | 'publicUrl', string | undefined>): ContactConfig['mail'] {
  const { smtpUrl, mailFrom } = given;
  if (smtpUrl === undefined && mailFrom === undefined) return null;
  if (smtpUrl === undefined || mailFrom === undefined) {
    const missing = smtpUrl === undefined ? 'SMTP_URL' : 'MAIL_FROM';
    throw new StartUpError(
      `The mail configuration is incomplete: ${missing} is missing.`,
      'Set both SMTP_URL and MAIL_FROM, or neither.',
    );
  }
  // The message omits the value, which may contain a password.
  if (!URL.canParse(smtpUrl) || !/^smtps?:$/.test(new URL(smtpUrl).protocol) || new URL(smtpUrl).hostname === '') {
    throw new StartUpError(
      'SMTP_URL is not an SMTP URL.',
      'Set it to one such as smtps://user:password@mail.example.org, or unset both SMTP_URL and MAIL_FROM.',
    );
  }
  if (!MAIL_FROM.test(mailFrom)) {
    throw invalid('MAIL_FROM', mailFrom, 'an e-mail address, such as Charter <charter@example.org>');
  }
  // Links must not take their host from the request: an attacker could choose it.
  if (given.publicUrl === undefined) {
    throw new StartUpError(
      'Mail is configured, but PUBLIC_URL is missing.',
      'Links in mails need it. Set it to the URL under which people reach Charter, such as https://charter.example.org.',
    );
  }
  return { smtpUrl, mailFrom };
}
