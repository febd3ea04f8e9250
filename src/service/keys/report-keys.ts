import type { AuditSource } from '../../domain/audit/actor.ts';
import { MovingError } from '../../domain/errors.ts';
import { hashKey } from '../../domain/keys/api-key.ts';
import { formatCount } from '../../domain/text.ts';
import {
  listConcernedPeople,
  type Person,
  type Report,
  type Revocation,
  type RevokedKey,
  revokeReportedKeys,
} from '../../store/keys/reported-keys.ts';
import type { Database } from '../../store/sql/database.ts';
import { type Mail, mailOf, type Outbox } from '../mail.ts';
import { DONE, type Done, type RateLimited } from '../outcome.ts';
import { admitReport } from '../sign-in/attempt-limits.ts';

/** The maximum number of keys that are revoked in one transaction. */
export const MAX_REPORTED_KEYS = 100;

/** The reason for the revocation in the audit log. */
export const REPORTED = 'reported as leaked';

export type ReportDeps = { readonly outbox: Outbox; readonly publicUrl?: string | undefined };

type Reported = {
  /** The reported keys, all well-formed, at most MAX_REPORTED_KEYS. */
  readonly keys: readonly string[];
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/** The report must be repeated, because some of the keys belong to organizations that are moving and were not revoked. */
export type Moving = { readonly kind: 'moving' };

/**
 * Revokes the keys, and mails their holders and the administrators. Anybody who has the text of a key may do this. The result is
 * the same for a key that does not exist or has already ended.
 */
export async function reportKeys(
  db: Database,
  report: Reported,
  deps: ReportDeps,
): Promise<Done | Moving | RateLimited> {
  const admission = await admitReport(db, report.auditSource.ip);
  return admission.kind === 'rate-limited' ? admission : revokeLeaked(db, report, deps);
}

/** Accepts a report whose sender has proved its identity. Such a report has no rate limit, and may contain any number of keys. */
export async function takeProvenReport(
  db: Database,
  { keys, ...report }: Reported,
  deps: ReportDeps,
): Promise<Done | Moving> {
  let result: Done | Moving = DONE;
  for (let from = 0; from < keys.length; from += MAX_REPORTED_KEYS) {
    const part = await revokeLeaked(db, { ...report, keys: keys.slice(from, from + MAX_REPORTED_KEYS) }, deps);
    if (part.kind === 'moving') result = part;
  }
  return result;
}

async function revokeLeaked(
  db: Database,
  { keys, auditSource, now }: Reported,
  deps: ReportDeps,
): Promise<Done | Moving> {
  const { outbox, publicUrl } = deps;
  const hashes = keys.map((key) => Buffer.from(hashKey(key), 'hex'));
  const { revoked, isAnyMoving } = await revokeRepeatedly(db, { hashes, why: REPORTED, at: now, auditSource });
  if (revoked.length > 0 && outbox.canSend && publicUrl !== undefined) {
    outbox.later(async () => {
      for (const told of recipientsOf(revoked, await listConcernedPeople(db, revoked))) {
        outbox.post(reportMail({ ...told, publicUrl }));
      }
    });
  }
  return isAnyMoving ? { kind: 'moving' } : DONE;
}

/**
 * Revokes the keys, and tries again if a move that was completed at the same time has undone the revocation. The next attempt
 * does not touch the keys of the organization that has moved.
 */
async function revokeRepeatedly(db: Database, report: Report, attempts = REVOCATION_ATTEMPTS): Promise<Revocation> {
  try {
    return await revokeReportedKeys(db, report);
  } catch (error) {
    if (!(error instanceof MovingError)) throw error;
    return attempts > 1 ? revokeRepeatedly(db, report, attempts - 1) : { revoked: [], isAnyMoving: true };
  }
}

const REVOCATION_ATTEMPTS = 5;

/** Returns who gets a mail, and about which keys. Each mail is about keys of one organization. */
function recipientsOf(revoked: readonly RevokedKey[], people: readonly Person[]): Recipient[] {
  const byPerson = people.map((person) => ({
    recipient: person,
    keys: revoked.filter(
      ({ organizationId, userId, ownerId }) =>
        organizationId === person.organizationId && (person.isAdministrator || (ownerId ?? userId) === person.id),
    ),
  }));
  // The notice address of an integration may be that of a person who gets a mail anyway.
  const isTold = (email: string, organizationId: string) =>
    people.some((person) => person.email === email && person.organizationId === organizationId);
  const ofIntegrations = revoked.filter(
    ({ noticeEmail, organizationId }) => noticeEmail !== '' && !isTold(noticeEmail, organizationId),
  );
  const byAddress = [...Map.groupBy(ofIntegrations, ({ userId }) => userId)].flatMap(([id, keys]) =>
    keys.slice(0, 1).map(({ holderName, noticeEmail }) => ({
      recipient: { id, name: holderName, email: noticeEmail },
      keys,
    })),
  );
  return [...byPerson, ...byAddress];
}

export type Recipient = {
  readonly recipient: { readonly id: string; readonly name: string; readonly email: string };
  /** The keys that the mail names, all of one organization. */
  readonly keys: readonly RevokedKey[];
};

type Content = Recipient & { readonly publicUrl: string };

/** Returns the mail that lists the keys that were revoked because they were reported as leaked. */
function reportMail({ recipient, keys, publicUrl }: Content): Mail {
  const [first] = keys;
  const isOne = keys.length === 1;
  const subject = isOne
    ? `The API key ${first?.prefix} was reported as leaked and revoked`
    : `${formatCount(keys.length, 'API key')} were reported as leaked and revoked`;
  const it = isOne ? 'it' : 'them';
  const paragraphs = [
    `Somebody found ${isOne ? 'an API key' : 'API keys'} of ${first?.organizationName} and reported ${it} to Charter as leaked. Charter has revoked ${it}: requests that use ${it} are refused with 401.`,
    ...keys.map((key) => `${key.name} (${key.prefix}…) of ${key.holderName}\n${keyUrl(key, { recipient, publicUrl })}`),
    `Find out where ${isOne ? 'the key' : 'the keys'} leaked, then create a new key for each program that still needs one.`,
  ];
  return mailOf(recipient, { subject, paragraphs });
}

/** Returns the URL of the key's page. Users find their own keys under My profile. */
function keyUrl({ id, userId, ownerId }: RevokedKey, { recipient, publicUrl }: Omit<Content, 'keys'>): string {
  const place =
    ownerId !== null
      ? `/organization/integrations/${userId}`
      : userId === recipient.id
        ? '/profile'
        : `/people/users/${userId}`;
  return `${publicUrl}${place}/api-keys/${id}`;
}
