// Each duration, size and limit that the source sets stands here a second time, so that nobody changes a promise or a protection
// by accident: a time-out that no test waits for, a limit that no test reaches. The comments of the source say why a value is
// what it is.
import { constantsIn } from './support/contract/constants.ts';

/** By file and name, the value as the source says it. Several values of one name in a file are separated by commas. */
const DECIDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // What a request may contain and cost, how long a refusal takes, and how hard a cursor is to forge.
  'src/api/clip.ts': {
    MAX_MESSAGE: '500',
  },
  'src/contract/conformity.ts': {
    MOST_ERRORS: '5',
  },
  'src/api/cursor.ts': {
    MAC_CHARACTERS: '22',
  },
  'src/api/pause.ts': {
    REFUSAL_PAUSE_MS: '100',
  },
  'src/api/request-body.ts': {
    MAX_REQUEST_BODY_BYTES: '100 * 1024',
  },
  'src/api/request-target.ts': {
    MAX_URL_BYTES: '8 * 1024',
  },
  'src/api/response-cache.ts': {
    OVERHEAD_BYTES: '1024',
  },
  'src/api/violations.ts': {
    MAX_FIELDS: '100',
    MAX_MESSAGES: '10',
    MAX_NAME: '255',
  },
  // What charter-client repeats, how long it waits and when it gives up.
  'src/client/retrying.ts': {
    FIRST_WAIT_MS: '500',
    LONGEST_WAIT_MS: '8_000',
  },
  'src/client/settings.ts': {
    MAX_TOKEN_CHARACTERS: '1024',
    'options.timeoutMs': '30_000',
    'options.totalTimeoutMs': '120_000',
  },
  'src/client/webhooks.ts': {
    TOLERANCE_SECONDS: '300',
  },
  // What the forms of the dashboard may contain, and what its pages show.
  'src/dashboard/audit-log/filters.ts': {
    MAX_CHARACTERS: '300',
  },
  'src/dashboard/http/forms.ts': {
    MAX_FORM_BYTES: '10 * 1024',
  },
  'src/dashboard/keys/life-field.ts': {
    LIVES_DAYS: '[7, 30, 90, 180, 365, 730]',
  },
  'src/dashboard/organization/api-keys.ts': {
    MAX_CHARACTERS: '100',
  },
  'src/dashboard/webhooks/endpoint.ts': {
    SHOWN_DAYS: '7',
  },
  // How often, how fast and how many webhooks are attempted.
  'src/delivery/attempt-limits.ts': {
    MAX_ATTEMPTS: '512',
    MAX_FAILING: '128',
    MAX_LIMIT: '32',
    SLOW_MS: '1000',
    MAX_KNOWN: '10_000',
  },
  'src/delivery/deliveries.ts': {
    POLL_MS: '500',
    GATHER_MS: '20',
    ENDPOINTS_AT_ONCE: '200',
    RESULTS_AT_ONCE: '200',
    LEASE_SECONDS: '2 * TIMEOUT_SECONDS + 5',
    REPORT_SECONDS: '60',
    WARN_MS: '60_000',
    STOP_MS: '5000',
  },
  'src/delivery/failure.ts': {
    MAX_CHARACTERS: '300',
  },
  'src/delivery/resolve-name.ts': {
    'QUERY.timeout': '3000',
  },
  'src/delivery/schedule.ts': {
    WAITS_SECONDS: '[5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]',
  },
  'src/delivery/sender.ts': {
    TIMEOUT_SECONDS: '15',
    KEEP_ALIVE_MS: '4000',
  },
  // What the product promises: the lives of keys, sessions and links, the strength of secrets, bounds of fields.
  'src/domain/access-link.ts': {
    'LINK_HOURS.invitation': '72',
    'LINK_HOURS.password_reset': '1',
  },
  'src/domain/api-key.ts': {
    RANDOM_CHARACTERS: '40',
    CHECKSUM_CHARACTERS: '6',
    PREFIX_CHARACTERS: "'charter_live_'.length + 4",
    MAX_LIFE_DAYS: '3650',
    DEFAULT_LIFE_DAYS: '90',
    MAX_ACTIVE_KEYS: '10',
    SOON_DAYS: '30',
  },
  'src/domain/client-product.ts': {
    MAX_CHARACTERS: '60',
  },
  'src/domain/duration.ts': {
    MINUTE_MS: '60_000',
    HOUR_MS: '60 * MINUTE_MS',
    DAY_MS: '24 * HOUR_MS',
  },
  'src/domain/keyring.ts': {
    KEY_BYTES: '32',
    KEY_ID_BYTES: '8',
    NONCE_BYTES: '12',
    TAG_BYTES: '16',
    HEADER_BYTES: '1 + KEY_ID_BYTES',
  },
  'src/domain/name.ts': {
    'MAX_CHARACTERS.person': '200',
    'MAX_CHARACTERS.organization': '200',
    'MAX_CHARACTERS.key': '100',
  },
  'src/domain/password.ts': {
    PASSWORD_CHARACTERS: '15',
    MAX_PASSWORD_CHARACTERS: '128',
    MIN_UNGUESSABLE_CHARACTERS: '6',
  },
  'src/domain/recovery-code.ts': {
    CHARACTERS: '16',
  },
  'src/domain/request-limits.ts': {
    'DEFAULT_LIMITS.perKey': '500',
    'DEFAULT_LIMITS.perOrganization': '1000',
    'DEFAULT_LIMITS.perAddress': '50',
    'NO_LIMITS.perKey': '0',
    'NO_LIMITS.perOrganization': '0',
    'NO_LIMITS.perAddress': '0',
    MAX_REQUESTS_PER_SECOND: '1_000_000',
  },
  'src/domain/session.ts': {
    SESSION_IDLE_MINUTES: '30',
    SESSION_HOURS: '12',
    HALF_SESSION_MINUTES: '10',
    LAST_SEEN_SECONDS: '60',
  },
  'src/domain/webhook-endpoint.ts': {
    MAX_ENDPOINTS: '10',
    MAX_URL_CHARACTERS: '2000',
    PREVIOUS_SECRET_HOURS: '24',
    MAX_FAILING_DAYS: '5',
    MAX_RECEIVER_BODY_BYTES: '1024',
  },
  'src/domain/webhook-signature.ts': {
    SECRET_BYTES: '32',
  },
  // How often and how much is logged, measured, traced and deleted.
  'src/observability/describe-error.ts': {
    MAX_CAUSES: '5',
  },
  'src/observability/failure-log.ts': {
    EVERY_MS: '10_000',
  },
  'src/observability/health.ts': {
    TIMEOUT_MS: '2000',
  },
  'src/observability/housekeeping.ts': {
    'SCHEDULE.firstMs': '5000',
    'SCHEDULE.everyMs': '15 * 60_000',
  },
  'src/observability/logs.ts': {
    BLOCK_BYTES: '32 * 1024',
    FLUSH_MS: '200',
    ID_CHARACTERS: '36',
  },
  'src/observability/sampled-log.ts': {
    EVERY_MS: '10_000',
  },
  'src/observability/tracing/open-telemetry.ts': {
    EXPORT_EVERY_MS: '5000',
    EXPORT_TIMEOUT_MS: '5000',
    CLOSE_MS: '5000',
    MAX_QUEUED_SPANS: '2048',
    MAX_SPANS_OF_EXPORT: '512',
    WARN_EVERY_MS: '60_000',
  },
  // How long PostgreSQL may take to start, and the locks of its migrations.
  'src/postgres/connection-problem.ts': {
    connectionTimeoutMillis: '10_000',
  },
  'src/postgres/embedded-cluster.ts': {
    STAGING_LIFE_MS: '3_600_000',
  },
  'src/postgres/embedded-postgres.ts': {
    MAX_FAILED_STARTS: '5',
    RETRY_MS: '100',
    REJOIN_MS: '1000',
    connectionTimeoutMillis: '5000',
  },
  'src/postgres/embedded-server.ts': {
    START_SECONDS: '120',
  },
  'src/postgres/migrate.ts': {
    LOCK_SECONDS: '600',
  },
  // The memory that the published files take.
  'src/publication/routes.ts': {
    MAX_ORIGINS: '4',
    REPLACEMENT_INTERVAL_MS: '10_000',
  },
  // Limits on attempts and requests, shares of the connections, sizes of pages and batches.
  'src/service/accounts/attempt-limits.ts': {
    'LIMITS.password.pair.attempts': '10',
    'LIMITS.password.network.attempts': '100',
    'LIMITS.password.account.attempts': '1000',
    "LIMITS.'second-factor'.pair.attempts": '10',
    "LIMITS.'second-factor'.network.attempts": '100',
    "LIMITS.'second-factor'.account.attempts": '40',
    "LIMITS.'reset-request'.pair.attempts": '3',
    "LIMITS.'reset-request'.network.attempts": '20',
    "LIMITS.'reset-request'.account.attempts": '10',
  },
  'src/service/audit-log.ts': {
    MAX_COUNTED_EVENTS: '1000',
    MAX_AUDITED_USERS: '20',
    MAX_AUDITED_KEYS: '200',
  },
  'src/traffic/batch-look-ups.ts': {
    waitSeconds: '1.5',
  },
  'src/service/resources/cursor-key.ts': {
    MAX_KEYS: '10_000',
  },
  'src/traffic/database-queues.ts': {
    API_WAIT_MS: '1200',
    DASHBOARD_WAIT_MS: '5000',
  },
  'src/traffic/fair-queue.ts': {
    TIMER_MS: '50',
    ALONE_MS: '1000',
    MAX_PAUSE_MS: '25',
  },
  'src/traffic/last-used.ts': {
    EVERY_SECONDS: '60',
    UNWRITTEN_SECONDS: '2 * EVERY_SECONDS',
    MAX_KEYS: '50_000',
    KEYS_AT_ONCE: '1000',
    CLIENT_EVERY_MS: '1000',
    MAX_REFUSED: '2_147_483_647',
  },
  'src/traffic/leased-tokens.ts': {
    STOCK_SECONDS: '0.08',
    CREDIT_SECONDS: '0.05',
  },
  'src/traffic/light-load.ts': {
    RECENT_MS: '1000',
  },
  'src/service/mail.ts': {
    SMTP_TIMEOUT_MS: '10_000',
  },
  'src/service/keys/organization-use.ts': {
    MOST_USED: '10',
  },
  'src/service/accounts/password.ts': {
    memoryCost: '19_456',
    timeCost: '2',
  },
  'src/service/accounts/people.ts': {
    SEARCH_CHARACTERS: '100',
  },
  'src/traffic/request-limiter.ts': {
    LEASE_INTERVAL_MS: '15',
    LEASE_TIMEOUT_MS: '5000',
    OPEN_MS: '1000',
    MAX_SUBJECTS_PER_LEASE: '1000',
    GENERATION_MS: '10_000',
    MAX_GENERATION_SIZE: '20_000',
  },
  'src/service/accounts/second-factor-code.ts': {
    STEP_SECONDS: '30',
  },
  'src/service/accounts/sessions.ts': {
    MAX_LISTED_SESSIONS: '50',
  },
  'src/service/webhooks/changes.ts': {
    BATCH_ROWS: '5000',
  },
  'src/service/webhooks/sending.ts': {
    MAX_TESTS_PER_MINUTE: '10',
  },
  // Time limits of statements and connections, how long rows are kept, sizes of batches.
  'src/store/database.ts': {
    CONNECT_SECONDS: '5',
    KEPT_CONNECTIONS: '2',
    CONNECTION_IDLE_SECONDS: '5 * 60',
    KEEP_ALIVE_SECONDS: '60',
  },
  'src/store/delete-in-batches.ts': {
    BATCH_ROWS: '1000',
  },
  'src/store/idempotency-keys.ts': {
    IDEMPOTENCY_HOURS: '24',
  },
  'src/store/key-lists.ts': {
    MAX_COUNTED_KEYS: '1000',
  },
  'src/store/key-rotations.ts': {
    MAX_STEPS: '10',
  },
  'src/store/list.ts': {
    ID_BYTES: '16',
    MAX_ROWS: '101',
  },
  'src/store/parent-program-changes.ts': {
    MOST_SORTED: '2000',
  },
  'src/store/rate-limits.ts': {
    BURST_SECONDS: '0.2',
    KEPT_HOURS: '1',
  },
  'src/store/secrets.ts': {
    'TABLES.0.plainBytes': '20',
    'TABLES.1.plainBytes': '32',
  },
  'src/store/session-settings.ts': {
    STATEMENT_SECONDS: '15',
    'SESSION_SETTINGS.idle_in_transaction_session_timeout': "'10s'",
    'MIGRATION_SETTINGS.statement_timeout': "'0'",
    'MIGRATION_SETTINGS.idle_in_transaction_session_timeout': "'0'",
  },
  'src/store/sign-in-failures.ts': {
    UNKNOWN_EMAIL_HOURS: '24',
  },
  'src/store/tables/parent-programs.ts': {
    MAX_METADATA_ENTRIES: '50',
  },
  'src/store/unscoped.ts': {
    MAX_ORGANIZATIONS: '1000',
    MAX_KEYS_OF_A_PREFIX: '20',
  },
  'src/store/users.ts': {
    MAX_COUNTED_USERS: '10_000',
    MAX_ADMINISTRATORS: '20',
  },
  'src/store/webhook-deliveries.ts': {
    MAX_COUNTED: '100_000',
  },
  'src/store/webhook-endpoints.ts': {
    MAX_COUNTED_DELIVERIES: '1000',
  },
  'src/store/webhook-expiry.ts': {
    DAYS_KEPT: '30',
  },
  'src/store/webhook-history.ts': {
    MAX_READ_ATTEMPTS: '50',
  },
  // How workers are watched and replaced.
  'src/workers/workers.ts': {
    'BACK_OFF_MS.first': '100',
    'BACK_OFF_MS.most': '10_000',
    STABLE_MS: '30_000',
    MAX_WAITING: '5000',
  },
  'src/workers/worker-process.ts': {
    METRICS_MS: '3000',
    MAX_UNTAKEN: '5000',
  },
  // Time limits of connections, of the start and of the shutdown, and what the environment may set.
  'src/config.ts': {
    MAX_WORKERS: '256',
  },
  'src/connections.ts': {
    CHECKS_PER_STALL: '6',
    LINGER_MS: '2000',
    HALF_CLOSED_MS: '10_000',
    MAX_IGNORED_REQUESTS: '100',
    MAX_CONCURRENT_REQUESTS: '4',
  },
  'src/heap.ts': {
    GROWTH_PERCENT: '300',
  },
  'src/listen-on.ts': {
    MAX_TURNS: '1000',
  },
  'src/run.ts': {
    SHUTDOWN_IDLE_SECONDS: '1',
    PREPARE_AFTER_MS: '5000',
    LEAVE_SECONDS: '60',
    SUPERVISOR_SECONDS: '10',
  },
  'src/security-headers.ts': {
    maxAge: '31_536_000',
  },
  'src/server.ts': {
    'LIMITS.headersSeconds': '10',
    'LIMITS.requestSeconds': '30',
    STALLED_SECONDS: '60',
    CHECKS_PER_LIMIT: '5',
    STOP_SECONDS: '25',
    CLOSE_IDLE_MS: '50',
  },
};

/** Names of durations, sizes and limits. Other numbers are the layout of a page, or are what they are by definition. */
const DECISION =
  /(?:_MS|SECONDS|MINUTES|HOURS|DAYS|BYTES|_MIB|ROWS|CHARACTERS|Ms|Seconds|Days|Bytes|attempts|points|Cost|maxAge|timeout|PERCENT|Millis)$|^\[?(?:MAX|MOST|KEPT)_|AT_ONCE|_KEPT|PER_|HOURS\.|LIMITS\.|\.(?:first|most)$/;

const found = constantsIn('src').filter(({ name }) => DECISION.test(name));

/** The values of a file by name. */
function valuesIn(file: string): Record<string, string> {
  const byName = Map.groupBy(
    found.filter((each) => each.file === file),
    ({ name }) => name,
  );
  return Object.fromEntries([...byName].map(([name, all]) => [name, all.map(({ text }) => text).join(', ')]));
}

// A failure shows the number and the file. If the change is meant, write the new value here, and look for texts that say the old
// one: test/docs/numbers.test.ts finds those of the README, the guides and the contract.
test.each([...new Set([...found.map(({ file }) => file), ...Object.keys(DECIDED)])].toSorted())(
  'the durations, sizes and limits that %s sets are those that were decided',
  (file) => expect(valuesIn(file)).toEqual(DECIDED[file] ?? {}),
);

test('the source sets its numbers where this test looks for them', () => {
  expect(found.length).toBeGreaterThan(100);
  expect(valuesIn('src/service/mail.ts')).toMatchObject({ SMTP_TIMEOUT_MS: '10_000' });
  // One number of each form: within a function, a parameter, a member, a setting of PostgreSQL.
  expect(valuesIn('src/store/session-settings.ts')).toMatchObject({
    'SESSION_SETTINGS.idle_in_transaction_session_timeout': "'10s'",
  });
});
