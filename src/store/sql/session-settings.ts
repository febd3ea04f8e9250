/** The time after which PostgreSQL cancels an SQL statement. */
export const STATEMENT_SECONDS = 15;

/** The settings of every session, in the form in which PostgreSQL shows them. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  // Timestamps and whole rows are read as text, so their format must not depend on the server's settings.
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  statement_timeout: `${STATEMENT_SECONDS}s`,
  // This timeout is shorter than the statement timeout, so that a write that waits for the transaction of a dead process can
  // still succeed.
  idle_in_transaction_session_timeout: '10s',
  // Without this setting, a statement that waits for a lock would still be executed after its connection was lost. Windows, on
  // which the embedded PostgreSQL may run, does not support the setting.
  ...(process.platform === 'win32' ? {} : { client_connection_check_interval: '500ms' }),
  // This value suits SSDs. With the default, PostgreSQL considers index scans so expensive that it plans each execution of a list
  // page's query again.
  random_page_cost: '1.1',
};

/**
 * The settings of TCP keepalive. PostgreSQL closes a connection two minutes after its client has become unreachable, instead of
 * two hours.
 */
export const KEEP_ALIVE_SETTINGS: Readonly<Record<string, string>> =
  process.platform === 'win32'
    ? {}
    : { tcp_keepalives_idle: '60', tcp_keepalives_interval: '10', tcp_keepalives_count: '6' };

/**
 * The settings of migrations, which may take long. They replace SESSION_SETTINGS, which the database user has if there is a
 * pooler.
 */
export const MIGRATION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/**
 * Adds settings to the parameter "options" of the URL, because pg ignores its own property "options" if the URL has that
 * parameter. If a setting occurs twice, the last one applies.
 */
export function withSettings(url: string, settings: Readonly<Record<string, string>>): string {
  const address = new URL(url);
  const added = Object.entries(settings).map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`);
  const options = [address.searchParams.get('options') ?? '', ...added];
  address.searchParams.set('options', options.join(' ').trim());
  return address.href;
}
