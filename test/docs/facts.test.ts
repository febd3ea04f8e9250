// Numbers, defaults, names and commands in the texts are those of the code. Each stands here once, as the pattern that finds
// it in a text and the value of the code. Add a line for each new one.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MAX_BODY_BYTES } from '../../src/api/request-body.ts';
import { MAX_URL_BYTES } from '../../src/api/request-target.ts';
import { isNotExecuted, isTemporary, waitMsAfter } from '../../src/client/retrying.ts';
import { TOLERANCE_SECONDS } from '../../src/client/webhooks.ts';
import { readConfig } from '../../src/config.ts';
import { retryMsAfter } from '../../src/delivery/schedule.ts';
import { MAX_BODY_BYTES as RESPONSE_BYTES, TIMEOUT_SECONDS } from '../../src/delivery/sender.ts';
import { LINK_HOURS } from '../../src/domain/access-link.ts';
import {
  CHECKSUM_CHARACTERS,
  DEFAULT_LIFE_DAYS,
  MAX_ACTIVE_KEYS,
  RANDOM_CHARACTERS,
  SOON_DAYS,
  SOON_SHARE,
} from '../../src/domain/api-key.ts';
import { MAX_CHARACTERS } from '../../src/domain/name.ts';
import { MAX_METADATA_ENTRIES } from '../../src/domain/parent-program.ts';
import { PASSWORD_CHARACTERS, PASSWORD_CHARACTERS_WITH_SECOND_FACTOR } from '../../src/domain/password.ts';
import { SESSION_HOURS, SESSION_IDLE_MINUTES } from '../../src/domain/session.ts';
import { StartUpError } from '../../src/domain/start-up-error.ts';
import { MAX_ENDPOINTS, MAX_FAILING_DAYS, PREVIOUS_SECRET_HOURS } from '../../src/domain/webhook-endpoint.ts';
import { TIMEOUT_MS } from '../../src/operations/health.ts';
import { EXTENSIONS, OLDEST_VERSION } from '../../src/postgres/migrate.ts';
import { IDLE_SECONDS as IDLE_SECONDS_OF_SHUTDOWN } from '../../src/run.ts';
import { LIMITS, STOP_SECONDS } from '../../src/server.ts';
import { IDLE_SECONDS as IDLE_SECONDS_OF_POOL, KEPT_CONNECTIONS } from '../../src/store/database.ts';
import { IDEMPOTENCY_HOURS } from '../../src/store/idempotency-keys.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFile(join(ROOT, file), 'utf8');

const contract = JSON.parse(await read('generated/openapi.json'));
const { Limit, Search, ExternalId, IdempotencyKey } = Object.fromEntries(
  Object.entries<{ schema: Record<string, number> }>(contract.components.parameters).map(([name, { schema }]) => [
    name,
    schema,
  ]),
);
const program = contract.components.schemas.ParentProgramCreate.properties;
const metadata = contract.components.schemas.Metadata;

const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** The number as the pattern captured it: "2", "two", "10,000", "half a" or "another". */
function numberOf(text: string): number {
  if (text === 'half a') return 0.5;
  if (text === 'another' || text === 'an' || text === 'a') return 1;
  const word = WORDS.indexOf(text.toLowerCase());
  return word >= 0 ? word : Number(text.replaceAll(',', ''));
}

const waitSeconds = (failures: number, random: number) => (retryMsAfter(failures, random) ?? 0) / 1000;
/** The first attempt, and one after each wait. */
const ATTEMPTS = [...Array(100).keys()].findIndex((i) => retryMsAfter(i + 1, 0) === null) + 1;
const KIB = 1024;
const AT_MOST = { tries: 100, headers: undefined, random: 1 };

type Fact = readonly [file: string, pattern: RegExp, ...values: readonly (number | undefined)[]];

/** Each group of the pattern is a number. The pattern matches wherever the text says so, and at least once. */
const FACTS: readonly Fact[] = [
  ['README.md', /the same response again for (\d+) hours/, IDEMPOTENCY_HOURS],
  [
    'README.md',
    /embedded PostgreSQL 18 in `DATA_DIR` or the server in `DATABASE_URL`: PostgreSQL (\d+) or newer/,
    OLDEST_VERSION,
  ],
  [
    'README.md',
    /(\w+) stay open while the server is idle; the others close after (\w+) idle minutes/,
    KEPT_CONNECTIONS,
    IDLE_SECONDS_OF_POOL / 60,
  ],
  ['openapi/guides/operating.md', /after at most (\w+) seconds/, TIMEOUT_MS / 1000],
  ['openapi/guides/operating.md', /keeps idle connections for (\w+) second in case/, IDLE_SECONDS_OF_SHUTDOWN],
  ['openapi/guides/operating.md', /longer than `DRAIN_SECONDS` and (\d+) seconds are cut off/, STOP_SECONDS],
  ['src/server.ts', /waits at most (\d+) seconds for the requests in progress/, STOP_SECONDS],
  ['src/server.ts', /(\d+) and (\d+) seconds by default/, LIMITS.headersSeconds, LIMITS.requestSeconds],
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
    MAX_BODY_BYTES,
    MAX_BODY_BYTES / KIB,
  ],
  ['openapi/guides/errors.md', /longer than ([\d,]+) bytes \((\d+) KiB\)/, MAX_URL_BYTES, MAX_URL_BYTES / KIB],
  [
    'openapi/guides/decisions.md',
    /body of up to (\d+) KiB \(413\) and a URL of up to (\d+) KiB/,
    MAX_BODY_BYTES / KIB,
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
  ['openapi/guides/receiving-events.md', /first ([\d,]+) bytes in the dashboard/, RESPONSE_BYTES],
  [
    'openapi/guides/receiving-events.md',
    /(\d+) seconds after the first attempt has failed, then after (\d+) minutes, (\d+) minutes, (\d+) hours, (\d+) hours, (\d+) hours and (\d+) hours, up to (\d+) attempts in all. Each wait is up to (\d+)% longer/,
    ...[1, 60, 60, 3600, 3600, 3600, 3600].map((unit, i) => waitSeconds(i + 1, 0) / unit),
    ATTEMPTS,
    Math.round((waitSeconds(1, 1) / waitSeconds(1, 0) - 1) * 100),
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
  ['openapi/guides/mock-server.md', /a body of more than (\d+) KiB/, MAX_BODY_BYTES / KIB],
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
  ['openapi/openapi.yaml', /JSON in UTF-8, up to (\d+) KiB/, MAX_BODY_BYTES / KIB],
  [
    'openapi/components/responses/PayloadTooLargeException.yaml',
    /([\d,]+) bytes \((\d+) KiB\)/,
    MAX_BODY_BYTES,
    MAX_BODY_BYTES / KIB,
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
];

const facts = FACTS.map(([file, pattern, ...values]) => ({ file, pattern, values }));

test.each(facts)('$file: $pattern', async ({ file, pattern, values }) => {
  const found = [...(await read(file)).replace(/\n */g, ' ').matchAll(new RegExp(pattern, 'g'))];
  expect(found.length).toBeGreaterThan(0);
  for (const [, ...texts] of found) expect(texts.map(numberOf)).toEqual(values);
});

// Of the constants that tests replace or never wait for. A change of one is a decision, and belongs here too.
test('the limits of real time are those that were decided', () => {
  expect({
    LIMITS,
    STOP_SECONDS,
    TIMEOUT_MS,
    IDLE_SECONDS_OF_SHUTDOWN,
    IDLE_SECONDS_OF_POOL,
    IDEMPOTENCY_HOURS,
  }).toEqual({
    LIMITS: { headersSeconds: 10, requestSeconds: 30 },
    STOP_SECONDS: 25,
    TIMEOUT_MS: 2000,
    IDLE_SECONDS_OF_SHUTDOWN: 1,
    IDLE_SECONDS_OF_POOL: 300,
    IDEMPOTENCY_HOURS: 24,
  });
  expect({
    PASSWORD_CHARACTERS,
    PASSWORD_CHARACTERS_WITH_SECOND_FACTOR,
    SESSION_HOURS,
    SESSION_IDLE_MINUTES,
    LINK_HOURS,
  }).toEqual({
    PASSWORD_CHARACTERS: 15,
    PASSWORD_CHARACTERS_WITH_SECOND_FACTOR: 12,
    SESSION_HOURS: 12,
    SESSION_IDLE_MINUTES: 30,
    LINK_HOURS: { invitation: 72, password_reset: 1 },
  });
});

const readme = await read('README.md');
const variables = [...readme.matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*) \|$/gm)].map(
  ([, name = '', initial = '', words = '']) => ({ name, initial, words }),
);

/** The values that the server allows for a variable, as it says itself. */
function allowedFor(name: string): string {
  try {
    // The other variables of the traces are read only with this one.
    readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', [name]: '?' });
  } catch (error) {
    if (error instanceof StartUpError) return error.remedy;
    throw error;
  }
  return '';
}

test('the ranges and the words that the README allows for a variable are those that the server allows', () => {
  const ranges = variables.flatMap(({ name, words }) =>
    [...words.matchAll(/\b\d+ to \d+/g)].map(([range]) => ({ name, range })),
  );
  expect(ranges.length).toBeGreaterThanOrEqual(4);
  for (const { name, range } of ranges)
    expect({ name, allowed: allowedFor(name) }).toEqual({ name, allowed: expect.stringContaining(`from ${range},`) });
  for (const { name, words } of variables) {
    const allowed = /one of (.*?), or unset/.exec(allowedFor(name))?.[1]?.split(', ') ?? [];
    for (const word of allowed)
      expect({ name, words }).toEqual({ name, words: expect.stringContaining(`\`${word}\``) });
  }
});

test('the defaults in the README are those of the configuration', () => {
  const {
    port,
    host,
    databasePoolSize,
    acceptsNewerDatabase,
    dataDir,
    responseCacheBytes,
    responseCheck,
    eventRetentionDays,
    drainSeconds,
    logLevel,
    nodeEnv,
    environment,
  } = readConfig({});
  const defaults = new Map(variables.map(({ name, initial }) => [name, initial]));
  const expected = {
    PORT: port,
    HOST: host,
    DATABASE_POOL_SIZE: databasePoolSize,
    NEWER_DATABASE: acceptsNewerDatabase ? 'accept' : 'refuse',
    DATA_DIR: dataDir,
    RESPONSE_CACHE_MIB: responseCacheBytes / 1024 / 1024,
    RESPONSE_CHECK_SAMPLE_RATE: responseCheck?.sampleRate,
    EVENT_RETENTION_DAYS: eventRetentionDays,
    DRAIN_SECONDS: drainSeconds,
    LOG_LEVEL: logLevel,
    NODE_ENV: nodeEnv,
    CHARTER_ENVIRONMENT: environment,
  };
  for (const [name, value] of Object.entries(expected))
    expect([name, defaults.get(name)]).toEqual([name, `\`${value}\``]);
  expect(defaults.get('RESPONSE_CHECK')).toBe(`\`${responseCheck?.mode}\` in development, else \`off\``);
  for (const name of ['MAIL_FROM', 'SMTP_URL', 'TRUSTED_PROXIES'])
    expect([name, defaults.get(name)]).toEqual([name, 'none']);
});

test('the README names the extensions and the oldest Node that the code requires', async () => {
  for (const extension of EXTENSIONS) expect(readme).toContain(`\`${extension}\``);
  const { engines } = JSON.parse(await read('package.json'));
  const [, oldest] = /Node older than\s+([\d.]+),/.exec(readme) ?? [];
  expect(`>=${oldest}`).toBe(engines.node);
  expect(await read('scripts/run.mjs')).toContain(`OLDEST_NODE = [${oldest?.replace('.', ', ')}]`);
});

const ERROR_STATUSES = Array.from({ length: 200 }, (_, i) => 400 + i);
const RETRIED = ERROR_STATUSES.filter(isTemporary);
const ALWAYS_RETRIED = ERROR_STATUSES.filter(isNotExecuted);

/** The error statuses in a text. */
const statusesIn = (text = '') => (text.match(/\b[45]\d\d\b/g) ?? []).map(Number);

test('the guide on retries repeats the statuses that charter-client repeats, and no others', async () => {
  const guide = await read('openapi/guides/retries-and-idempotency.md');
  const rows = [...guide.matchAll(/^\| ((?:\d{3}).*?) \| (.*?) \|$/gm)];
  const advice = rows.flatMap(([, result, words = '']) =>
    statusesIn(result).map((status) => ({ status, isRepeated: /^(yes|the same)\b/.test(words) })),
  );
  expect(advice.map(({ status }) => status)).toEqual(expect.arrayContaining([...RETRIED, 409, 412, 500]));
  expect(advice).toEqual(advice.map(({ status }) => ({ status, isRepeated: isTemporary(status) })));
});

test('the guide on errors repeats the statuses that charter-client repeats, and no others', async () => {
  const guide = await read('openapi/guides/errors.md');
  const rows = [...guide.matchAll(/^\| (\d{3}) \| \[\w+\]\(.*?\) \| (.*?) \|$/gm)].map(
    ([, status = '', words = '']) => ({ status: Number(status), words }),
  );
  const sections = guide.split(/^## (?=\d{3} )/m).slice(1);
  const actions = sections.map((section) => ({
    status: Number(section.slice(0, 3)),
    words: /^\*\*What to do\.\*\* (.*)$/m.exec(section)?.[1] ?? '',
  }));
  const items = Object.values<Record<string, { readonly responses?: object }>>(contract.paths);
  const declared = items
    .flatMap((item) => Object.values(item))
    .flatMap(({ responses = {} }) => statusesIn(Object.keys(responses).join(' ')));
  for (const advice of [rows, actions]) {
    expect(new Set(advice.map(({ status }) => status))).toEqual(new Set(declared));
    expect(advice.filter(({ words }) => words === '')).toEqual([]);
    expect(advice.map(({ status, words }) => ({ status, isRepeated: /^(retry|repeat)\b/i.test(words) }))).toEqual(
      advice.map(({ status }) => ({ status, isRepeated: isTemporary(status) })),
    );
  }
});

test("the client's README names the statuses that the client repeats, and those that it does not", async () => {
  const text = (await read('src/client/README.md')).replaceAll('\n', ' ');
  const [, always] = /The client retries every request after (.*?), because/.exec(text) ?? [];
  expect(statusesIn(always)).toEqual(ALWAYS_RETRIED);
  const [, ifSafe] = /After a broken connection, a timeout, and (.*?), it retries a request if/.exec(text) ?? [];
  expect(statusesIn(ifSafe)).toEqual(RETRIED.filter((status) => !ALWAYS_RETRIED.includes(status)));
  const [, never] = /The client does not retry after (.*?), because/.exec(text) ?? [];
  expect(statusesIn(never)).toEqual([500]);
  expect(isTemporary(500)).toBe(false);
});

/** Each command of package.json with the source of its entry and of the files beside it. */
async function readSources(): Promise<ReadonlyMap<string, string>> {
  const launcher = await read('scripts/run.mjs');
  const entries = [...launcher.matchAll(/^ {2}'?([\w:-]+)'?: \{ entry: '([^']+)'/gm)];
  const sources = entries.map(async ([, name = '', entry = '']) => {
    if (entry.startsWith('node_modules/')) return [name, ''] as const;
    const folder = dirname(entry);
    const isFolder = entry.endsWith('/main.ts') && folder !== 'src';
    const files = isFolder ? (await readdir(join(ROOT, folder))).filter((each) => each.endsWith('.ts')) : [];
    const texts = await Promise.all([read(entry), ...files.map((each) => read(join(folder, each)))]);
    return [name, texts.join('\n')] as const;
  });
  return new Map(await Promise.all(sources));
}

const USE = /npm (?:run (?:--silent )?([\w:-]*\w)|(start|test)\b)(?: -- ([^`\n#]*))?/g;
/** The shorthand of the README's tables: "`-- --check`" after the command of the row. */
const SHORTHAND = /^\| `npm run ([\w:-]+)(?: -- [^`]*)?` \|.*$/gm;

test('every npm command in the texts exists, with the options that they name', async () => {
  const sources = await readSources();
  const { scripts } = JSON.parse(await read('package.json'));
  expect([...sources.keys()].toSorted()).toEqual(Object.keys(scripts).toSorted());
  const unknown: string[] = [];
  const check = (where: string, command: string, words: string) => {
    const source = sources.get(command);
    if (source === undefined) unknown.push(`${where}: npm run ${command}`);
    for (const [, option = ''] of words.matchAll(/--([a-z][a-z-]*)/g)) {
      const isKnown = new RegExp(`\\b${option}'?: (\\{ (type|\\.\\.\\.flag)|flag|text)|'--${option}[ ']`).test(
        source ?? '',
      );
      if (!isKnown && !(option === 'help' && command === 'admin'))
        unknown.push(`${where}: npm run ${command} -- --${option}`);
    }
    const [verb = ''] = /^[a-z][a-z-]+/.exec(words) ?? [];
    if (command === 'admin' && verb !== '' && !source?.includes(`.command('${verb}')`))
      unknown.push(`${where}: ${verb}`);
  };
  for (const file of await markdownFiles()) {
    const text = await read(file);
    for (const [, run, short, words = ''] of text.matchAll(USE)) check(file, run ?? short ?? '', words);
    for (const [row, command = ''] of text.matchAll(SHORTHAND))
      for (const [, words = ''] of row.matchAll(/`-- ([^`]*)`/g)) check(file, command, words);
  }
  expect(unknown).toEqual([]);
});

async function markdownFiles(): Promise<string[]> {
  const listed = await Promise.all(
    ['openapi', 'src'].map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((each) => join(folder, each)),
    ),
  );
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...listed.flat().filter((each) => each.endsWith('.md'))];
}
