// The limits, times and defaults in the README, the guides, the contract and the texts of the packages must be those of the
// code.
import { MAX_REQUEST_BODY_BYTES } from '../../src/api/operation.ts';
import { MAX_URL_BYTES } from '../../src/api/unreadable-request.ts';
import { MAX_DELETED_PERCENT } from '../../src/client/import/options.ts';
import { waitMsAfter } from '../../src/client/sending.ts';
import { readSettings } from '../../src/client/settings.ts';
import { TOLERANCE_SECONDS } from '../../src/client/webhooks.ts';
import { readConfig } from '../../src/config.ts';
import { MAX_REPORT } from '../../src/dashboard/report-key.ts';
import { retryMsAfter } from '../../src/delivery/attempt.ts';
import { TIMEOUT_SECONDS } from '../../src/delivery/sender.ts';
import { MAX_ALLOWED_ADDRESSES } from '../../src/domain/keys/address-list.ts';
import {
  CHECKSUM_CHARACTERS,
  DEFAULT_LIFE_DAYS,
  MAX_ACTIVE_KEYS,
  RANDOM_CHARACTERS,
  SOON_DAYS,
  SOON_SHARE,
} from '../../src/domain/keys/api-key.ts';
import {
  LIMITED_PER_HOUR,
  MAX_UNUSED_DAYS,
  MIN_UNUSED_DAYS,
  NOTICE_DAYS,
  ONE_NETWORK_DAYS,
  UNUSED_GRACE_DAYS,
  USED_WITHIN_DAYS,
} from '../../src/domain/keys/key-notice.ts';
import { KEPT_REQUESTS, MAX_USED_NETWORKS, SHOWN_PERIODS } from '../../src/domain/keys/key-usage.ts';
import { DEFAULT_LIMITS } from '../../src/domain/keys/request-limits.ts';
import { MAX_CHARACTERS } from '../../src/domain/name.ts';
import {
  MAX_ENDPOINTS,
  MAX_FAILING_DAYS,
  MAX_RECEIVER_BODY_BYTES,
  PREVIOUS_SECRET_HOURS,
} from '../../src/domain/webhooks/webhook-endpoint.ts';
import { TIMEOUT_MS } from '../../src/observability/health.ts';
import { OLDEST_POSTGRESQL } from '../../src/postgres/migrate.ts';
import { SHUTDOWN_IDLE_SECONDS } from '../../src/run.ts';
import { LIMITS, STALLED_SECONDS, STOP_SECONDS } from '../../src/server.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../src/service/integrations/change-integration.ts';
import { MAX_ACTIVE_INTEGRATIONS } from '../../src/service/integrations/integrations.ts';
import { MAX_REPORTED_KEYS } from '../../src/service/keys/report-keys.ts';
import { MAIL_ATTEMPTS, RETRY_MINUTES } from '../../src/store/keys/key-notices.ts';
import { IDEMPOTENCY_HOURS } from '../../src/store/resources/idempotency-keys.ts';
import { CONNECTION_IDLE_SECONDS, KEPT_CONNECTIONS } from '../../src/store/sql/database.ts';
import { KEEP_ALIVE_SETTINGS, SESSION_SETTINGS } from '../../src/store/sql/session-settings.ts';
import { read, sourcesIn, texts } from '../support/contract/texts.ts';

const sources = sourcesIn('src').map(read).join('\n');

/**
 * Returns the value of a constant that no module exports. The constant may be a number, or a sum or product of numbers and such
 * constants.
 */
function constant(name: string): number {
  if (/^[\d_.]+$/.test(name)) return Number(name.replaceAll('_', ''));
  const found = [...sources.matchAll(new RegExp(`\\bconst ${name} = ([\\w.]+(?: [*+] [\\w.]+)*)[;,]`, 'g'))];
  const [factors, ...others] = found.map(([, factors = '']) => factors);
  if (factors === undefined || others.length > 0)
    throw new Error(`${found.length} constants are named ${name}, not one.`);
  return factors
    .split(' + ')
    .map((term) => term.split(' * ').reduce((product, factor) => product * constant(factor), 1))
    .reduce((sum, term) => sum + term, 0);
}

const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const SHARES: Readonly<Record<string, number>> = { half: 0.5, 'half a': 0.5, 'a quarter': 0.25, 'a tenth': 0.1 };
const NUMBER_WORDS = [...Object.keys(SHARES), 'another', 'an', 'a', ...WORDS].map((word) =>
  word.replace(/^./, (first) => `[${first}${first.toUpperCase()}]`),
);
const NUMBER = `(\\d+(?:[.,]\\d+)*|${NUMBER_WORDS.join('|')})`;

/** Returns the number that the words express: "2", "two", "10,000", "half a" or "another". */
function numberOf(words: string): number {
  const lower = words.toLowerCase();
  if (/^(?:another|an?)$/.test(lower)) return 1;
  return SHARES[lower] ?? (WORDS.includes(lower) ? WORDS.indexOf(lower) : Number(words.replaceAll(',', '')));
}

const { components, paths } = JSON.parse(read('generated/openapi.json'));
const [limit, search, idempotencyKey] = ['Limit', 'Search', 'IdempotencyKey'].map(
  (parameter) => components.parameters[parameter].schema,
);
const { maxProperties, propertyNames, additionalProperties } = components.schemas.Metadata;

const MAX_BATCH_BYTES = paths['/api/parent_programs/batch'].post.requestBody['x-max-bytes'];
const MAX_CHANGES = components.schemas.ParentProgramBatch.properties.changes.maxItems;

const KIB = 1024;
const RANDOM_BITS = Math.floor(RANDOM_CHARACTERS * Math.log2(62));
const { eventRetentionDays } = readConfig({});
const client = readSettings({ baseUrl: 'https://charter.example.org', apiKey: 'key' });
const clientWait = (tries: number, headers?: Headers) => waitMsAfter({ tries, headers, random: 1 }) / 1000;
const retry = (failures: number, random = 0) => (retryMsAfter(failures, random) ?? 0) / 1000;
const RETRIES = [1, 60, 60, 3600, 3600, 3600, 3600].map((unit, i) => retry(i + 1) / unit);
const ATTEMPTS = RETRIES.length + 1;
const JITTER = retry(1, 1) / retry(1) - 1;
const RETRY_HOURS = Math.ceil(RETRY_MINUTES.reduce((sum, minutes) => sum + minutes, 0) / 60);
const [keepAliveIdle = 0, interval = 0, count = 0] = Object.values(KEEP_ALIVE_SETTINGS).map(Number);

/** Statements of the texts, each with its values in order. `#` stands for a number in digits or words. */
const FACTS: readonly (readonly [words: string, ...values: number[]])[] = [
  // Requests
  [
    'body of up to # KiB (413), of a batch up to # MiB, and a URL of up to # KiB',
    MAX_REQUEST_BODY_BYTES / KIB,
    MAX_BATCH_BYTES / KIB / KIB,
    MAX_URL_BYTES / KIB,
  ],
  ['up to # KiB, and up to # MiB for a batch', MAX_REQUEST_BODY_BYTES / KIB, MAX_BATCH_BYTES / KIB / KIB],
  ['makes up to # changes in one request of up to # MiB', MAX_CHANGES, MAX_BATCH_BYTES / KIB / KIB],
  [
    'larger than # bytes (# KiB) or, in a batch, # bytes (# MiB)',
    MAX_REQUEST_BODY_BYTES,
    MAX_REQUEST_BODY_BYTES / KIB,
    MAX_BATCH_BYTES,
    MAX_BATCH_BYTES / KIB / KIB,
  ],
  ['body is larger than # bytes (# MiB)', MAX_BATCH_BYTES, MAX_BATCH_BYTES / KIB / KIB],
  ['more than # changes, or an unknown action', MAX_CHANGES],
  ['array of 1 to # objects', MAX_CHANGES],
  ['JSON in UTF-8, up to # KiB', MAX_REQUEST_BODY_BYTES / KIB],
  ['a body of more than # KiB', MAX_REQUEST_BODY_BYTES / KIB],
  ['body is larger than # bytes (# KiB)', MAX_REQUEST_BODY_BYTES, MAX_REQUEST_BODY_BYTES / KIB],
  ['a URL of more than # KiB', MAX_URL_BYTES / KIB],
  ['is longer than # bytes (# KiB)', MAX_URL_BYTES, MAX_URL_BYTES / KIB],
  ['headers within # seconds, or the whole request within # seconds', LIMITS.headersSeconds, LIMITS.requestSeconds],
  [
    'headers have not arrived within # seconds, or that has not arrived completely within # seconds',
    LIMITS.headersSeconds,
    LIMITS.requestSeconds,
  ],
  ['The headers of the request did not arrive within # seconds', LIMITS.headersSeconds],
  ['The request did not arrive within # seconds', LIMITS.requestSeconds],
  ['reads nothing of a response for # seconds', STALLED_SECONDS],
  ['a timeout for each request; # seconds are enough', LIMITS.requestSeconds],
  ['pages of # to # (default #)', limit.minimum, limit.maximum, limit.default],
  ['on a page, from # to #. The default is #', limit.minimum, limit.maximum, limit.default],
  ['must be an integer from # to #', limit.minimum, limit.maximum],
  ['`search` takes # to # characters', search.minLength, search.maxLength],
  [
    'up to # text entries, with keys of up to # and values of up to # characters',
    maxProperties,
    propertyNames.maxLength,
    additionalProperties.maxLength,
  ],
  ['Your own data, as up to # entries', maxProperties],
  ['At most # entries may remain', maxProperties],
  [
    'an entry has # to # characters, and its value is a string of up to # characters',
    propertyNames.minLength,
    propertyNames.maxLength,
    additionalProperties.maxLength,
  ],
  ['up to # visible ASCII', idempotencyKey.maxLength],
  ['safe to retry: for # hours', IDEMPOTENCY_HOURS],
  ['For # hours, a request with the same idempotency key', IDEMPOTENCY_HOURS],
  ['remembers an idempotency key for # hours', IDEMPOTENCY_HOURS],
  ['for creations, remembered for # hours', IDEMPOTENCY_HOURS],
  ['was used with another body within the last # hours', IDEMPOTENCY_HOURS],
  ['even after more than # hours', IDEMPOTENCY_HOURS],
  // Limits and load
  ['| key | the requests of one API key | # per second |', DEFAULT_LIMITS.perKey],
  [
    '| organization | the requests of all API keys of your organization together | # per second |',
    DEFAULT_LIMITS.perOrganization,
  ],
  ['(`/64`) | # per second |', DEFAULT_LIMITS.perAddress],
  [
    'for each key (#), for each organization (#) and, without a valid key, for each address (#,',
    DEFAULT_LIMITS.perKey,
    DEFAULT_LIMITS.perOrganization,
    DEFAULT_LIMITS.perAddress,
  ],
  ['API key can send # requests per second', DEFAULT_LIMITS.perKey],
  ['the requests of # seconds at once', constant('BURST_SECONDS')],
  ['its response comes up to # milliseconds later', constant('REFUSAL_PAUSE_MS')],
  ['waits for up to # milliseconds', constant('REFUSAL_PAUSE_MS')],
  ['# tenths of the database connections serve', 10 * constant('API_SHARE')],
  ['# tenths of the connections are divided', 10 * constant('DASHBOARD_SHARE')],
  ['as long as the request took, at most # milliseconds', constant('MAX_PAUSE_MS')],
  ['has waited # seconds for its turn gets a 503', constant('API_WAIT_MS') / 1000],
  ['a page of the dashboard, after # seconds', constant('DASHBOARD_WAIT_MS') / 1000],
  ['At most # requests of a connection', constant('MAX_CONCURRENT_REQUESTS')],
  // Keys
  ['# base62 characters (# random bits), and # base62', RANDOM_CHARACTERS, RANDOM_BITS, CHECKSUM_CHARACTERS],
  ['# base62 characters, and a checksum of # base62 characters', RANDOM_CHARACTERS, CHECKSUM_CHARACTERS],
  ['an expiry, # days by default', DEFAULT_LIFE_DAYS],
  ['Up to # active keys per user', MAX_ACTIVE_KEYS],
  ['up to # active keys', MAX_ACTIVE_KEYS],
  ['up to # characters. No other key', MAX_CHARACTERS.key],
  ['the program; up to # characters', MAX_CHARACTERS.integration],
  ['where it runs; optional, up to # characters', MAX_DESCRIPTION_CHARACTERS],
  ['# active integrations, each with # active keys', MAX_ACTIVE_INTEGRATIONS, MAX_ACTIVE_KEYS],
  ['the last #% of their life, at most # days', 100 / SOON_SHARE, SOON_DAYS],
  ['in each of the last # hours and # days', SHOWN_PERIODS.hour, SHOWN_PERIODS.day],
  ['requests of the last # days and of the last # hours', SHOWN_PERIODS.day, SHOWN_PERIODS.hour],
  ['# days, # days and # day before, if the key was used within the last # days', ...NOTICE_DAYS, USED_WITHIN_DAYS],
  ['refused by a rate limit more than # times in an hour', LIMITED_PER_HOUR],
  ['from a new network after # days of one network', ONE_NETWORK_DAYS],
  ['a number of days, # to #, after which Charter revokes', MIN_UNUSED_DAYS, MAX_UNUSED_DAYS],
  ['No key ends sooner than # days after the setting', UNUSED_GRACE_DAYS],
  ['it is sent again, at most # times', MAIL_ATTEMPTS - 1],
  ['tries # more times within # hours', MAIL_ATTEMPTS - 1, RETRY_HOURS],
  ['list of up to # IP addresses and subnets', MAX_ALLOWED_ADDRESSES],
  ['was used in the past, up to #,', MAX_USED_NETWORKS],
  ['with up to # keys', MAX_REPORTED_KEYS],
  ['one of more than # KiB a 413', MAX_REPORT.bytes / KIB],
  ['any number of keys within # KiB', MAX_REPORT.bytes / KIB],
  ['can send # reports in # minutes', constant('MAX_REPORTS'), constant('QUARTER_HOUR') / 60],
  ['does not accept the report within # seconds', constant('FORWARD_TIMEOUT_MS') / 1000],
  ['share the limit of # in # minutes', constant('MAX_REPORTS'), constant('QUARTER_HOUR') / 60],
  // Events and webhooks
  ['vents are kept for # days', eventRetentionDays],
  ['up to # for an organization', MAX_ENDPOINTS],
  ['An organization has at most # endpoints', MAX_ENDPOINTS],
  ['your clock by more than # minutes', TOLERANCE_SECONDS / 60],
  ['wrong by more than # minutes, receivers refuse', TOLERANCE_SECONDS / 60],
  ['differs from the clock by more than # minutes', TOLERANCE_SECONDS / 60],
  ['For # hours, both the new and the previous', PREVIOUS_SECRET_HOURS],
  ['For # hours after a rotation', PREVIOUS_SECRET_HOURS],
  ['For # hours, each event', PREVIOUS_SECRET_HOURS],
  ['configure your receiver to use it within # hours', PREVIOUS_SECRET_HOURS],
  ['during the # hours after the rotation of a secret', PREVIOUS_SECRET_HOURS],
  ['If all attempts of # days fail', MAX_FAILING_DAYS],
  ['every attempt of # days has failed', MAX_FAILING_DAYS],
  ['after # days of failures alone', MAX_FAILING_DAYS],
  ['any 2xx status within # seconds', TIMEOUT_SECONDS],
  ['any other status, or none within # seconds', TIMEOUT_SECONDS],
  ['if you do not respond within # seconds', TIMEOUT_SECONDS],
  ['the whole response may take # seconds, and its first # KiB', TIMEOUT_SECONDS, MAX_RECEIVER_BODY_BYTES / KIB],
  ['first # bytes', MAX_RECEIVER_BODY_BYTES],
  [
    '# seconds after the first attempt has failed, then after # minutes, # minutes, # hours, # hours, # hours and # hours, up to # attempts in all. Each wait is up to #% longer',
    ...RETRIES,
    ATTEMPTS,
    Math.round(JITTER * 100),
  ],
  [
    'attempts of a webhook | #: at once, then # seconds, # minutes, # minutes, # hours, # hours, # hours and # hours after the failure before, each wait up to # longer',
    ATTEMPTS,
    ...RETRIES,
    Math.round(JITTER * 100) / 100,
  ],
  [
    'at most # attempts in progress: # for an endpoint at first, up to # while it responds successfully within # second',
    constant('MAX_ATTEMPTS'),
    constant('FIRST_LIMIT'),
    constant('MAX_LIMIT'),
    constant('SLOW_MS') / 1000,
  ],
  ['Endpoints that fail have at most # of all', constant('MAX_FAILING') / constant('MAX_ATTEMPTS')],
  ['repeat its attempts after # seconds', constant('LEASE_SECONDS')],
  ['waits up to # seconds for attempts in progress', constant('STOP_MS') / 1000],
  ['at most # test events within a minute', constant('MAX_TESTS_PER_MINUTE')],
  ['the oldest first, at most # at once', constant('MAX_RESENT')],
  ['the last # requests of # days that were refused', KEPT_REQUESTS.unsuccessful, KEPT_REQUESTS.days],
  ['attempts of the last # days', constant('SHOWN_DAYS')],
  // Signing in
  [
    'Sessions last at most # hours, and end after # minutes without use',
    constant('SESSION_HOURS'),
    constant('SESSION_IDLE_MINUTES'),
  ],
  // Operating
  ['PostgreSQL # or newer', OLDEST_POSTGRESQL],
  [
    '# stay open while the server is idle; the others close after # idle minutes',
    KEPT_CONNECTIONS,
    CONNECTION_IDLE_SECONDS / 60,
  ],
  ['`/readyz` returns 503, after at most # seconds', TIMEOUT_MS / 1000],
  ['`/readyz` returns 503 within # seconds', TIMEOUT_MS / 1000],
  ['keeps idle connections for # second', SHUTDOWN_IDLE_SECONDS],
  ['longer than `DRAIN_SECONDS` and # seconds are cut off', STOP_SECONDS],
  [
    'server has left open after # seconds',
    Number.parseInt(SESSION_SETTINGS['idle_in_transaction_session_timeout'] ?? '', 10),
  ],
  ['the connections of that server after # minutes', (keepAliveIdle + interval * count) / 60],
  ['Up to # spans wait in memory', constant('MAX_QUEUED_SPANS')],
  ['fails for # seconds is given up', constant('EXPORT_TIMEOUT_MS') / 1000],
  // charter-client
  [
    'wait up to # second, then # second, # and so on, up to # seconds',
    clientWait(1),
    clientWait(2),
    clientWait(3),
    clientWait(100),
  ],
  ['waits # second, and twice as long before each further retry, up to # seconds', clientWait(1), clientWait(100)],
  ['as `Retry-After` says, plus up to # second', clientWait(1, new Headers({ 'Retry-After': '0' }))],
  ['up to # of them, or # MiB, in one request', MAX_CHANGES, MAX_BATCH_BYTES / KIB / KIB],
  ['in batches of up to # changes and # MiB', MAX_CHANGES, MAX_BATCH_BYTES / KIB / KIB],
  ['sends batches of # rows', MAX_CHANGES],
  ['more than #% of the parent programs', MAX_DELETED_PERCENT],
  ['batch is retried up to # times within # minutes', constant('BATCH_RETRIES'), constant('BATCH_TIMEOUT_MS') / 60_000],
  ['the same changes within # hours', IDEMPOTENCY_HOURS],
  ['the default limit of # requests per second for a key', DEFAULT_LIMITS.perKey],
  ['`timeoutMs` | # |', client.timeoutMs],
  ['`retries` | # |', client.retries],
  ['`totalTimeoutMs` | # |', client.totalTimeoutMs],
  ['A call takes up to # seconds in all', constant('TOTAL_TIMEOUT_MS') / 1000],
  ['Lists return one page**, of # rows', limit.default],
];

/** Returns the numbers in the positions of `#`, for each occurrence of the words in the text. */
function numbersIn(text: string, words: string): number[][] {
  const escaped = words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', ' +');
  const pattern = new RegExp(escaped.replaceAll('#', NUMBER), 'g');
  return [...text.matchAll(pattern)].map(([, ...found]) => found.map(numberOf));
}

const facts = FACTS.map(([words, ...values]) => ({ words, values }));

test.each(facts)('the texts say "$words" as the code does', ({ words, values }) => {
  const found = [...texts].flatMap(([file, text]) => numbersIn(text, words).map((numbers) => ({ file, numbers })));
  // Fails if no text has these words. If a text was reworded, change the words above, too.
  expect(found).not.toEqual([]);
  expect(found).toEqual(found.map(({ file }) => ({ file, numbers: values })));
});

test('the response in the README has the fields of a parent program', () => {
  const [, sample = ''] = /```json\n(\{\n {2}"data".*?)```/s.exec(read('README.md')) ?? [];
  expect(Object.keys(JSON.parse(sample).data[0]).sort()).toEqual(
    Object.keys(components.schemas.ParentProgram.properties).sort(),
  );
});
