import pg from 'pg';
import { codeOf, memberOf, StartUpError } from '../domain/errors.ts';

/** The environment variable that contains the URL of the database, for messages. */
export type UrlVariable = 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'MOVE_TO_DATABASE_URL';

/** Connects to PostgreSQL, or throws a StartUpError that explains the problem. The messages do not contain the password. */
export async function connectOrExplain(
  url: string,
  applicationName: string,
  variable: UrlVariable,
): Promise<pg.Client> {
  const client = makeClient(url, { applicationName, variable });
  // An idle connection may break. Without a listener, the error event would end the process; with it, the next query fails.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (cause) {
    client.end().catch(() => undefined);
    throw explain(client, { cause, variable });
  }
}

/** Throws a StartUpError if the client is connected to a pooler, which may run each transaction in another session. */
export async function requireDirectConnection(client: pg.Client, variable: UrlVariable): Promise<void> {
  if (await isPooled(client)) throw poolerProblem(client, { reason: '', variable });
}

/**
 * Returns whether the client is connected to a pooler. A pooler tells the client another process id than the session has, because
 * each transaction may run in another session.
 */
export async function isPooled(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== memberOf(client, 'processID');
}

type ConnectionName = { readonly applicationName: string; readonly variable: UrlVariable };

function makeClient(url: string, { applicationName, variable }: ConnectionName): pg.Client {
  try {
    return new pg.Client({ connectionString: url, application_name: applicationName, connectionTimeoutMillis: 10_000 });
  } catch (cause) {
    throw new StartUpError(
      `${variable} is not a PostgreSQL URL.`,
      'Set it to one such as postgresql://user:password@host:5432/database, with special characters percent-encoded.',
      { cause },
    );
  }
}

type Failure = { readonly cause: unknown; readonly variable: UrlVariable };

function explain(client: pg.Client, { cause, variable }: Failure): StartUpError {
  const { host, port, user = '', database = '' } = client;
  const address = `${host}:${port}`;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = codeOf(cause);
  const problem = (message: string, remedy: string) => new StartUpError(message, remedy, { cause });

  if (code === '3D000') {
    return problem(
      `The PostgreSQL at ${address} has no database "${database}".`,
      `Create it (createdb "${database}"), or correct ${variable}.`,
    );
  }
  if (/^28/.test(code) || /^SASL/.test(reason)) {
    const remedy = `Correct the user and the password in ${variable}, or allow the user on the server (pg_hba.conf).`;
    return problem(`The PostgreSQL at ${address} refuses the user "${user}": ${reason}.`, remedy);
  }
  if (/^(E[A-Z_]+)$/.test(code) || /timeout expired/.test(reason)) {
    const remedy = `Start it, make it reachable from this machine, or correct ${variable}.`;
    return problem(`No PostgreSQL answers at ${address} (${code || 'no answer for 10 seconds'}).`, remedy);
  }
  if (/^(57P0|53)/.test(code))
    return problem(`The PostgreSQL at ${address} accepts no connections now: ${reason}.`, 'Try again in a moment.');
  if (/unsupported startup parameter/.test(reason)) return poolerProblem(client, { reason: `: ${reason}`, variable });
  return problem(`The PostgreSQL at ${address} cannot be used: ${reason}`, `Correct ${variable} or the server.`);
}

/** Creates the error for an unexpected pooler. `reason` is a colon and the pooler's message, or empty. */
function poolerProblem(
  { host, port }: pg.Client,
  { reason, variable }: { readonly reason: string; readonly variable: UrlVariable },
): StartUpError {
  return new StartUpError(
    `${host}:${port} in ${variable} is a connection pooler such as PgBouncer, which keeps no session for a client${reason}.`,
    variable === 'MOVE_TO_DATABASE_URL'
      ? `Set ${variable} to the URL of PostgreSQL itself.`
      : 'Set DATABASE_DIRECT_URL to the URL of PostgreSQL itself, and have no "options" in DATABASE_URL. ' +
          'See "PgBouncer" in the guide "PostgreSQL".',
  );
}
