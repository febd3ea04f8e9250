// The variables, statuses, commands and versions in the texts must be those of the code.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isNotExecuted, isTemporary } from '../../src/client/sending.ts';
import { readConfig } from '../../src/config.ts';
import { StartUpError } from '../../src/domain/errors.ts';
import { EXTENSIONS } from '../../src/postgres/migrate.ts';
import { markdownFiles, ROOT, read, texts, variables } from '../support/contract/texts.ts';

const all = [...texts.values()].join('\n');

/** Returns the values that the server allows for a variable, according to its own error message. */
function allowedFor(name: string): string {
  try {
    // The other variables for traces are read only if OTEL_EXPORTER_OTLP_ENDPOINT is set.
    readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', [name]: '?' });
  } catch (error) {
    if (error instanceof StartUpError) return error.remedy;
    throw error;
  }
  return '';
}

test('the ranges and the words that the texts allow for a variable are those that the server allows', () => {
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

test('the defaults in the texts are those of the configuration', () => {
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

test('the texts name the extensions and the oldest Node that the code requires', () => {
  for (const extension of EXTENSIONS) expect(all).toContain(`\`${extension}\``);
  const { engines } = JSON.parse(read('package.json'));
  const [, oldest] = /Node older than\s+([\d.]+),/.exec(all) ?? [];
  expect(`>=${oldest}`).toBe(engines.node);
  expect(read('scripts/run.mjs')).toContain(`OLDEST_NODE = [${oldest?.replace('.', ', ')}]`);
});

const ERROR_STATUSES = Array.from({ length: 200 }, (_, i) => 400 + i);
const RETRIED = ERROR_STATUSES.filter(isTemporary);
const ALWAYS_RETRIED = ERROR_STATUSES.filter(isNotExecuted);

const statusesIn = (text = '') => (text.match(/\b[45]\d\d\b/g) ?? []).map(Number);

test('the guide on retries says to retry exactly the statuses that charter-client retries', () => {
  const guide = read('openapi/guides/retries-and-idempotency.md');
  const rows = [...guide.matchAll(/^\| ((?:\d{3}).*?) \| (.*?) \|$/gm)];
  const advice = rows.flatMap(([, result, words = '']) =>
    statusesIn(result).map((status) => ({ status, isRetried: /^(yes|the same)\b/.test(words) })),
  );
  expect(advice.map(({ status }) => status)).toEqual(expect.arrayContaining([...RETRIED, 409, 412, 500]));
  expect(advice).toEqual(advice.map(({ status }) => ({ status, isRetried: isTemporary(status) })));
});

test('the guide on errors says to retry exactly the statuses that charter-client retries', () => {
  const guide = read('openapi/guides/errors.md');
  const rows = [...guide.matchAll(/^\| (\d{3}) \| \[\w+\]\(.*?\) \| (.*?) \|$/gm)].map(
    ([, status = '', words = '']) => ({ status: Number(status), words }),
  );
  const sections = guide.split(/^## (?=\d{3} )/m).slice(1);
  const actions = sections.map((section) => ({
    status: Number(section.slice(0, 3)),
    words: /^\*\*What to do\.\*\* (.*)$/m.exec(section)?.[1] ?? '',
  }));
  const items = Object.values<Record<string, { readonly responses?: object }>>(
    JSON.parse(read('generated/openapi.json')).paths,
  );
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

test("the client's README names the statuses after which the client retries, and those after which it does not", () => {
  const text = read('src/client/README.md').replaceAll('\n', ' ');
  const [, always] = /The client retries every request after (.*?), because/.exec(text) ?? [];
  expect(statusesIn(always)).toEqual(ALWAYS_RETRIED);
  const [, ifSafe] = /After a broken connection, a timeout, and (.*?), it retries a request if/.exec(text) ?? [];
  expect(statusesIn(ifSafe)).toEqual(RETRIED.filter((status) => !ALWAYS_RETRIED.includes(status)));
  const [, never] = /The client does not retry after (.*?), because/.exec(text) ?? [];
  expect(statusesIn(never)).toEqual([500]);
  expect(isTemporary(500)).toBe(false);
});

/** Returns each command of package.json with the source of its entry file and of the files in the same folder. */
function readSources(): ReadonlyMap<string, string> {
  const entries = [...read('scripts/run.mjs').matchAll(/^ {2}'?([\w:-]+)'?: \{\s+entry: '([^']+)'/gm)];
  return new Map(
    entries.map(([, name = '', entry = '']) => {
      if (entry.startsWith('node_modules/')) return [name, ''];
      const folder = dirname(entry);
      const isFolder = entry.endsWith('/main.ts') && folder !== 'src';
      const files = isFolder ? readdirSync(join(ROOT, folder)).filter((each) => each.endsWith('.ts')) : [];
      return [name, [entry, ...files.map((each) => join(folder, each))].map(read).join('\n')];
    }),
  );
}

const USE = /npm (?:run (?:--silent )?([\w:-]*\w)|(start|test)\b)(?: -- ([^`\n#]*))?/g;
/**
 * Matches a row of the README's tables. Options without a command in the row, such as "`-- --check`", belong to the row's
 * command.
 */
const SHORTHAND = /^\| `npm run ([\w:-]+)(?: -- [^`]*)?` \|.*$/gm;

test('every npm command in the texts exists, with the options that they name', () => {
  const sources = readSources();
  const { scripts } = JSON.parse(read('package.json'));
  expect([...sources.keys()].toSorted()).toEqual(Object.keys(scripts).toSorted());
  const unknown: string[] = [];
  const check = (where: string, command: string, words: string) => {
    const source = sources.get(command);
    if (source === undefined) unknown.push(`${where}: npm run ${command}`);
    for (const [, option = ''] of words.matchAll(/--([a-z][a-z-]*)/g)) {
      const isKnown = new RegExp(`\\b${option}'?: (\\{ (type|\\.\\.\\.flag)|flag|text)|'--${option}[ ']`).test(
        source ?? '',
      );
      const hasHelp = command === 'admin' || /\b(run|call)Main\(/.test(source ?? '');
      if (!isKnown && !(option === 'help' && hasHelp)) unknown.push(`${where}: npm run ${command} -- --${option}`);
    }
    const [verb = ''] = /^[a-z][a-z-]+/.exec(words) ?? [];
    if (command === 'admin' && verb !== '' && !source?.includes(`.command('${verb}')`))
      unknown.push(`${where}: ${verb}`);
  };
  for (const file of markdownFiles) {
    const text = read(file);
    for (const [, run, short, words = ''] of text.matchAll(USE)) check(file, run ?? short ?? '', words);
    for (const [row, command = ''] of text.matchAll(SHORTHAND))
      for (const [, words = ''] of row.matchAll(/`-- ([^`]*)`/g)) check(file, command, words);
  }
  expect(unknown).toEqual([]);
});
