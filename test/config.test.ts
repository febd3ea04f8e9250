import { generateKeyPairSync } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { listVariables, readConfig } from '../src/config.ts';
import { findUnknownVariables, SECRETS } from '../src/config-variables.ts';
import { StartUpError } from '../src/domain/errors.ts';
import { Keyring } from '../src/domain/keyring.ts';
import { createScanner } from './support/dashboard/reports.ts';
import { useFolder } from './support/folder.ts';
import { ENCRYPTION_KEY } from './support/postgres/postgres.ts';

function refusalOf(env: Record<string, string>): StartUpError {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof StartUpError) return error;
  }
  throw new Error('It was not refused.');
}

const folder = await useFolder();

const DEFAULTS = {
  port: 3000,
  host: '127.0.0.1',
  workers: 1,
  databaseUrl: undefined,
  databasePoolSize: 10,
  dataDir: '.data',
  databaseDirectUrl: undefined,
  responseCacheBytes: 64 * 1024 * 1024,
  eventRetentionDays: 30,
  webhooks: { allowHttp: true, allowedNetworks: ['127.0.0.0/8', '::1'] },
  drainSeconds: 0,
  keyring: undefined,
  requestLimits: { perKey: 500, perOrganization: 1000, perAddress: 50 },
  logLevel: 'info',
  nodeEnv: 'development',
  environment: 'live',
  publicUrl: undefined,
  supportUrl: undefined,
  mail: null,
  scannerKeys: new Map(),
  trustedProxies: [],
  responseCheck: { mode: 'report', sampleRate: 1 },
  slowRequestMs: 1000,
  metrics: null,
  traces: null,
  acceptsNewerDatabase: false,
  cell: null,
  cells: [],
  commonUrl: undefined,
  cellDomainsFile: undefined,
};

const [scanner, former] = [createScanner(), createScanner('former')];
/** All variables, each with a value other than its default. */
const ENV = {
  PORT: '0',
  HOST: '0.0.0.0',
  WORKERS: '256',
  DATABASE_URL: 'postgres://charter:secret@db.example:5433/charter?sslmode=require',
  DATABASE_DIRECT_URL: 'postgres://charter:secret@db.example:5432/charter',
  DATABASE_POOL_SIZE: '1000',
  NEWER_DATABASE: 'accept',
  DATA_DIR: '/var/charter',
  ENCRYPTION_KEY,
  RATE_LIMIT_PER_KEY: '0',
  RATE_LIMIT_PER_ORGANIZATION: '1000000',
  RATE_LIMIT_PER_ADDRESS: '7',
  RESPONSE_CACHE_MIB: '1',
  RESPONSE_CHECK: 'enforce',
  RESPONSE_CHECK_SAMPLE_RATE: '1',
  EVENT_RETENTION_DAYS: '365',
  WEBHOOKS_ALLOW_HTTP: 'true',
  WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1, 10.1.0.0/16,fd00::/8',
  DRAIN_SECONDS: '300',
  SLOW_REQUEST_MS: '250',
  METRICS_HOST: '::1',
  METRICS_PORT: '65535',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp',
  OTEL_SERVICE_NAME: 'charter-eu',
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '.25',
  LOG_LEVEL: 'silent',
  NODE_ENV: 'production',
  CHARTER_ENVIRONMENT: 'test',
  CHARTER_CELL: 'eu1',
  CHARTER_CELLS: 'eu1 Europe https://eu1.example',
  CHARTER_CELL_DOMAINS: '/etc/charter/domains.map',
  COMMON_URL: 'https://charter.example/',
  PUBLIC_URL: 'https://eu1.example',
  TRUSTED_PROXIES: 'loopback, 10.0.0.0/8,2001:db8::1',
  SMTP_URL: 'smtps://charter:hunter-2@mail.example',
  MAIL_FROM: 'Charter <charter@eu1.example>',
  SUPPORT_CONTACT: 'https://support.example.org/charter',
  SECRET_SCANNING_KEYS: `${scanner.variable}, ${former.variable}`,
};

test('the variables of this test are those that the configuration reads, and those of the guide', async () => {
  const sources = (await readdir('src')).filter((name) => name.startsWith('config')).map((name) => `src/${name}`);
  const [guide = '', ...texts] = await Promise.all(
    ['openapi/guides/configuration.md', ...sources].map((file) => readFile(file, 'utf8')),
  );
  const read = [...texts.join('').matchAll(/\bvariable\('([A-Z_]+)'\)/g)].map(([, name]) => name);
  const documented = [...guide.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
  const known = Object.keys(ENV).toSorted();
  expect([...new Set(read)].toSorted()).toEqual(known);
  expect(documented.toSorted()).toEqual(known);
});

test('unset and empty variables get their defaults', () => {
  expect(readConfig({})).toEqual(DEFAULTS);
  expect(readConfig(Object.fromEntries(Object.keys(ENV).map((name) => [name, ''])))).toEqual(DEFAULTS);
});

test('a variable with a secret is read from the file that NAME_FILE names', async () => {
  const files: Record<string, string> = {};
  for (const [name, value] of Object.entries(ENV).filter(([each]) => SECRETS.includes(each))) {
    files[`${name}_FILE`] = join(folder, name);
    await writeFile(join(folder, name), `${value}\n`);
  }
  expect(Object.keys(files)).toHaveLength(SECRETS.length);
  const others = Object.fromEntries(Object.entries(ENV).filter(([name]) => !SECRETS.includes(name)));
  expect(readConfig({ ...others, ...files })).toEqual({ ...readConfig(ENV), keyring: expect.any(Keyring) });
  const { DATABASE_URL } = ENV;
  expect(refusalOf({ ...files, DATABASE_URL }).message).toBe('Both DATABASE_URL and DATABASE_URL_FILE are set.');
  expect(refusalOf({ SMTP_URL_FILE: join(folder, 'missing') }).message).toMatch(
    /^The file of SMTP_URL_FILE could not be read: ENOENT/,
  );
  await writeFile(join(folder, 'empty'), '\n');
  expect(refusalOf({ ENCRYPTION_KEY_FILE: join(folder, 'empty') }).message).toMatch(
    /^The file of ENCRYPTION_KEY_FILE is empty/,
  );
});

test('unknown variables that look like ours are found, with the one that was probably meant', () => {
  const known = listVariables();
  expect(known).toEqual(expect.arrayContaining([...Object.keys(ENV), ...SECRETS.map((name) => `${name}_FILE`)]));
  const found = (names: readonly string[]) =>
    findUnknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])), known).map(({ name, similar }) => [
      name,
      similar,
    ]);
  expect(found(['CHARTER_REGION', 'RATE_LIMIT_PER_KEYS', 'DATABSE_URL', 'Log_Level', 'SMTP_URLFILE', 'HOSTS'])).toEqual(
    [
      ['CHARTER_REGION', null],
      ['DATABSE_URL', 'DATABASE_URL'],
      ['HOSTS', 'HOST'],
      ['Log_Level', 'LOG_LEVEL'],
      ['RATE_LIMIT_PER_KEYS', 'RATE_LIMIT_PER_KEY'],
      ['SMTP_URLFILE', 'SMTP_URL_FILE'],
    ],
  );
  const usual = [
    'HOME',
    'PATH',
    'HOSTNAME',
    'LOGNAME',
    'NODE_OPTIONS',
    'PGHOST',
    'PGPORT',
    'TZ',
    'OTEL_RESOURCE_ATTRIBUTES',
    'CHARTER_API_KEY',
  ];
  expect(found([...usual, ...known])).toEqual([]);
});

test('line breaks around a value are no part of it, except in paths', () => {
  const around = (value: string) => `\n${value}\r\n`;
  const { DATA_DIR, CHARTER_CELL_DOMAINS, ...values } = ENV;
  const paths = { DATA_DIR: around(DATA_DIR), CHARTER_CELL_DOMAINS: around(CHARTER_CELL_DOMAINS) };
  const given = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, around(value)]));
  expect(readConfig({ ...given, ...paths })).toEqual({
    ...readConfig(ENV),
    keyring: expect.any(Keyring),
    dataDir: paths.DATA_DIR,
    cellDomainsFile: paths.CHARTER_CELL_DOMAINS,
  });
});

test('every variable is read, and unknown ones are ignored', () => {
  expect(readConfig({ ...ENV, UNKNOWN: 'x' })).toEqual({
    port: 0,
    host: '0.0.0.0',
    workers: 256,
    databaseUrl: ENV.DATABASE_URL,
    databaseDirectUrl: ENV.DATABASE_DIRECT_URL,
    databasePoolSize: 1000,
    acceptsNewerDatabase: true,
    dataDir: '/var/charter',
    keyring: expect.any(Keyring),
    requestLimits: { perKey: 0, perOrganization: 1_000_000, perAddress: 7 },
    responseCacheBytes: 1024 * 1024,
    responseCheck: { mode: 'enforce', sampleRate: 1 },
    eventRetentionDays: 365,
    webhooks: { allowHttp: true, allowedNetworks: ['127.0.0.1', '10.1.0.0/16', 'fd00::/8'] },
    drainSeconds: 300,
    slowRequestMs: 250,
    metrics: { host: '::1', port: 65_535 },
    traces: {
      endpoint: 'https://collector.example/otlp',
      serviceName: 'charter-eu',
      sampler: 'parentbased_traceidratio',
      ratio: 0.25,
    },
    logLevel: 'silent',
    nodeEnv: 'production',
    environment: 'test',
    cell: 'eu1',
    cells: [{ name: 'eu1', title: 'Europe', url: 'https://eu1.example', metricsUrl: null }],
    cellDomainsFile: '/etc/charter/domains.map',
    commonUrl: 'https://charter.example',
    publicUrl: 'https://eu1.example',
    trustedProxies: ['loopback', '10.0.0.0/8', '2001:db8::1'],
    mail: { smtpUrl: ENV.SMTP_URL, mailFrom: ENV.MAIL_FROM },
    supportUrl: 'https://support.example.org/charter',
    scannerKeys: new Map([...scanner.keys, ...former.keys]),
  });
  expect(readConfig({ RESPONSE_CHECK: 'report', RESPONSE_CHECK_SAMPLE_RATE: '.01' }).responseCheck).toEqual({
    mode: 'report',
    sampleRate: 0.01,
  });
  expect(readConfig({ ...ENV, CHARTER_CELL_DOMAINS: '' })).toMatchObject({ cellDomainsFile: undefined });
  expect(readConfig({ METRICS_PORT: '0' }).metrics).toEqual({ host: '127.0.0.1', port: 0 });
  expect(readConfig({ WORKERS: 'auto' }).workers).toBe(availableParallelism());
  expect(readConfig({ PUBLIC_URL: 'http://localhost:3000/' }).publicUrl).toBe('http://localhost:3000');
});

test.each([
  'x',
  'identifier:',
  ':MFkw',
  'identifier:MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE',
  `${createScanner().variable},`,
  createScanner().variable.replace(':', '='),
  `one:${generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
  `one:${generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
])('SECRET_SCANNING_KEYS=%s is refused, because it is not a P-256 key', (SECRET_SCANNING_KEYS) => {
  const { message, remedy } = refusalOf({ SECRET_SCANNING_KEYS });
  expect(message).toMatch(/^SECRET_SCANNING_KEYS is invalid: /);
  expect(remedy).toContain('P-256');
});

test('responses are validated in development, and elsewhere only on request', () => {
  const checkOf = (env: Record<string, string>) => readConfig(env).responseCheck;
  expect(checkOf({ NODE_ENV: 'production' })).toBeNull();
  expect(checkOf({ NODE_ENV: 'test' })).toBeNull();
  expect(checkOf({ RESPONSE_CHECK: 'off', RESPONSE_CHECK_SAMPLE_RATE: '0.5' })).toBeNull();
  const env = { NODE_ENV: 'production', RESPONSE_CHECK: 'enforce' };
  expect(checkOf(env)).toEqual({ mode: 'enforce', sampleRate: 1 });
  expect(checkOf({ ...env, RESPONSE_CHECK_SAMPLE_RATE: '1.0' })).toEqual({ mode: 'enforce', sampleRate: 1 });
});

// The attack: reading the password of a metrics URL in a log that others can read.
test('CHARTER_CELLS is refused with an example and not repeated, and if it lacks the cell of the server', () => {
  const url = 'https://eu1.example';
  const wrong = refusalOf({ CHARTER_CELLS: `eu1 Europe ${url} http://ada:hunter-2@10.1.0.11:9464/metrics` });
  expect(wrong.message).toMatch(/^CHARTER_CELLS is not a list of cells/);
  expect(wrong.remedy).toContain('eu1 Europe https://eu1.charter.example.org');
  expect(wrong.message + wrong.remedy).not.toContain('hunter-2');
  expect(refusalOf({ CHARTER_CELLS: `eu1 Europe ${url}, us1 https://us1.example` }).message).toContain('part 2 is not');
  expect(refusalOf({ CHARTER_CELLS: `eu1 Europe ${url}, us1 America ${url}` }).message).toContain('the same name or');
  const other = refusalOf({ CHARTER_CELL: 'us1', CHARTER_CELLS: `eu1 Europe ${url}` });
  expect(other.message).toBe('CHARTER_CELLS does not contain the cell "us1", which CHARTER_CELL names.');
});

describe('the address that cells share', () => {
  const SHARED = {
    CHARTER_CELL: 'eu1',
    CHARTER_CELLS: 'eu1 Europe https://eu1.example, us1 United States https://us1.example',
    PUBLIC_URL: 'https://eu1.example',
    COMMON_URL: 'https://charter.example/',
    CHARTER_CELL_DOMAINS: '/etc/charter/domains.map',
  };

  test.each<[Record<string, string>, string]>([
    [{ COMMON_URL: '' }, 'CHARTER_CELL_DOMAINS is set, but COMMON_URL is missing.'],
    [{ COMMON_URL: 'charter.example' }, 'COMMON_URL is not an origin.'],
    [{ CHARTER_CELL: '' }, 'COMMON_URL is set, but CHARTER_CELL is missing.'],
    [{ CHARTER_CELLS: '' }, 'COMMON_URL is set, but CHARTER_CELLS is missing.'],
    [
      { PUBLIC_URL: 'https://charter-eu1.example' },
      'CHARTER_CELLS says that the address of the cell eu1 is https://eu1.example, but PUBLIC_URL is https://charter-eu1.example.',
    ],
    [
      { PUBLIC_URL: '' },
      'CHARTER_CELLS says that the address of the cell eu1 is https://eu1.example, but PUBLIC_URL is missing.',
    ],
    // If COMMON_URL were the URL of a cell, the server would forward reports of leaked keys to itself, again and again.
    [{ COMMON_URL: 'https://us1.example' }, 'COMMON_URL is also the address of the cell us1 in CHARTER_CELLS.'],
    [
      { COMMON_URL: 'http://charter.example' },
      'One of COMMON_URL and PUBLIC_URL begins with https://, and the other one with http://.',
    ],
  ])('with %j is refused: %s', (change, message) => {
    expect(refusalOf({ ...SHARED, ...change }).message).toBe(message);
  });
});

test('traces are off without an endpoint, whatever the other variables of OpenTelemetry say', () => {
  expect(readConfig({ OTEL_TRACES_SAMPLER: 'jaeger_remote', OTEL_SERVICE_NAME: 'x' }).traces).toBeNull();
  expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }).traces).toEqual({
    endpoint: 'http://127.0.0.1:4318',
    serviceName: 'charter',
    sampler: 'parentbased_always_on',
    ratio: 1,
  });
});

test.each([
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'one of parentbased_always_on, '],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', '10%', 'a number from 0 to 1'],
])('with an endpoint, %s=%s is refused with the values that are allowed', (name, value, allowed) => {
  const { message, remedy } = refusalOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', [name]: value });
  expect(message).toBe(`${name} is invalid: ${JSON.stringify(value)}.`);
  expect(remedy).toContain(allowed);
});

describe.each([
  ['PORT', ['-1', '65536', '3000x', '3e3', ' 3000', '0x10', '٣'], 'an integer from 0 to 65535'],
  ['WORKERS', ['many', '1.5', '-1'], '"auto" or an integer from 1 to 256'],
  ['WORKERS', ['0', '257'], 'an integer from 1 to 256'],
  ['DATABASE_POOL_SIZE', ['0', '1001', 'many', '1.5'], 'an integer from 1 to 1000'],
  ['RATE_LIMIT_PER_KEY', ['-1', '1000001', '1.5', 'none'], 'an integer from 0 to 1000000'],
  ['RATE_LIMIT_PER_ORGANIZATION', ['-1', '1000001'], 'an integer from 0 to 1000000'],
  ['RATE_LIMIT_PER_ADDRESS', ['-1', '1000001'], 'an integer from 0 to 1000000'],
  ['RESPONSE_CACHE_MIB', ['-1', '65537', '64M'], 'an integer from 0 to 65536'],
  ['EVENT_RETENTION_DAYS', ['0', '1', '366', '30d'], 'an integer from 2 to 365'],
  ['WEBHOOKS_ALLOW_HTTP', ['yes', '1', 'True'], 'one of true, false'],
  ['WEBHOOKS_ALLOWED_NETWORKS', ['loopback', '10.0.0.0/33', 'fd00::/129', '10.0.0', '*'], 'addresses and subnets'],
  ['DRAIN_SECONDS', ['-1', '301', '10s'], 'an integer from 0 to 300'],
  ['METRICS_PORT', ['-1', '65536', 'on'], 'an integer from 0 to 65535'],
  ['LOG_LEVEL', ['verbose', 'INFO'], 'one of fatal, error, warn, info, debug, trace, silent'],
  ['NODE_ENV', ['prod', 'toString'], 'one of development, production, test'],
  ['CHARTER_ENVIRONMENT', ['staging', 'Live'], 'one of live, test'],
  ['RESPONSE_CHECK', ['on', 'Report', '1'], 'one of off, report, enforce'],
  ['RESPONSE_CHECK_SAMPLE_RATE', ['0', '1.01', '-0.1', '1%', '1e-2', 'all'], 'a number above 0 and up to 1'],
  // The attack: a link that runs a script, on every page.
  [
    'SUPPORT_CONTACT',
    ['javascript:alert(1)', 'support', 'help@acme.example?bcc=eve@evil.example', 'https://'],
    'an e-mail address or a URL',
  ],
  [
    'TRUSTED_PROXIES',
    ['everybody', '10.0.0.0/33', '10.0.0', '10.0.0.0/8/8', 'true', '0.0.0.0/0', '::/00', '::ffff:0:0/96'],
    'addresses and subnets',
  ],
])('%s', (name, wrong, allowed) => {
  test.each(wrong)('%j is refused with the values that are allowed', (value) => {
    const { message, remedy } = refusalOf({ [name]: value });
    expect(message).toBe(`${name} is invalid: ${JSON.stringify(value)}.`);
    expect(remedy).toContain(allowed);
  });
});

const MAIL = { SMTP_URL: ENV.SMTP_URL, MAIL_FROM: ENV.MAIL_FROM, PUBLIC_URL: ENV.PUBLIC_URL };
const DATABASE_EXAMPLE = 'postgresql://user:password@host:5432/charter';

// The attack: reading the password of a mistyped URL in a log that others can read.
test.each<[name: string, values: readonly string[], message: string, example: string]>([
  ...['DATABASE_URL', 'DATABASE_DIRECT_URL'].map((name): [string, string[], string, string] => [
    name,
    [
      'mysql://charter:hunter-2@db.example/charter',
      'postgresql//charter:hunter-2@db.example',
      'postgresql://charter:hunter-2@db.example:54x/charter',
      'charter:hunter-2',
    ],
    `${name} `,
    DATABASE_EXAMPLE,
  ]),
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    ['127.0.0.1:4318', 'grpc://user:hunter-2@collector.example:4317', 'user:hunter-2@collector.example'],
    'OTEL_EXPORTER_OTLP_ENDPOINT is not an HTTP URL.',
    'http://127.0.0.1:4318',
  ],
  ['SMTP_URL', ['https://mail.example', 'ftp://charter:hunter-2@mail.example'], 'SMTP_URL is not an SMTP URL.', 'smtp'],
  [
    'PUBLIC_URL',
    ['charter.example', 'https://charter.example/app', 'javascript:alert(1)', 'https://user:hunter-2@charter.example'],
    'PUBLIC_URL is not an origin.',
    'https://charter.example.org',
  ],
])('%s is refused with an example, and not repeated', (name, values, message, example) => {
  for (const value of values) {
    const refusal = refusalOf({ ...MAIL, [name]: value });
    expect(refusal.message.startsWith(message)).toBe(true);
    expect(refusal.remedy).toContain(example);
    expect(`${refusal.message}${refusal.remedy}`).not.toContain('hunter-2');
  }
});

test.each<[env: Record<string, string>, message: string, remedy: string]>([
  [{ ...MAIL, MAIL_FROM: '' }, 'The mail configuration is incomplete: MAIL_FROM is missing.', 'Set'],
  [{ ...MAIL, SMTP_URL: '' }, 'The mail configuration is incomplete: SMTP_URL is missing.', 'Set'],
  [{ ...MAIL, PUBLIC_URL: '' }, 'Mail is configured, but PUBLIC_URL is missing.', 'Set it to the URL'],
  [{ ...MAIL, MAIL_FROM: 'a@b.org\nBcc: c@d.org' }, 'MAIL_FROM is', ''],
  [{ METRICS_HOST: '0.0.0.0' }, 'METRICS_HOST is set, but METRICS_PORT is missing.', 'Set METRICS_PORT'],
  [
    { DATABASE_DIRECT_URL: ENV.DATABASE_DIRECT_URL },
    'DATABASE_DIRECT_URL is set, but DATABASE_URL is missing.',
    'Set DATABASE_URL to the URL of the connection pooler',
  ],
  // A check that is enforced must apply to every response.
  [
    { RESPONSE_CHECK: 'enforce', RESPONSE_CHECK_SAMPLE_RATE: '0.5' },
    'RESPONSE_CHECK is "enforce", but RESPONSE_CHECK_SAMPLE_RATE is not 1.',
    'unset RESPONSE_CHECK_SAMPLE_RATE',
  ],
])('%j is refused: %s', (env, message, remedy) => {
  const refusal = refusalOf(env);
  expect(refusal.message).toContain(message);
  expect(refusal.remedy).toContain(remedy);
});

// The attack: reading a mistyped key in a log that others can read.
test('an encryption key that is not valid is refused and not repeated', () => {
  const mistyped = ENCRYPTION_KEY.slice(0, -3);
  const { message, remedy } = refusalOf({ ENCRYPTION_KEY: mistyped });
  expect(message).not.toContain(mistyped);
  expect(remedy).toBe('Correct it. Only for a new database, set it to the output of: openssl rand -base64 32');
});

test('webhooks reach the same machine by default only in development', () => {
  const closed = { allowHttp: false, allowedNetworks: [] };
  for (const NODE_ENV of ['production', 'test']) expect(readConfig({ NODE_ENV }).webhooks).toEqual(closed);
});

test('in production, DATABASE_URL needs ENCRYPTION_KEY', () => {
  const { DATABASE_URL } = ENV;
  const { message, remedy } = refusalOf({ DATABASE_URL, NODE_ENV: 'production' });
  expect(message).toMatch(/^ENCRYPTION_KEY is missing\. /);
  expect(remedy).toMatch(/^Set it, .* to the key that the database already has\. .*openssl rand -base64 32/);
  // In development, and with the embedded PostgreSQL, the server keeps the key in a file.
  expect(readConfig({ DATABASE_URL })).toMatchObject({ keyring: undefined });
  expect(readConfig({ NODE_ENV: 'production' })).toMatchObject({ keyring: undefined });
});

// The attack: reading what is sent in clear text. A server that does not know of its HTTPS proxy sends session cookies without
// "Secure" and prints an http:// URL, over which people then send keys.
describe('in production', () => {
  test.each([
    [{ HOST: '0.0.0.0' }, 'HOST is "0.0.0.0"'],
    [{ HOST: '::' }, 'HOST is "::"'],
    [{ HOST: 'charter.internal' }, 'HOST is "charter.internal"'],
    [{ HOST: '1270.0.0.1' }, 'HOST is "1270.0.0.1"'],
    [{ TRUSTED_PROXIES: 'loopback' }, 'TRUSTED_PROXIES is "loopback"'],
  ])('%j without PUBLIC_URL is refused, with the reason', (env, why) => {
    const { message, remedy } = refusalOf({ ...env, NODE_ENV: 'production' });
    expect(message).toBe(`PUBLIC_URL is missing. It is required in production if ${why}.`);
    expect(remedy).toMatch(/^Set PUBLIC_URL to .*https:\/\/charter\.example\.org.*Secure/);
    const { PUBLIC_URL } = ENV;
    expect(readConfig({ ...env, NODE_ENV: 'production', PUBLIC_URL }).publicUrl).toBe(PUBLIC_URL);
    // In development, these settings are allowed, for example for a trial in an office network.
    expect(readConfig(env)).toMatchObject({ publicUrl: undefined });
  });

  test.each(['127.0.0.1', '127.8.9.10', 'localhost', '::1'])('HOST=%s needs no PUBLIC_URL', (host) => {
    expect(readConfig({ NODE_ENV: 'production', HOST: host })).toMatchObject({ host, publicUrl: undefined });
  });
});
