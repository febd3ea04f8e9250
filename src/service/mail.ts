import type { Transporter } from 'nodemailer';
import type { OrganizationScope } from '../domain/organizations/organization-scope.ts';
import { listAdministrators } from '../store/people/user-lists.ts';
import type { Database } from '../store/sql/database.ts';

export type Mail = {
  /** The Message-ID of a mail that may be sent twice, by which a mail program recognizes the duplicate. */
  readonly id?: string;
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
};

type Administrators = Awaited<ReturnType<typeof listAdministrators>>;
type Letter = { readonly subject: string; readonly paragraphs: readonly string[] };

/** Returns a mail to a person, with a greeting. */
export function mailOf({ name, email }: { name: string; email: string }, { subject, paragraphs }: Letter): Mail {
  const text = [`Hello ${name},`, ...paragraphs].join('\n\n');
  return { to: { name, address: email }, subject, text: `${text}\n` };
}

/**
 * Sends a mail to each active administrator in the background, if an SMTP server is configured. Call this only after the
 * transaction that recorded the event has committed.
 */
export function mailAdministrators(
  { db, outbox }: { readonly db: Database; readonly outbox: Outbox },
  scope: OrganizationScope,
  write: (administrators: Administrators) => Promise<Letter>,
): void {
  if (!outbox.canSend) return;
  outbox.later(async () => {
    const administrators = await listAdministrators(db, scope);
    const letter = await write(administrators);
    for (const administrator of administrators) outbox.post(mailOf(administrator, letter));
  });
}

export type MailConfig = {
  /** The URL of the SMTP server, with the scheme smtp: or smtps:, and with user and password if the server needs them. */
  readonly smtpUrl: string;
  /** The sender, such as "Charter <charter@example.org>". */
  readonly mailFrom: string;
};

export type Outbox = {
  /** Whether an SMTP server is configured. Without one, a link is shown to the person who created it. */
  readonly canSend: boolean;
  /** Sends the mail. Throws if the SMTP server does not accept it. Does nothing if no server is configured. */
  send(mail: Mail): Promise<void>;
  /** Sends the mail in the background, and passes a failure to `onFailure`. */
  post(mail: Mail): void;
  /** Runs work in the background, so that the response time does not depend on it. */
  later(work: () => Promise<void>): void;
  /** Resolves when no background work is left. Await it before the database is closed. */
  settle(): Promise<void>;
};

const SMTP_TIMEOUT_MS = 10_000;

/** Creates an outbox. `onFailure` gets the error but not the mail, because mails contain links, which must not be logged. */
export function createOutbox(config: MailConfig | null, onFailure: (error: unknown) => void): Outbox {
  let transport: Promise<Transporter> | undefined;
  const inBackground = new Set<Promise<void>>();
  const outbox: Outbox = {
    canSend: config !== null,
    async send({ id, to, subject, text }) {
      if (config === null) return;
      transport ??= createTransport(config);
      const messageId = id === undefined ? {} : { messageId: `<${id}@${domainOf(config.mailFrom)}>` };
      await (await transport).sendMail({ ...messageId, to: { name: to.name, address: to.address }, subject, text });
    },
    post(mail) {
      outbox.later(() => outbox.send(mail));
    },
    later(work) {
      const done = work()
        .catch(onFailure)
        .finally(() => inBackground.delete(done));
      inBackground.add(done);
    },
    async settle() {
      while (inBackground.size > 0) await Promise.all(inBackground);
    },
  };
  return outbox;
}

/** Returns the domain of the sender, such as "example.org" for "Charter <charter@example.org>". */
function domainOf(mailFrom: string): string {
  return /@([^\s>]+)/.exec(mailFrom)?.[1] ?? 'localhost';
}

/**
 * Loads nodemailer when the first mail is sent, because loading it would take a twentieth of the startup time, and many servers
 * send no mail.
 */
async function createTransport({ smtpUrl, mailFrom }: MailConfig): Promise<Transporter> {
  const nodemailer = await import('nodemailer');
  return nodemailer.createTransport(
    {
      url: smtpUrl,
      disableFileAccess: true,
      disableUrlAccess: true,
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
    },
    { from: mailFrom },
  );
}
