// Numbers in the texts are those of the code. Each stands here once, as the pattern that finds it in a text and the value of the
// code. facts.test.ts compares them; numbers.test.ts finds numbers that are missing here.
import { readdir, readFile } from 'node:fs/promises';
import { maxHeaderSize } from 'node:http';
import { join } from 'node:path';
import { MAX_REQUEST_BODY_BYTES } from '../../../src/api/request-body.ts';
import { MAX_URL_BYTES } from '../../../src/api/request-target.ts';
import { waitMsAfter } from '../../../src/client/retrying.ts';
import { TOLERANCE_SECONDS } from '../../../src/client/webhooks.ts';
import { readConfig } from '../../../src/config.ts';
import { retryMsAfter } from '../../../src/delivery/schedule.ts';
import { TIMEOUT_SECONDS } from '../../../src/delivery/sender.ts';
import { LINK_HOURS } from '../../../src/domain/access-link.ts';
import {
  CHECKSUM_CHARACTERS,
  DEFAULT_LIFE_DAYS,
  MAX_ACTIVE_KEYS,
  RANDOM_CHARACTERS,
  SOON_DAYS,
  SOON_SHARE,
} from '../../../src/domain/api-key.ts';
import { SHOWN_PERIODS } from '../../../src/domain/key-usage.ts';
import { MAX_CHARACTERS } from '../../../src/domain/name.ts';
import { DEFAULT_LIMITS } from '../../../src/domain/request-limits.ts';
import {
  MAX_ENDPOINTS,
  MAX_FAILING_DAYS,
  MAX_RECEIVER_BODY_BYTES,
  PREVIOUS_SECRET_HOURS,
} from '../../../src/domain/webhook-endpoint.ts';
import { TIMEOUT_MS } from '../../../src/observability/health.ts';
import { OLDEST_VERSION } from '../../../src/postgres/migrate.ts';
import { SHUTDOWN_IDLE_SECONDS } from '../../../src/run.ts';
import { LIMITS, STALLED_SECONDS, STOP_SECONDS } from '../../../src/server.ts';
import { CONNECTION_IDLE_SECONDS, KEPT_CONNECTIONS } from '../../../src/store/database.ts';
import { IDEMPOTENCY_HOURS } from '../../../src/store/idempotency-keys.ts';
import { KEEP_ALIVE_SETTINGS, SESSION_SETTINGS } from '../../../src/store/session-settings.ts';
import { MAX_METADATA_ENTRIES } from '../../../src/store/tables/parent-programs.ts';
import { LEASE_INTERVAL_MS } from '../../../src/traffic/request-limiter.ts';
import { constantOf, constantsIn } from './constants.ts';

export const ROOT = join(import.meta.dirname, '../../..');
export const read = (file: string) => readFile(join(ROOT, file), 'utf8');

/** The text of a file, with each paragraph on one line. */
export const readLines = async (file: string) => (await read(file)).replace(/\n */g, ' ');

/** The README, the guides and the other texts in Markdown. */
export async function markdownFiles(): Promise<string[]> {
  const listed = await Promise.all(
    ['openapi', 'src'].map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((each) => join(folder, each)),
    ),
  );
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...listed.flat().filter((each) => each.endsWith('.md'))];
}

/** The published document. */
export const contract = JSON.parse(await read('generated/openapi.json'));
const { Limit, Search, ExternalId, IdempotencyKey } = Object.fromEntries(
  Object.entries<{ schema: Record<string, number> }>(contract.components.parameters).map(([name, { schema }]) => [
    name,
    schema,
  ]),
);
const program = contract.components.schemas.ParentProgramCreate.properties;
const metadata = contract.components.schemas.Metadata;

const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const SHARES: Readonly<Record<string, number>> = { 'half a': 0.5, 'a quarter': 0.25, 'a tenth': 0.1 };

/** The number as a pattern captured it: "2", "two", "10,000", "half a" or "another". */
export function numberOf(text: string): number {
  const share = SHARES[text];
  if (share !== undefined) return share;
  if (text === 'another' || text === 'an' || text === 'a') return 1;
  const word = WORDS.indexOf(text.toLowerCase());
  return word >= 0 ? word : Number(text.replaceAll(',', ''));
}

const waitSeconds = (failures: number, random: number) => (retryMsAfter(failures, random) ?? 0) / 1000;
/** The first attempt, and one after each wait. */
const ATTEMPTS = [...Array(100).keys()].findIndex((i) => retryMsAfter(i + 1, 0) === null) + 1;
const KIB = 1024;
const AT_MOST = { tries: 100, headers: undefined, random: 1 };

const WAITS = [1, 60, 60, 3600, 3600, 3600, 3600].map((unit, i) => waitSeconds(i + 1, 0) / unit);
/** How much longer a wait is at most. */
const JITTER = waitSeconds(1, 1) / waitSeconds(1, 0) - 1;
const QUEUES = 'src/traffic/database-queues.ts';
const ATTEMPT_LIMITS = 'src/delivery/attempt-limits.ts';
const DELIVERIES = 'src/delivery/deliveries.ts';
const FORMS = 'src/dashboard/http/forms.ts';
const TRACES = 'src/observability/tracing/open-telemetry.ts';
const CLIENT_MAXIMA = constantsIn('src/client').flatMap(({ file, name, text }) =>
  file === 'src/client/settings.ts' && name === 'max' ? [Number(text.replaceAll('_', ''))] : [],
);
const CHANGES_DAYS =
  Number(/\d+/.exec(constantsIn('src/store').find(({ name }) => name === 'PERIOD')?.text ?? '')?.[0]) / 24;
const KEEP_ALIVE = Object.entries(KEEP_ALIVE_SETTINGS).map(([, value]) => Number(value));
const [keepAliveIdle = 0, keepAliveInterval = 0, keepAliveCount = 0] = KEEP_ALIVE;

export type Fact = readonly [file: string, pattern: RegExp, ...values: readonly (number | undefined)[]];

/** Each group of the pattern is a number. The pattern matches wherever the text says so, and at least once. */
export const FACTS: readonly Fact[] = [
  [
    'openapi/guides/configuration.md',
    /embedded PostgreSQL 18 in `DATA_DIR` or the server in `DATABASE_URL`: PostgreSQL (\d+) or newer/,
    OLDEST_VERSION,
  ],
  [
    'openapi/guides/configuration.md',
    /(\w+) stay open while the server is idle; the others close after (\w+) idle minutes/,
    KEPT_CONNECTIONS,
    CONNECTION_IDLE_SECONDS / 60,
  ],
  ['openapi/guides/operating.md', /after at most (\w+) seconds/, TIMEOUT_MS / 1000],
  ['openapi/guides/operating.md', /keeps idle connections for (\w+) second in case/, SHUTDOWN_IDLE_SECONDS],
  ['openapi/guides/operating.md', /longer than `DRAIN_SECONDS` and (\d+) seconds are cut off/, STOP_SECONDS],
  ['src/server.ts', /waits at most (\d+) seconds for the requests in progress/, STOP_SECONDS],
  ['src/server.ts', /(\d+) and (\d+) seconds by default/, LIMITS.headersSeconds, LIMITS.requestSeconds],
  ['src/server.ts', /does not read a response for this time; (\d+) by default/, STALLED_SECONDS],
  ['openapi/guides/decisions.md', /reads nothing of a response for (\d+) seconds/, STALLED_SECONDS],
  [
    'openapi/guides/errors.md',
    /its headers within (\d+) seconds, or the whole request within (\d+) seconds/,
    LIMITS.headersSeconds,
    LIMITS.requestSeconds,
  ],
  [
    'openapi/components/responses/RequestTimeoutException.yaml',
    /its headers within (\d+) seconds, or the whole request within (\d+) seconds/,
    LIMITS.headersSeconds,
    LIMITS.requestSeconds,
  ],
  [
    'openapi/guides/errors.md',
    /body is larger than ([\d,]+) bytes \((\d+) KiB\)/,
    MAX_REQUEST_BODY_BYTES,
    MAX_REQUEST_BODY_BYTES / KIB,
  ],
  ['openapi/guides/errors.md', /longer than ([\d,]+) bytes \((\d+) KiB\)/, MAX_URL_BYTES, MAX_URL_BYTES / KIB],
  [
    'openapi/guides/decisions.md',
    /body of up to (\d+) KiB \(413\) and a URL of up to (\d+) KiB/,
    MAX_REQUEST_BODY_BYTES / KIB,
    MAX_URL_BYTES / KIB,
  ],
  [
    'openapi/guides/decisions.md',
    /not arrived within (\d+) seconds, or that has not arrived completely within (\d+) seconds/,
    LIMITS.headersSeconds,
    LIMITS.requestSeconds,
  ],
  ['openapi/guides/decisions.md', /remembered for (\d+) hours/, IDEMPOTENCY_HOURS],
  ['openapi/guides/decisions.md', /events are kept for (\d+) days/, readConfig({}).eventRetentionDays],
  ['openapi/guides/following-changes.md', /Events are kept for (\d+) days/, readConfig({}).eventRetentionDays],
  ['openapi/paths/events.yaml', /Events are kept for (\d+) days/, readConfig({}).eventRetentionDays],
  ['openapi/guides/receiving-events.md', /up to (\d+) for an organization/, MAX_ENDPOINTS],
  ['openapi/guides/receiving-events.md', /your clock by more than (\w+) minutes/, TOLERANCE_SECONDS / 60],
  ['openapi/guides/receiving-events.md', /For (\d+) hours, both the new and the previous/, PREVIOUS_SECRET_HOURS],
  ['openapi/guides/receiving-events.md', /If all attempts of (\d+) days fail/, MAX_FAILING_DAYS],
  ['openapi/guides/receiving-events.md', /within (\d+) seconds/, TIMEOUT_SECONDS],
  ['openapi/components/responses/EventReceived.yaml', /within (\d+) seconds/, TIMEOUT_SECONDS],
  ['openapi/guides/receiving-events.md', /first ([\d,]+) bytes in the dashboard/, MAX_RECEIVER_BODY_BYTES],
  [
    'openapi/guides/receiving-events.md',
    /(\d+) seconds after the first attempt has failed, then after (\d+) minutes, (\d+) minutes, (\d+) hours, (\d+) hours, (\d+) hours and (\d+) hours, up to (\d+) attempts in all. Each wait is up to (\d+)% longer/,
    ...WAITS,
    ATTEMPTS,
    Math.round(JITTER * 100),
  ],
  [
    'openapi/components/parameters/WebhookTimestamp.yaml',
    /your clock by more than (\w+) minutes/,
    TOLERANCE_SECONDS / 60,
  ],
  ['openapi/components/parameters/WebhookSignature.yaml', /For (\d+) hours after a rotation/, PREVIOUS_SECRET_HOURS],
  ['openapi/guides/decisions.md', /an expiry, (\d+) days by default/, DEFAULT_LIFE_DAYS],
  ['openapi/guides/decisions.md', /Up to (\d+) active keys per user/, MAX_ACTIVE_KEYS],
  [
    'openapi/guides/decisions.md',
    /(\d+) base62 characters \((\d+) random bits\), and (\d+) base62/,
    RANDOM_CHARACTERS,
    Math.floor(RANDOM_CHARACTERS * Math.log2(62)),
    CHECKSUM_CHARACTERS,
  ],
  ['openapi/guides/decisions.md', /(\d+) random bits cannot be guessed/, Math.floor(RANDOM_CHARACTERS * Math.log2(62))],
  [
    'openapi/guides/decisions.md',
    /`limit` from (\d+) to (\d+) \(default (\d+)\)/,
    Limit?.['minimum'],
    Limit?.['maximum'],
    Limit?.['default'],
  ],
  ['openapi/guides/decisions.md', /`search` \((\d+) to (\d+) characters/, Search?.['minLength'], Search?.['maxLength']],
  [
    'openapi/guides/decisions.md',
    /`name` \((\d+) to (\d+) characters\)/,
    program.name.minLength,
    program.name.maxLength,
  ],
  ['openapi/guides/decisions.md', /`description` \(up to ([\d,]+) characters/, program.description.maxLength],
  ['openapi/guides/decisions.md', /your own ID, up to (\d+) characters/, ExternalId?.['maxLength']],
  [
    'openapi/guides/decisions.md',
    /up to (\d+) text entries, with keys of up to (\d+) and values of up to (\d+) characters/,
    MAX_METADATA_ENTRIES,
    metadata.propertyNames.maxLength,
    metadata.additionalProperties.maxLength,
  ],
  ['openapi/guides/issuing-a-key.md', /up to (\d+) characters. No other key/, MAX_CHARACTERS.key],
  ['openapi/guides/issuing-a-key.md', /(\d+) active/, MAX_ACTIVE_KEYS],
  ['openapi/guides/mock-server.md', /a URL of more than (\d+) KiB/, MAX_URL_BYTES / KIB],
  ['openapi/guides/mock-server.md', /a body of more than (\d+) KiB/, MAX_REQUEST_BODY_BYTES / KIB],
  [
    'openapi/guides/pages-filters-sorting.md',
    /this text of (\d+) to (\d+) characters/,
    Search?.['minLength'],
    Search?.['maxLength'],
  ],
  ['openapi/guides/retries-and-idempotency.md', /up to (\d+) visible ASCII/, IdempotencyKey?.['maxLength']],
  ['openapi/guides/retries-and-idempotency.md', /(?:for|last|than) (\d+) hours/, IDEMPOTENCY_HOURS],
  ['openapi/guides/retries-and-idempotency.md', /each request; (\d+) seconds are enough/, LIMITS.requestSeconds],
  [
    'openapi/guides/retries-and-idempotency.md',
    /wait up to (half a) second, then (\w+) second, (\w+) and so on, up to (\d+) seconds/,
    ...[1, 2, 3].map((tries) => waitMsAfter({ ...AT_MOST, tries }) / 1000),
    waitMsAfter(AT_MOST) / 1000,
  ],
  [
    'openapi/guides/rotating-and-revoking.md',
    /the last (\d+)% of their life, at most (\d+) days/,
    100 / SOON_SHARE,
    SOON_DAYS,
  ],
  [
    'src/client/README.md',
    /waits (half a) second, and twice as long before each further retry, up to (\w+) seconds/,
    waitMsAfter({ ...AT_MOST, tries: 1 }) / 1000,
    waitMsAfter(AT_MOST) / 1000,
  ],
  ['src/client/README.md', /differs from the clock by more than (\w+) minutes/, TOLERANCE_SECONDS / 60],
  ['openapi/components/schemas/Metadata.yaml', /up to (\d+) entries/, MAX_METADATA_ENTRIES],
  ['openapi/components/schemas/ParentProgramUpdate.yaml', /At most (\d+) entries may remain/, MAX_METADATA_ENTRIES],
  ['openapi/components/parameters/IdempotencyKey.yaml', /\b(\d+) hours/, IDEMPOTENCY_HOURS],
  ['openapi/openapi.yaml', /JSON in UTF-8, up to (\d+) KiB/, MAX_REQUEST_BODY_BYTES / KIB],
  [
    'openapi/components/responses/PayloadTooLargeException.yaml',
    /([\d,]+) bytes \((\d+) KiB\)/,
    MAX_REQUEST_BODY_BYTES,
    MAX_REQUEST_BODY_BYTES / KIB,
  ],
  [
    'openapi/components/responses/UriTooLongException.yaml',
    /([\d,]+) bytes \((\d+) KiB\)/,
    MAX_URL_BYTES,
    MAX_URL_BYTES / KIB,
  ],
  ['src/dashboard/people/user.ts', /chooses a new password. It works for (an) hour/, LINK_HOURS.password_reset],
  ['src/dashboard/sign-in/forgotten-password.ts', /It works once, within (an) hour/, LINK_HOURS.password_reset],
  ['scripts/admin/commands.ts', /organization's name, at most (\d+) characters/, MAX_CHARACTERS.organization],
  [
    'openapi/guides/guarantees.md',
    /(\w+) tenths of the database connections serve/,
    10 * constantOf(QUEUES, 'API_SHARE'),
  ],
  [
    'openapi/guides/guarantees.md',
    /(\w+) tenths of the connections are divided/,
    10 * constantOf(QUEUES, 'DASHBOARD_SHARE'),
  ],
  [
    'openapi/guides/guarantees.md',
    /at most (\d+) milliseconds\. So/,
    constantOf('src/traffic/fair-queue.ts', 'MAX_PAUSE_MS'),
  ],
  [
    'openapi/guides/guarantees.md',
    /take up to (\d+) milliseconds/,
    constantOf('src/traffic/fair-queue.ts', 'MAX_PAUSE_MS'),
  ],
  [
    'openapi/guides/limits.md',
    /its response comes up to (\d+) milliseconds/,
    constantOf('src/api/pause.ts', 'REFUSAL_PAUSE_MS'),
  ],
  [
    'openapi/guides/guarantees.md',
    /waits for up to (\d+) milliseconds/,
    constantOf('src/api/pause.ts', 'REFUSAL_PAUSE_MS'),
  ],
  [
    'openapi/guides/guarantees.md',
    /has waited ([\d.]+) seconds for its turn gets a 503 .*?; a page of the dashboard, after ([\d.]+) seconds/,
    constantOf(QUEUES, 'API_WAIT_MS') / 1000,
    constantOf(QUEUES, 'DASHBOARD_WAIT_MS') / 1000,
  ],
  [
    'openapi/guides/guarantees.md',
    /At most (\w+) requests of a connection/,
    constantOf('src/connections.ts', 'MAX_CONCURRENT_REQUESTS'),
  ],
  [
    'openapi/guides/guarantees.md',
    /In (\w+) seconds, the first refusal/,
    constantOf('src/observability/sampled-log.ts', 'EVERY_MS') / 1000,
  ],
  [
    'openapi/guides/guarantees.md',
    /has at most (\d+) attempts in progress: (\d+) for an endpoint at first, up to (\d+) while it responds successfully within (a) second/,
    constantOf(ATTEMPT_LIMITS, 'MAX_ATTEMPTS'),
    constantOf(ATTEMPT_LIMITS, 'FIRST_LIMIT'),
    constantOf(ATTEMPT_LIMITS, 'MAX_LIMIT'),
    constantOf(ATTEMPT_LIMITS, 'SLOW_MS') / 1000,
  ],
  [
    'openapi/guides/guarantees.md',
    /Endpoints that fail have at most (a quarter) of all/,
    constantOf(ATTEMPT_LIMITS, 'MAX_FAILING') / constantOf(ATTEMPT_LIMITS, 'MAX_ATTEMPTS'),
  ],
  ['openapi/guides/guarantees.md', /repeat its attempts after (\d+) seconds/, constantOf(DELIVERIES, 'LEASE_SECONDS')],
  [
    'openapi/guides/guarantees.md',
    /waits up to (\w+) seconds for attempts in progress/,
    constantOf(DELIVERIES, 'STOP_MS') / 1000,
  ],
  ['README.md', /reads the same (\d+) rows/, Limit?.['default']],
  [
    'openapi/guides/limits.md',
    /\| key \|[^|]*\| ([\d,]+) per second \| \| organization \|[^|]*\| ([\d,]+) per second \| \| address \|[^|]*\| ([\d,]+) per second/,
    DEFAULT_LIMITS.perKey,
    DEFAULT_LIMITS.perOrganization,
    DEFAULT_LIMITS.perAddress,
  ],
  [
    'openapi/guides/limits.md',
    /the requests of ([\d.]+) seconds at once/,
    constantOf('src/store/rate-limits.ts', 'BURST_SECONDS'),
  ],
  [
    'openapi/guides/decisions.md',
    /for each key \(([\d,]+)\), for each organization \(([\d,]+)\) and, without a valid key, for each address \(([\d,]+),/,
    DEFAULT_LIMITS.perKey,
    DEFAULT_LIMITS.perOrganization,
    DEFAULT_LIMITS.perAddress,
  ],
  [
    'openapi/components/schemas/TooManyRequestsException.yaml',
    /API key can send ([\d,]+) requests per second/,
    DEFAULT_LIMITS.perKey,
  ],
  ['openapi/guides/managing-webhooks.md', /at most (\d+) endpoints/, MAX_ENDPOINTS],
  [
    'openapi/guides/managing-webhooks.md',
    /attempts of the last (\d+) days/,
    constantOf('src/dashboard/webhooks/endpoint.ts', 'SHOWN_DAYS'),
  ],
  ['openapi/guides/managing-webhooks.md', /see the first ([\d,]+) bytes/, MAX_RECEIVER_BODY_BYTES],
  [
    'openapi/guides/managing-webhooks.md',
    /at most (\w+) test events within a minute/,
    constantOf('src/service/webhooks/sending.ts', 'MAX_TESTS_PER_MINUTE'),
  ],
  ['openapi/guides/managing-webhooks.md', /(?:within|For) (\d+) hours/, PREVIOUS_SECRET_HOURS],
  ['openapi/guides/managing-webhooks.md', /every attempt of (\w+) days has failed/, MAX_FAILING_DAYS],
  ['openapi/guides/decisions.md', /during the (\d+) hours after the rotation of a secret/, PREVIOUS_SECRET_HOURS],
  [
    'openapi/guides/decisions.md',
    /attempts of a webhook \| (\d+): at once, then (\d+) seconds, (\d+) minutes, (\d+) minutes, (\d+) hours, (\d+) hours, (\d+) hours and (\d+) hours after the failure before, each wait up to (a tenth) longer/,
    ATTEMPTS,
    ...WAITS,
    Math.round(JITTER * 100) / 100,
  ],
  [
    'openapi/guides/decisions.md',
    /the whole response may take (\d+) seconds, and its first (\d+) KiB is kept/,
    TIMEOUT_SECONDS,
    MAX_RECEIVER_BODY_BYTES / KIB,
  ],
  ['openapi/guides/decisions.md', /after (\w+) days of failures alone/, MAX_FAILING_DAYS],
  [
    'openapi/guides/mock-server.md',
    /begins with (\d+) parent programs that are made from the examples\. It keeps up to ([\d,]+), until/,
    constantOf('scripts/mock/collection.ts', 'ITEMS'),
    constantOf('scripts/mock/store.ts', 'MAX_ITEMS'),
  ],
  [
    'openapi/guides/mock-server.md',
    /or `delay=2s`\), up to (\d+) seconds/,
    constantOf('scripts/mock/preferences.ts', 'MAX_DELAY_MS') / 1000,
  ],
  [
    'openapi/guides/operating.md',
    /replaces a worker that ends: after ([\d.]+) seconds/,
    constantOf('src/workers/workers.ts', 'BACK_OFF_MS.first') / 1000,
  ],
  ['openapi/guides/monitoring.md', /[Oo]nce (a) minute/, constantOf(DELIVERIES, 'REPORT_SECONDS') / 60],
  ['openapi/guides/monitoring.md', /Up to ([\d,]+) spans wait in memory/, constantOf(TRACES, 'MAX_QUEUED_SPANS')],
  [
    'openapi/guides/monitoring.md',
    /fails for (\w+) seconds is given up/,
    constantOf(TRACES, 'EXPORT_TIMEOUT_MS') / 1000,
  ],
  ['openapi/guides/monitoring.md', /takes (\w+) seconds at most/, constantOf(TRACES, 'CLOSE_MS') / 1000],
  ['openapi/guides/postgresql.md', /`\/readyz` returns 503 within (\w+) seconds/, TIMEOUT_MS / 1000],
  [
    'openapi/guides/postgresql.md',
    /server has left open after (\d+) seconds, .*? the connections of that server after (\w+) minutes/,
    Number.parseInt(SESSION_SETTINGS['idle_in_transaction_session_timeout'] ?? '', 10),
    (keepAliveIdle + keepAliveInterval * keepAliveCount) / 60,
  ],
  ['openapi/guides/postgresql.md', /wrong by more than (\w+) minutes, receivers refuse/, TOLERANCE_SECONDS / 60],
  [
    'openapi/guides/pages-filters-sorting.md',
    /on a page, from (\d+) to (\d+)\. The default is (\d+)/,
    Limit?.['minimum'],
    Limit?.['maximum'],
    Limit?.['default'],
  ],
  [
    'openapi/guides/rotating-and-revoking.md',
    /in each of the last (\d+) hours and (\d+) days/,
    SHOWN_PERIODS.hour,
    SHOWN_PERIODS.day,
  ],
  [
    'openapi/guides/rotating-and-revoking.md',
    /requests of the last (\d+) days and of the last (\d+) hours/,
    SHOWN_PERIODS.day,
    SHOWN_PERIODS.hour,
  ],
  [
    'openapi/guides/rotating-and-revoking.md',
    /recorded once (a) minute/,
    constantOf('src/traffic/last-used.ts', 'EVERY_SECONDS') / 60,
  ],
  ['openapi/guides/scaling.md', /one statement in (\d+) milliseconds/, LEASE_INTERVAL_MS],
  [
    'openapi/guides/scaling.md',
    /the changes of (\d+) days of creation, unless they are more than ([\d,]+)\. Then it reads these (\d+) days/,
    CHANGES_DAYS,
    constantOf('src/store/parent-program-changes.ts', 'MOST_SORTED'),
    CHANGES_DAYS,
  ],
  [
    'src/client/README.md',
    /as `Retry-After` says, plus up to (half a) second/,
    waitMsAfter({ tries: 1, headers: new Headers({ 'Retry-After': '0' }), random: 1 }) / 1000,
  ],
  [
    'src/client/README.md',
    /`timeoutMs` *\| ([\d,]+) *\| .*?, (\d+) to ([\d,]+) *\| \| `retries` *\| (\d+) *\| .*?, 0 to (\d+) *\| \| `totalTimeoutMs` *\| ([\d,]+) *\| .*?, 1 to ([\d,]+) /,
    constantOf('src/client/settings.ts', 'options.timeoutMs'),
    1,
    CLIENT_MAXIMA[0],
    constantOf('src/client/settings.ts', 'options.retries'),
    CLIENT_MAXIMA[1],
    constantOf('src/client/settings.ts', 'options.totalTimeoutMs'),
    CLIENT_MAXIMA[2],
  ],
  [
    'openapi/openapi.yaml',
    /(\d+) base62 characters, and a checksum of (\d+) base62 characters/,
    RANDOM_CHARACTERS,
    CHECKSUM_CHARACTERS,
  ],
  ['openapi/paths/parent_programs.yaml', /For (\d+) hours, a request with/, IDEMPOTENCY_HOURS],
  [
    'openapi/components/schemas/Metadata.yaml',
    /has (\d+) to (\d+) characters, and its value is a string of up to (\d+) characters/,
    metadata.propertyNames.minLength,
    metadata.propertyNames.maxLength,
    metadata.additionalProperties.maxLength,
  ],
  [
    'openapi/components/schemas/PayloadTooLargeException.yaml',
    /larger than (\d+) bytes \((\d+) KiB\)/,
    MAX_REQUEST_BODY_BYTES,
    MAX_REQUEST_BODY_BYTES / KIB,
  ],
  [
    'openapi/components/schemas/UriTooLongException.yaml',
    /longer than (\d+) bytes \((\d+) KiB\)/,
    MAX_URL_BYTES,
    MAX_URL_BYTES / KIB,
  ],
  [
    'openapi/components/schemas/RequestTimeoutException.yaml',
    /did not arrive within (\d+) seconds/,
    LIMITS.requestSeconds,
  ],
  [
    'openapi/components/schemas/ValidationException.yaml',
    /must be an integer from (\d+) to (\d+)/,
    Limit?.['minimum'],
    Limit?.['maximum'],
  ],
  ['src/dashboard/http/request-error.ts', /larger than (\d+) KiB/, constantOf(FORMS, 'MAX_FORM_BYTES') / KIB],
  ['src/dashboard/webhooks/endpoint.ts', /responds with 2xx within (\d+) seconds/, TIMEOUT_SECONDS],
  ['src/dashboard/webhooks/cells.ts', /None in (\d+) days/, constantOf('src/store/webhook-expiry.ts', 'DAYS_KEPT')],
  [
    'src/dashboard/audit-log/page.ts',
    /Last (\d) days/,
    constantOf('src/dashboard/audit-log/page.ts', 'PRESETS.1.days'),
  ],
  [
    'src/dashboard/audit-log/page.ts',
    /Last (\d\d) days/,
    constantOf('src/dashboard/audit-log/page.ts', 'PRESETS.2.days'),
  ],
  ['src/api/request-target.ts', /bytes \((\d+) KiB\)/, MAX_URL_BYTES / KIB],
  ['src/api/request-body.ts', /bytes \((\d+) KiB\)/, MAX_REQUEST_BODY_BYTES / KIB],
  ['src/api/unreadable-request.ts', /larger than (\d+) KiB together/, maxHeaderSize / KIB],
  ['src/config.ts', /a key of (\d+) bytes/, constantOf('src/domain/keyring.ts', 'KEY_BYTES')],
  ['src/postgres/encryption-key-file.ts', /a key of (\d+) bytes/, constantOf('src/domain/keyring.ts', 'KEY_BYTES')],
  [
    'src/postgres/connection-problem.ts',
    /no answer for (\d+) seconds/,
    constantOf('src/postgres/connection-problem.ts', 'connectionTimeoutMillis') / 1000,
  ],
  [
    'src/observability/metrics/delivery-metrics.ts',
    /Counted once (a) minute/,
    constantOf(DELIVERIES, 'REPORT_SECONDS') / 60,
  ],
  [
    'scripts/admin/commands.ts',
    /oldest first, at most ([\d,]+)/,
    constantOf('src/store/unscoped.ts', 'MAX_ORGANIZATIONS'),
  ],
];
