import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import { isId } from '../../domain/id.ts';
import { type CheckedKey, checkDueKeys, endUnusedKeys } from '../../store/keys/key-checks.ts';
import { claimNoticeMails, dismissKeyNotice, markMailed } from '../../store/keys/key-notices.ts';
import type { Database } from '../../store/sql/database.ts';
import type { Outbox } from '../mail.ts';
import { noticeMail } from './notice-mail.ts';

const KEYS_AT_ONCE = 500;

type Checking = {
  /** Writes the uses of keys that this process keeps in memory. */
  readonly flushUses: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly onEnded: (key: Pick<CheckedKey, 'organizationId' | 'id'>) => void;
};

/** Writes the notices that are due of all organizations, and ends the keys that were not used for too long. In batches. */
export async function checkKeys(db: Database, { flushUses, signal, onEnded }: Checking): Promise<void> {
  for (let isLast = false; !isLast && !signal.aborted; ) {
    const checked = await checkDueKeys(db, { limit: KEYS_AT_ONCE });
    isLast = checked.length < KEYS_AT_ONCE;
    const over = checked.filter(({ isOver }) => isOver);
    if (over.length === 0) continue;
    await flushUses();
    const eventIds = over.map(() => newId());
    for (const key of await endUnusedKeys(db, over, eventIds)) onEnded(key);
  }
}

/** A few, so that a shutdown waits only for these. */
const MAILS_AT_ONCE = 10;

type Mailing = {
  readonly outbox: Outbox;
  readonly publicUrl: string;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown) => void;
};

/**
 * Sends the mails of notices that are due. A mail is sent at least once: if this process is killed after the mail server has
 * accepted a mail and before that is recorded, another attempt follows, at most MAIL_ATTEMPTS in all, each with the same Message-ID.
 * Returns after the first failures: each mail may wait for a server that is down.
 */
export async function mailNotices(db: Database, { outbox, publicUrl, signal, onFailure }: Mailing): Promise<void> {
  for (let isLast = false; !isLast && !signal.aborted; ) {
    const claimed = await claimNoticeMails(db, { limit: MAILS_AT_ONCE });
    isLast = claimed.length < MAILS_AT_ONCE;
    await Promise.all(
      claimed.map(async (notice) => {
        const { email } = notice;
        try {
          if (email !== null) await outbox.send(noticeMail(notice, { email, publicUrl }));
        } catch (error) {
          // The claim has set the time of the next attempt.
          isLast = true;
          return onFailure(error);
        }
        await markMailed(db, notice);
      }),
    );
  }
}

/** Closes a notice on the dashboard. One that is not the user's, or is closed already, changes nothing. */
export async function dismissNotice(db: Database, { scope, userId }: Actor, id: string): Promise<void> {
  if (isId(id)) await dismissKeyNotice(db, scope, { id, userId });
}
