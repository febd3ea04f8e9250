import { mailNotices, writeDueNotices } from '../../../src/service/keys/notices.ts';
import type { Outbox } from '../../../src/service/mail.ts';
import type { Database } from '../../../src/store/sql/database.ts';

export const PUBLIC_URL = 'http://charter.example.org';

/** The dates of a key, in days before now, or after now for `expiresIn`; `null` means never. An omitted date does not change. */
type KeyDates = {
  readonly createdAgo?: number;
  readonly usedAgo?: number | null;
  readonly expiresIn?: number | null;
};

const SETTERS: Record<keyof KeyDates, string> = {
  createdAgo: "created_at = now() - $2 * interval '1 day'",
  usedAgo: "last_used_at = now() - $2 * interval '1 day'",
  expiresIn: "expires_at = now() + $2 * interval '1 day'",
};

/** Sets the dates of a key, as if time had passed, and makes the next check of the key due. */
export async function moveDates({ pool }: Database, id: string, dates: KeyDates): Promise<void> {
  for (const [name, setter] of Object.entries(SETTERS)) {
    const days = new Map<string, number | null | undefined>(Object.entries(dates)).get(name);
    if (days !== undefined) await pool.query(`update api_keys set ${setter} where id = $1`, [id, days]);
  }
  await pool.query('update api_keys set next_check_at = default where id = $1', [id]);
}

/** Moves the notices about a key into the past by a number of days, and makes the next check of the key due. */
export async function moveNotices({ pool }: Database, keyId: string, days: number): Promise<void> {
  const values = [keyId, days];
  await pool.query("update key_notices set created_at = created_at - $2 * interval '1 day' where key_id = $1", values);
  await pool.query('update api_keys set next_check_at = default where id = $1', [keyId]);
}

/** Writes all notices that are due, as a server does every five minutes. Returns the ids of the keys that were ended. */
export async function writeAllNotices(db: Database, flushUses = async () => {}): Promise<string[]> {
  const ended: string[] = [];
  const { signal } = new AbortController();
  await writeDueNotices(db, { flushUses, signal, onEnded: ({ id }) => ended.push(id) });
  return ended;
}

/** Sends the mails that are due, as a server does every two seconds. Returns the failures. */
export async function mailAll(db: Database, outbox: Outbox): Promise<unknown[]> {
  const failures: unknown[] = [];
  const { signal } = new AbortController();
  const onFailure = (error: unknown) => failures.push(error);
  await mailNotices(db, { outbox, publicUrl: PUBLIC_URL, signal, onFailure });
  return failures;
}

/**
 * Returns the notices about a key, each as its kind. If a notice is about the end of the key, the number of days until the end
 * follows the kind.
 */
export async function listNoticesOf({ prisma }: Database, keyId: string): Promise<string[]> {
  const rows = await prisma.keyNotice.findMany({
    where: { keyId, isForAddress: false },
    orderBy: { createdAt: 'asc' },
  });
  return rows.map(({ kind, occasion }) => [kind, /, (\d+)$/.exec(occasion)?.[1] ?? []].flat().join(' '));
}

export const addresseeOf = (mail: string) => /^To: .*<(.+)>/m.exec(mail)?.[1];
export const subjectOf = (mail: string) => (/^Subject: (.*)$/m.exec(mail)?.[1] ?? '').trim();
export const pathsIn = (mail: string) =>
  [...mail.matchAll(/http:\/\/charter\.example\.org(\/\S+)/g)].map(([, path = '']) => path);
