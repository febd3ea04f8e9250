import type { Logger } from 'pino';
import { mailNotices, writeDueNotices } from '../service/keys/notices.ts';
import type { Outbox } from '../service/mail.ts';
import type { Database } from '../store/sql/database.ts';

/** The interval in milliseconds at which mails are sent, so that a mail about an action on a key follows within seconds. */
const MAIL_MS = 2000;
const CHECK_MS = 5 * 60_000;

export type KeyNoticeOptions = {
  readonly logger: Logger;
  readonly outbox: Outbox;
  readonly publicUrl: string | undefined;
  /** Writes the key uses that this process has in memory to the database. */
  readonly flushUses: () => Promise<void>;
};

export type KeyNotices = {
  /** Begins no more work, and waits for the mails that are being sent. */
  stop(): Promise<void>;
};

/** Checks the ends of keys every five minutes and sends the mails of notices every two seconds, until it is stopped. */
export function startKeyNotices(db: Database, { logger, outbox, publicUrl, flushUses }: KeyNoticeOptions): KeyNotices {
  const stopping = new AbortController();
  const { signal } = stopping;
  let wake = () => {};
  let isPaused = false;
  let checkAt = 0;

  async function turn(): Promise<void> {
    try {
      if (performance.now() >= checkAt) {
        await writeDueNotices(db, {
          flushUses,
          signal,
          onEnded: (key) => logger.info(key, 'an API key was ended because it was not used'),
        });
        checkAt = performance.now() + CHECK_MS;
      }
      if (outbox.canSend && publicUrl !== undefined) {
        const onFailure = (error: unknown) => logger.warn({ err: error }, 'could not send a notice; will try again');
        await mailNotices(db, { outbox, publicUrl, signal, onFailure });
      }
      isPaused = false;
    } catch (error) {
      if (!isPaused) logger.warn({ err: error }, 'notices about API keys pause; will try again');
      isPaused = true;
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, MAIL_MS * (0.5 + Math.random())).unref();
      await promise;
      clearTimeout(timer);
      if (!signal.aborted) await turn();
    }
  }

  const running = run();
  return {
    stop() {
      stopping.abort();
      wake();
      return running;
    },
  };
}
