import type { Keyring } from '../domain/keyring.ts';
import { fillNameKeys } from '../store/keys/api-keys.ts';
import { markDeletions } from '../store/organizations/organization-moves.ts';
import {
  hasUnusualEmails,
  type KeptEmail,
  markInvited,
  normalizeEmails,
  normalizeNoticeEmails,
} from '../store/people/stored-emails.ts';
import { encryptSecrets } from '../store/sql/secrets.ts';
import { connectOrExplain, type UrlVariable } from './connection-problem.ts';

/** The advisory lock that only one process can hold, so that processes complete the migrations one after the other. */
const COMPLETION_LOCK = 7_240_114;

/**
 * The constraints that a migration adds as NOT VALID, because existing rows violate them, and the tables that contain these rows.
 */
const CONSTRAINTS: Readonly<Record<string, string>> = {
  users_totp_secret_check: 'users',
  organizations_cursor_key_check: 'organizations',
  api_keys_name_key_check: 'api_keys',
  users_has_accepted_check: 'users',
};

/**
 * Does what the migrations cannot do in SQL: encrypts the secrets of an earlier version, normalizes the names of API keys and the
 * e-mails, and marks the users who have not accepted an invitation and the organizations that are being deleted. Uses one
 * transaction, and is safe in any number of concurrent processes. Usually there is nothing to do. Returns the e-mails that could
 * not be normalized.
 */
export async function completeMigrations(
  url: string,
  keyring: Keyring,
  variable: UrlVariable = 'DATABASE_URL',
): Promise<KeptEmail[]> {
  const client = await connectOrExplain(url, 'charter-migrate', variable);
  const open = async () => {
    const text = 'select conname as name from pg_constraint where conname = any($1) and not convalidated';
    const { rows } = await client.query<{ name: string }>(text, [Object.keys(CONSTRAINTS)]);
    return rows.map(({ name }) => name);
  };
  try {
    if ((await open()).length === 0 && !(await hasUnusualEmails(client))) return [];
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [COMPLETION_LOCK]);
    const constraints = await open();
    if (constraints.length > 0) {
      await encryptSecrets(client, keyring);
      await fillNameKeys(client);
      await markInvited(client);
      await normalizeNoticeEmails(client);
      await markDeletions(async (text) => (await client.query(text)).rows);
      for (const name of constraints) {
        await client.query(`alter table ${CONSTRAINTS[name]} validate constraint ${name}`);
      }
    }
    const kept = await normalizeEmails(client);
    await client.query('commit');
    return kept;
  } finally {
    client.end().catch(() => undefined);
  }
}
