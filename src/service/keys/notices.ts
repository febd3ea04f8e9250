import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import { type ActionKind, LIMITED_PER_HOUR, type NoticeKind, ONE_NETWORK_DAYS } from '../../domain/keys/key-notice.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { formatCount, isId } from '../../domain/text.ts';
import { daysUntil, formatInstant } from '../../domain/time.ts';
import { type CheckedKey, endUnusedKeys, writeDueKeyNotices } from '../../store/keys/key-checks.ts';
import {
  type ClaimedNotice,
  claimNoticeMails,
  dismissKeyNotice,
  insertActionNotice,
  markMailed,
} from '../../store/keys/key-notices.ts';
import type { LockedHolder } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import type { Mail, Outbox } from '../mail.ts';

type Recipient = {
  readonly holder: Pick<LockedHolder, 'id' | 'ownerUserId'>;
  readonly keyId: string;
  readonly kind: ActionKind;
  /** The user who acted; `null` for an operator. */
  readonly byUserId: string | null;
  readonly detail?: string;
};

/**
 * Notifies the holder of a key, or the owner of its integration, of an action on the key, unless that person acted. The mail is
 * sent only if the transaction commits.
 */
export async function tellHolder(
  tx: Transaction,
  scope: OrganizationScope,
  { holder, byUserId, detail = '', ...notice }: Recipient,
): Promise<void> {
  if ((holder.ownerUserId ?? holder.id) === byUserId) return;
  await insertActionNotice(tx, scope, { ...notice, userId: holder.id, byUserId, detail });
}

const KEYS_AT_ONCE = 500;

type Checking = {
  /** Writes the key uses that this process has in memory to the database. */
  readonly flushUses: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly onEnded: (key: Pick<CheckedKey, 'organizationId' | 'id'>) => void;
};

/**
 * Inserts the notices that are due in all organizations, and ends the keys that were not used for too long, 500 keys at a time.
 */
export async function writeDueNotices(db: Database, { flushUses, signal, onEnded }: Checking): Promise<void> {
  for (let isLast = false; !isLast && !signal.aborted; ) {
    const checked = await writeDueKeyNotices(db, { limit: KEYS_AT_ONCE });
    isLast = checked.length < KEYS_AT_ONCE;
    const over = checked.filter(({ mustEnd }) => mustEnd);
    if (over.length === 0) continue;
    await flushUses();
    const eventIds = over.map(() => newId());
    for (const key of await endUnusedKeys(db, over, eventIds)) onEnded(key);
  }
}

/** The number of mails that are claimed together. It is small, because a shutdown waits until the claimed mails are sent. */
const MAILS_AT_ONCE = 10;

type Mailing = {
  readonly outbox: Outbox;
  readonly publicUrl: string;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown) => void;
};

/**
 * Sends the mails of notices that are due. Each mail is sent at least once: if this process is killed between the sending of a
 * mail and its recording, the mail is sent again with the same Message-ID, at most MAIL_ATTEMPTS times in all. Stops after the
 * chunk in which a mail failed, because each further mail might wait for a mail server that is down.
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
          // The claim has already set the time of the next attempt.
          isLast = true;
          return onFailure(error);
        }
        await markMailed(db, notice);
      }),
    );
  }
}

/** Closes a dashboard notice of the actor. Does nothing if the notice belongs to somebody else or is already closed. */
export async function dismissNotice(db: Database, { scope, userId }: Actor, id: string): Promise<void> {
  if (isId(id)) await dismissKeyNotice(db, scope, { id, userId });
}

/** The subject of the mail, and the paragraphs between the greeting and the link. */
type Words = { readonly subject: string; readonly lines: readonly string[] };

function noticeMail(
  notice: ClaimedNotice,
  { email, publicUrl }: { readonly email: string; readonly publicUrl: string },
): Mail {
  const { subject, lines } = WORDS[notice.kind](notice);
  const text = [
    notice.recipientName === null ? 'Hello,' : `Hello ${notice.recipientName},`,
    ...lines,
    ...(notice.isForStandIn ? [NO_OWNER] : []),
    `${notice.keyName} (${notice.keyPrefix}…), ${notice.organizationName}\n${publicUrl}${pathOf(notice)}`,
  ];
  return {
    id: notice.id,
    to: { name: notice.recipientName ?? notice.holderName, address: email },
    subject,
    text: `${text.join('\n\n')}\n`,
  };
}

const NO_OWNER =
  'The integration has no active owner, so this mail goes to you, an administrator. Take ownership of it on its page, or choose an owner.';

const WORDS: Record<NoticeKind, (notice: ClaimedNotice) => Words> = {
  created: (notice) => ({
    subject: `${byWhom(notice)} created the API key ${notice.keyName}`,
    lines: [
      `${byWhom(notice)} created an API key for ${notice.holderKind === 'integration' ? whom(notice) : 'you'}, and has seen it.`,
      'If you do not expect this, revoke the key, and ask an administrator.',
    ],
  }),
  rotated: (notice) => ({
    subject: `${byWhom(notice)} rotated the API key ${notice.keyName}`,
    lines: [
      `${byWhom(notice)} replaced the API key ${notice.detail}… of ${whom(notice)}. Requests with the old key are refused with 401.`,
      'Only the person who rotated it has seen the new key: ask for it, or rotate it again.',
    ],
  }),
  moved: (notice) =>
    notice.holderKind === 'integration'
      ? {
          subject: `${byWhom(notice)} moved the API key ${notice.keyName} to ${notice.holderName}`,
          lines: [
            `${byWhom(notice)} moved an API key of ${notice.detail} to the integration ${notice.holderName}. The key itself is the same, and now acts for the integration.`,
          ],
        }
      : {
          subject: `${byWhom(notice)} moved your API key ${notice.keyName} to ${notice.detail}`,
          lines: [
            `${byWhom(notice)} moved your API key to the integration ${notice.detail}. The key itself is the same, and stays valid. It no longer acts for you.`,
          ],
        },
  revoked: (notice) => ({
    subject: `${byWhom(notice)} revoked the API key ${notice.keyName}`,
    lines: [
      `${byWhom(notice)} revoked an API key of ${whom(notice)}. Requests with it are refused with 401.`,
      'If a program still needs a key, create a new one.',
    ],
  }),
  expires: (notice) => ({
    subject: `The API key ${notice.keyName} expires ${inDays(notice)}`,
    lines: [
      `An API key of ${whom(notice)} expires on ${endOf(notice)}. It was used within the last 30 days. After that, requests with it are refused with 401.`,
      'Rotate the key on its page and choose a new expiry, or create a second key and change to it without an interruption.',
    ],
  }),
  unused: (notice) => ({
    subject: `The API key ${notice.keyName} ends ${inDays(notice)}, because it is not used`,
    lines: [
      `An API key of ${whom(notice)} is not used. Your organization ends keys after ${formatCount(Number(notice.detail), 'day')} without use, so Charter ends it on ${endOf(notice)}.`,
      'If a program needs the key, send a request with it before then. Otherwise, you have nothing to do.',
    ],
  }),
  ended: (notice) => ({
    subject: `The API key ${notice.keyName} was ended, because it was not used`,
    lines: [
      `An API key of ${whom(notice)} was not used for ${formatCount(Number(notice.detail), 'day')}, so Charter has revoked it, as the policy of your organization says. Requests with it are refused with 401.`,
      'If a program still needs a key, create a new one.',
    ],
  }),
  new_network: (notice) => ({
    subject: `The API key ${notice.keyName} is used from a new network`,
    lines: [
      `An API key of ${whom(notice)} was used from ${notice.detail}, for the first time after ${ONE_NETWORK_DAYS} days of one other network.`,
      'If you do not expect this, somebody else may have the key: rotate or revoke it.',
    ],
  }),
  limited: (notice) => ({
    subject: `The API key ${notice.keyName} reached its rate limit`,
    lines: [
      `More than ${LIMITED_PER_HOUR} requests with an API key of ${whom(notice)} were refused with 429 within an hour, because they exceeded a rate limit.`,
      'Spread the requests of the program, use batches, and wait for the number of seconds in Retry-After. Charter sends this mail at most once a day for a key.',
    ],
  }),
};

function byWhom({ byName }: ClaimedNotice): string {
  return byName ?? 'An operator';
}

/**
 * Returns the words for the key's holder: "yours" for a person. For an integration, the words contain its name, because the mail
 * may go to a team's address.
 */
function whom({ holderKind, holderName }: ClaimedNotice): string {
  return holderKind === 'integration' ? `the integration ${holderName}` : 'yours';
}

function endOf({ endsAt }: ClaimedNotice): string {
  return endsAt === null ? 'a day that is not known' : formatInstant(endsAt);
}

/** Returns the time from the notice to the end of the key, such as "in 7 days". */
function inDays({ endsAt, createdAt }: ClaimedNotice): string {
  const days = daysUntil(endsAt ?? createdAt, createdAt);
  if (days === 0) return 'today';
  return days === 1 ? 'tomorrow' : `in ${days} days`;
}

/** Returns the path of the key's page. The former holder of a moved key gets the path of the list of keys instead. */
function pathOf({ kind, keyId, holderId, holderKind }: ClaimedNotice): string {
  if (holderKind === 'integration') return `/organization/integrations/${holderId}/api-keys/${keyId}`;
  return kind === 'moved' ? '/profile/api-keys' : `/profile/api-keys/${keyId}`;
}
