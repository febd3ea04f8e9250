import { mailNotices, writeDueNotices } from '../../../src/service/keys/notices.ts';
import type { Outbox } from '../../../src/service/mail.ts';
import type { Database } from '../../../src/store/sql/database.ts';

export const PUBLIC_URL = 'http://charter.example.org';

/** In days before now, or after it for `expiresIn`; `null` for never. A missing date stays as it is. */
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

/** Moves the dates of a key, as if time had passed. It is checked anew. */
export async function moveDates({ pool }: Database, id: string, dates: KeyDates): Promise<void> {
  for (const [name, setter] of Object.entries(SETTERS)) {
    const days = new Map<string, number | null | undefined>(Object.entries(dates)).get(name);
    if (days !== undefined) await pool.query(`update api_keys set ${setter} where id = $1`, [id, days]);
  }
  await pool.query('update api_keys set next_check_at = default where id = $1', [id]);
}

/** Moves the notices about a key into the past, with the next check of the key. */
export async function moveNotices({ pool }: Database, keyId: string, days: number): Promise<void> {
  const values = [keyId, days];
  await pool.query("update key_notices set created_at = created_at - $2 * interval '1 day' where key_id = $1", values);
  await pool.query('update api_keys set next_check_at = default where id = $1', [keyId]);
}

/** Does what a server does every five minutes. Returns the ids of the keys that were ended. */
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

/** The notices about a key: the kind, and for ends the number of days before. */
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
