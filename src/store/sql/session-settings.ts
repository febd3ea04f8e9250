/** How long PostgreSQL runs a statement before it cancels it. */
export const STATEMENT_SECONDS = 15;

/** The settings of every session, as PostgreSQL shows them. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  // Timestamps and whole rows are read as text, so their format must not depend on the server.
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  statement_timeout: `${STATEMENT_SECONDS}s`,
  // Shorter than the statement timeout: a write that waits for a transaction of a process that is gone then succeeds.
  idle_in_transaction_session_timeout: '10s',
  // Otherwise a statement that waits for a lock when its connection is lost would still be executed. Not supported on
  // Windows, where the embedded PostgreSQL may run.
  ...(process.platform === 'win32' ? {} : { client_connection_check_interval: '500ms' }),
  // The value for SSDs. With the default, index scans look so expensive that no generic plan of a list page is used.
  random_page_cost: '1.1',
};

/** TCP keepalive. PostgreSQL closes a connection two minutes after its client became unreachable, instead of two hours. */
export const KEEP_ALIVE_SETTINGS: Readonly<Record<string, string>> =
  process.platform === 'win32'
    ? {}
    : { tcp_keepalives_idle: '60', tcp_keepalives_interval: '10', tcp_keepalives_count: '6' };

/** The settings of migrations, which may take long. They replace those above, which the database user has if a pooler is used. */
export const MIGRATION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/**
 * Adds settings to the parameter "options" of the URL, because pg ignores its property of that name if the URL has the
 * parameter. If a setting is repeated, the last one counts.
 */
export function withSettings(url: string, settings: Readonly<Record<string, string>>): string {
  const address = new URL(url);
  const added = Object.entries(settings).map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`);
  const options = [address.searchParams.get('options') ?? '', ...added];
  address.searchParams.set('options', options.join(' ').trim());
  return address.href;
}
