import pg from 'pg';
import { StartUpError } from '../domain/start-up-error.ts';
import { codeOf } from '../store/error-code.ts';

/** Connects, or says in one message what stands in the way. No message holds the password. */
export async function connectOrExplain(url: string, applicationName: string): Promise<pg.Client> {
  const client = makeClient(url, applicationName);
  // A connection that breaks while it is idle; the next query says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (cause) {
    client.end().catch(() => undefined);
    throw explain(client, cause);
  }
}

function makeClient(url: string, applicationName: string): pg.Client {
  try {
    return new pg.Client({ connectionString: url, application_name: applicationName, connectionTimeoutMillis: 10_000 });
  } catch (cause) {
    throw new StartUpError(
      'DATABASE_URL is not the address of a PostgreSQL.',
      'Write it as postgresql://user:password@host:port/database, with special characters percent-encoded.',
      { cause },
    );
  }
}

function explain({ host, port, user = '', database = '' }: pg.Client, cause: unknown): StartUpError {
  const place = `${host}:${port}`;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = codeOf(cause);
  const problem = (message: string, remedy: string) => new StartUpError(message, remedy, { cause });

  if (code === '3D000') {
    return problem(
      `The PostgreSQL at ${place} has no database "${database}".`,
      `Make it (createdb "${database}"), or correct DATABASE_URL.`,
    );
  }
  if (/^28/.test(code) || /^SASL/.test(reason)) {
    const remedy = 'Correct the user and the password in DATABASE_URL, or let the user in on the server (pg_hba.conf).';
    return problem(`The PostgreSQL at ${place} refuses the user "${user}": ${reason}.`, remedy);
  }
  if (/^(E[A-Z_]+)$/.test(code) || /timeout expired/.test(reason)) {
    const remedy = 'Start it, or let this machine reach it, or correct DATABASE_URL.';
    return problem(`No PostgreSQL answers at ${place} (${code || 'no answer for 10 seconds'}).`, remedy);
  }
  if (/^(57P0|53)/.test(code))
    return problem(`The PostgreSQL at ${place} takes no connection now: ${reason}.`, 'Try again in a moment.');
  return problem(`The PostgreSQL at ${place} cannot be used: ${reason}`, 'Correct DATABASE_URL, or the server.');
}
