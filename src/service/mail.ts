import { createTransport } from 'nodemailer';

export type Mail = {
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
};

export type MailConfig = {
  /** smtp:// or smtps://, with user and password where the server wants them. */
  readonly smtpUrl: string;
  /** "Charter <charter@example.org>" */
  readonly mailFrom: string;
};

export type Outbox = {
  /** False: no SMTP server is configured; links are shown to whoever made them, to be passed on. */
  readonly canSend: boolean;
  /** Throws where the server did not take it; does nothing where there is none. */
  send(mail: Mail): Promise<void>;
  /** Sends without anybody waiting; a failure is reported to the operator. */
  post(mail: Mail): void;
  /** Does work that nobody waits for, so that how long it takes tells nothing. */
  later(work: () => Promise<void>): void;
  /** Resolves once nothing is under way: before the database is closed. */
  settle(): Promise<void>;
};

const PATIENCE_MILLISECONDS = 10_000;

/** `onFailure` gets the error alone: a mail holds a link, which no log may. */
export function createOutbox(config: MailConfig | null, onFailure: (error: unknown) => void): Outbox {
  const transport =
    config === null
      ? null
      : createTransport(
          {
            ...{ url: config.smtpUrl, disableFileAccess: true, disableUrlAccess: true },
            ...{ connectionTimeout: PATIENCE_MILLISECONDS, greetingTimeout: PATIENCE_MILLISECONDS },
            socketTimeout: PATIENCE_MILLISECONDS,
          },
          { from: config.mailFrom },
        );
  const underWay = new Set<Promise<void>>();
  const outbox: Outbox = {
    canSend: transport !== null,
    async send({ to, subject, text }) {
      await transport?.sendMail({ to: { name: to.name, address: to.address }, subject, text });
    },
    post(mail) {
      outbox.later(() => outbox.send(mail));
    },
    later(work) {
      const done = work()
        .catch(onFailure)
        .finally(() => underWay.delete(done));
      underWay.add(done);
    },
    async settle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
  return outbox;
}
