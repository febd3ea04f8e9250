// Numbers, defaults, names and commands in the texts are those of the code.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isNotExecuted, isTemporary } from '../../src/client/retrying.ts';
import { readConfig } from '../../src/config.ts';
import { LINK_HOURS } from '../../src/domain/access-link.ts';
import { PASSWORD_CHARACTERS, PASSWORD_CHARACTERS_WITH_SECOND_FACTOR } from '../../src/domain/password.ts';
import { SESSION_HOURS, SESSION_IDLE_MINUTES } from '../../src/domain/session.ts';
import { StartUpError } from '../../src/domain/start-up-error.ts';
import { TIMEOUT_MS } from '../../src/observability/health.ts';
import { EXTENSIONS } from '../../src/postgres/migrate.ts';
import { SHUTDOWN_IDLE_SECONDS } from '../../src/run.ts';
import { LIMITS, STALLED_SECONDS, STOP_SECONDS } from '../../src/server.ts';
import { CONNECTION_IDLE_SECONDS } from '../../src/store/database.ts';
import { IDEMPOTENCY_HOURS } from '../../src/store/idempotency-keys.ts';
import { contract, FACTS, markdownFiles, numberOf, ROOT, read, readLines } from '../support/contract/facts.ts';

const facts = FACTS.map(([file, pattern, ...values]) => ({ file, pattern, values }));

test.each(facts)('$file: $pattern', async ({ file, pattern, values }) => {
  const found = [...(await readLines(file)).matchAll(new RegExp(pattern, 'g'))];
  expect(found.length).toBeGreaterThan(0);
  for (const [, ...texts] of found) expect(texts.map(numberOf)).toEqual(values);
});

// Of the constants that tests replace or never wait for. A change of one is a decision, and belongs here too.
test('the limits of real time are those that were decided', () => {
  expect({
    LIMITS,
    STALLED_SECONDS,
    STOP_SECONDS,
    TIMEOUT_MS,
    SHUTDOWN_IDLE_SECONDS,
    CONNECTION_IDLE_SECONDS,
    IDEMPOTENCY_HOURS,
  }).toEqual({
    LIMITS: { headersSeconds: 10, requestSeconds: 30 },
    STALLED_SECONDS: 60,
    STOP_SECONDS: 25,
    TIMEOUT_MS: 2000,
    SHUTDOWN_IDLE_SECONDS: 1,
    CONNECTION_IDLE_SECONDS: 300,
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
const configuration = await read('openapi/guides/configuration.md');
const variables = [...configuration.matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*) \|$/gm)].map(
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

test('the ranges and the words that the guide allows for a variable are those that the server allows', () => {
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

test('the defaults in the guide are those of the configuration', () => {
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

test('the texts name the extensions and the oldest Node that the code requires', async () => {
  for (const extension of EXTENSIONS) expect(configuration).toContain(`\`${extension}\``);
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

test('the guide on retries says to retry exactly the statuses that charter-client retries', async () => {
  const guide = await read('openapi/guides/retries-and-idempotency.md');
  const rows = [...guide.matchAll(/^\| ((?:\d{3}).*?) \| (.*?) \|$/gm)];
  const advice = rows.flatMap(([, result, words = '']) =>
    statusesIn(result).map((status) => ({ status, isRetried: /^(yes|the same)\b/.test(words) })),
  );
  expect(advice.map(({ status }) => status)).toEqual(expect.arrayContaining([...RETRIED, 409, 412, 500]));
  expect(advice).toEqual(advice.map(({ status }) => ({ status, isRetried: isTemporary(status) })));
});

test('the guide on errors says to retry exactly the statuses that charter-client retries', async () => {
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
    expect(advice.map(({ status, words }) => ({ status, isRetried: /^(retry|repeat)\b/i.test(words) }))).toEqual(
      advice.map(({ status }) => ({ status, isRetried: isTemporary(status) })),
    );
  }
});

test("the client's README names the statuses after which the client retries, and those after which it does not", async () => {
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
