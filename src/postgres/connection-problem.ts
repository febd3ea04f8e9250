import pg from 'pg';
import { StartUpError } from '../domain/start-up-error.ts';
import { codeOf } from '../store/error-code.ts';

/** Connects, or throws a StartUpError that explains the problem. Its texts do not contain the password. */
export async function connectOrExplain(url: string, applicationName: string): Promise<pg.Client> {
  const client = makeClient(url, applicationName);
  // An idle connection may break; the next query then fails.
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
      'DATABASE_URL is not a PostgreSQL URL.',
      'Set it to one such as postgresql://user:password@host:5432/database, with special characters percent-encoded.',
      { cause },
    );
  }
}

function explain({ host, port, user = '', database = '' }: pg.Client, cause: unknown): StartUpError {
  const address = `${host}:${port}`;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = codeOf(cause);
  const problem = (message: string, remedy: string) => new StartUpError(message, remedy, { cause });

  if (code === '3D000') {
    return problem(
      `The PostgreSQL at ${address} has no database "${database}".`,
      `Create it (createdb "${database}"), or correct DATABASE_URL.`,
    );
  }
  if (/^28/.test(code) || /^SASL/.test(reason)) {
    const remedy = 'Correct the user and the password in DATABASE_URL, or allow the user on the server (pg_hba.conf).';
    return problem(`The PostgreSQL at ${address} refuses the user "${user}": ${reason}.`, remedy);
  }
  if (/^(E[A-Z_]+)$/.test(code) || /timeout expired/.test(reason)) {
    const remedy = 'Start it, make it reachable from this machine, or correct DATABASE_URL.';
    return problem(`No PostgreSQL answers at ${address} (${code || 'no answer for 10 seconds'}).`, remedy);
  }
  if (/^(57P0|53)/.test(code))
    return problem(`The PostgreSQL at ${address} accepts no connections now: ${reason}.`, 'Try again in a moment.');
  return problem(`The PostgreSQL at ${address} cannot be used: ${reason}`, 'Correct DATABASE_URL or the server.');
}
