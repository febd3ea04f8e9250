import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { StartUpError } from '../domain/errors.ts';
import type { Pooler } from '../store/sql/database.ts';
import { SESSION_SETTINGS } from '../store/sql/session-settings.ts';
import { connectOrExplain, isPooled } from './connection-problem.ts';

/** `url` is the URL of the pooler, and `directUrl` the URL of PostgreSQL itself. */
type Urls = { readonly url: string; readonly directUrl: string };

/**
 * Returns the connection pooler at `url`; `null` if PostgreSQL itself is at `url`. Throws a StartUpError if the URLs lead to
 * different databases, or if the pooler's sessions lack settings that the server needs.
 */
export async function findPooler({ url, directUrl }: Urls): Promise<Pooler | null> {
  const client = await connectOrExplain(url, 'charter', 'DATABASE_URL');
  try {
    await requireSameDatabase(client, directUrl);
    if (!(await isPooled(client))) return null;
    await requireSettings(client);
    return { keepsStatements: await keepsStatements(client) };
  } finally {
    client.end().catch(() => undefined);
  }
}

/**
 * Throws if the URLs lead to different databases, because one database would be migrated, and the other one would be used. A
 * standby counts as a different database.
 */
async function requireSameDatabase(client: pg.Client, directUrl: string): Promise<void> {
  const direct = await connectOrExplain(directUrl, 'charter-migrate', 'DATABASE_DIRECT_URL');
  try {
    if ((await readIdentity(client)) === (await readIdentity(direct))) return;
  } finally {
    direct.end().catch(() => undefined);
  }
  throw new StartUpError(
    'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases.',
    'Set both to the same database of the same PostgreSQL server, and not to a standby.',
  );
}

/** Returns a string that is different for any two databases, and for any two servers. */
async function readIdentity(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `SELECT oid::text || ' ' || extract(epoch FROM pg_postmaster_start_time())::text AS identity
       FROM pg_database WHERE datname = current_database()`,
  );
  return rows[0]?.identity ?? '';
}

async function requireSettings(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; value: string; role: string; database: string }>(
    `SELECT name, current_setting(name) AS value, session_user::text AS role, current_database()::text AS database
       FROM unnest($1::text[]) AS name`,
    [Object.keys(SESSION_SETTINGS)],
  );
  const others = rows.filter(({ name, value }) => value !== SESSION_SETTINGS[name]);
  const [first] = others;
  if (first === undefined) return;
  const [role, database] = [pg.escapeIdentifier(first.role), pg.escapeIdentifier(first.database)];
  const statements = Object.entries(SESSION_SETTINGS).map(
    ([name, value]) => `ALTER ROLE ${role} IN DATABASE ${database} SET ${name} = ${pg.escapeLiteral(value)};`,
  );
  const found = others.map(({ name, value }) => `${name} is ${JSON.stringify(value)}`).join(', ');
  throw new StartUpError(
    `The sessions that the connection pooler at ${client.host}:${client.port} opens lack settings of Charter: ${found}.`,
    `In PostgreSQL itself, as this user or a superuser:\n  ${statements.join('\n  ')}\n` +
      '  Then make the pooler open new sessions, for example with the command RECONNECT of PgBouncer, and start again.',
  );
}

/**
 * Returns whether the pooler prepares a named statement again in a session that lacks the statement. A pooler that does, for
 * example PgBouncer 1.21 or later with `max_prepared_statements`, renames the statement, because several clients use the same
 * session. Any other pooler passes the name on unchanged.
 */
async function keepsStatements(client: pg.Client): Promise<boolean> {
  const name = `charter_${randomUUID()}`;
  // All statements of a transaction run in the same session.
  await client.query('BEGIN');
  const { rows } = await client.query<{ isPassedOn: boolean }>({
    name,
    text: 'SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1) AS "isPassedOn"',
    values: [name],
  });
  const isPassedOn = rows[0]?.isPassedOn !== false;
  if (isPassedOn) await client.query(`DEALLOCATE ${pg.escapeIdentifier(name)}`);
  await client.query('COMMIT');
  return !isPassedOn;
}
