import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { listVariables, readConfig } from '../../src/config.ts';
import { TIMEOUT_MS } from '../../src/observability/health.ts';
import { LIMITS, STOP_SECONDS } from '../../src/server.ts';
import { SESSION_SETTINGS } from '../../src/store/sql/session-settings.ts';
import { blocksOf, readGuide } from '../support/contract/guides.ts';
import { ENCRYPTION_KEY } from '../support/postgres/postgres.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { startServer } from '../support/servers/server.ts';

const DEPLOY = join(import.meta.dirname, '../../scripts/dist/deploy');

async function read(name: string): Promise<string> {
  return readFile(join(DEPLOY, name), 'utf8');
}

test('the variables of the unit, once filled in, are those of a server', async () => {
  const lines = (await read('charter.env')).split('\n').filter((line) => /^[A-Z]/.test(line));
  const given = Object.fromEntries(lines.map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]));
  expect(Object.keys(given)).toEqual([
    'DATABASE_URL',
    'ENCRYPTION_KEY',
    'PUBLIC_URL',
    'TRUSTED_PROXIES',
    'DRAIN_SECONDS',
  ]);
  const config = readConfig({ ...given, NODE_ENV: 'production', ENCRYPTION_KEY, TRUSTED_PROXIES: '10.0.0.1' });
  expect(config).toMatchObject({ drainSeconds: 10, publicUrl: 'https://charter.example.org' });
});

test('the image runs as another user than root, and as the unit does', async () => {
  const dockerfile = await read('Dockerfile');
  const instructions = [...dockerfile.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name = '', value = '']) => [name, value]);
  const one = (name: string) => instructions.filter(([each]) => each === name).map(([, value]) => value);
  expect(one('FROM')).toEqual([expect.stringMatching(/^node:24-.*-slim$/)]);
  expect(one('USER')).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]);
  expect(one('HEALTHCHECK')).toEqual([expect.stringContaining('["node", "charter.mjs", "health"]')]);
  // The image installs nothing, so it contains only what is in the artifact.
  expect(one('RUN')).toEqual([]);
  const settings = Object.fromEntries((one('ENV')[0] ?? '').split(' ').map((each) => each.split('=')));
  const { HOST, PORT, ...shared } = settings;
  expect([HOST, PORT]).toEqual(['0.0.0.0', '3000']);
  const ofUnit = [...(await read('charter.service')).matchAll(/^Environment=(.*)$/gm)]
    .map(([, value]) => value)
    .join(' ');
  expect(shared).toEqual({ NODE_ENV: 'production', MALLOC_ARENA_MAX: '2' });
  for (const [name, value] of Object.entries(shared)) expect(ofUnit.split(' ')).toContain(`${name}=${value}`);
});

/** Returns the value of a setting in seconds, for example of "timeout check 3s" or "TimeoutStopSec=400s". */
function secondsOf(text: string, setting: string): number {
  const [, number, unit = 's'] = new RegExp(`^\\s*${setting}[ =]+(\\d+)(ms|s)?$`, 'm').exec(text) ?? [];
  return Number(number) / (unit === 'ms' ? 1000 : 1);
}

test('the time-outs and modes of the files leave the server the time that it takes', async () => {
  const [proxy, unit, pooler] = [await read('haproxy.cfg'), await read('charter.service'), await read('pgbouncer.ini')];
  for (const side of ['client', 'server'])
    expect(secondsOf(proxy, `timeout ${side}`)).toBeGreaterThan(LIMITS.requestSeconds + STOP_SECONDS);
  expect(secondsOf(proxy, 'timeout http-request')).toBe(LIMITS.headersSeconds);
  expect(secondsOf(proxy, 'timeout check')).toBeGreaterThan(TIMEOUT_MS / 1000);
  const longestDrain = readConfig({ DRAIN_SECONDS: '300' }).drainSeconds;
  expect(() => readConfig({ DRAIN_SECONDS: String(longestDrain + 1) })).toThrow();
  // The unit's comment reserves "60 seconds for what follows".
  expect(secondsOf(unit, 'TimeoutStopSec')).toBeGreaterThan(longestDrain + STOP_SECONDS + 60);
  expect(unit).toMatch(/^UMask=0077$/m);
  expect(pooler).toMatch(/^pool_mode = transaction$/m);
  expect(secondsOf(pooler, 'query_wait_timeout')).toBeLessThan(LIMITS.requestSeconds);
  expect(secondsOf(pooler, 'default_pool_size')).toBeGreaterThanOrEqual(readConfig({}).databasePoolSize);
});

test.each([
  ['operating.md', 'charter', 'haproxy.cfg'],
  ['postgresql.md', 'primary', 'haproxy-postgresql.cfg'],
])('the guide %s shows the back end %s of %s', async (guide, name, file) => {
  const [, backend = ''] = (await read(file)).split(`\nbackend ${name}\n`);
  expect(backend).not.toBe('');
  expect(readGuide(guide)).toContain(`backend ${name}\n${backend}`);
});

/** Returns the documents of a YAML file. Throws if one cannot be parsed. */
async function readYaml(name: string): Promise<Yaml[]> {
  return parseAllDocuments(await read(name)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
}

/** Returns all values with this name in a document, at any depth. */
function valuesIn(document: unknown, name: string): unknown[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([each, value]) => [
    ...(each === name ? [value] : []),
    ...valuesIn(value, name),
  ]);
}

type Yaml = Readonly<Record<string, unknown>>;

test('the files for Docker Compose and Kubernetes configure a server as the unit does', async () => {
  const [compose] = await readYaml('compose.yaml');
  const objects = await readYaml('kubernetes.yaml');
  expect(objects.map(({ kind }) => kind)).toEqual([
    'Secret',
    'ConfigMap',
    'Job',
    'Deployment',
    'Service',
    'PodDisruptionBudget',
  ]);
  const [server] = valuesIn(compose, 'server');
  const [given] = valuesIn(server, 'environment');
  const [data] = valuesIn(objects, 'data');
  const known = listVariables();
  for (const variables of [given, data]) {
    const names = Object.keys(Object(variables));
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['DATABASE_URL_FILE', 'ENCRYPTION_KEY_FILE', 'PUBLIC_URL']));
    // The values are valid together with the two secrets.
    const { DATABASE_URL_FILE, ENCRYPTION_KEY_FILE, ...others } = Object(variables);
    const env = {
      ...others,
      DATABASE_URL: 'postgresql://a@b/c',
      ENCRYPTION_KEY,
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
    };
    const { drainSeconds } = readConfig(env);
    const grace =
      variables === given ? valuesIn(server, 'stop_grace_period') : valuesIn(objects, 'terminationGracePeriodSeconds');
    expect(Number.parseInt(String(grace), 10)).toBeGreaterThan(drainSeconds + STOP_SECONDS);
    // Each of these two variables contains the path of a secret, and the files define this secret.
    const places = [DATABASE_URL_FILE, ENCRYPTION_KEY_FILE].map((path: string) => path.split('/').at(-1) ?? '');
    const [secrets] = valuesIn(variables === given ? compose : objects, variables === given ? 'secrets' : 'stringData');
    for (const name of places)
      expect(Object.values(Object(secrets)).includes(name) || name in Object(secrets)).toBe(true);
  }
  // The image contains the whole artifact, so a file with a secret must not be in the artifact.
  expect(valuesIn(compose, 'file')).toEqual(Array(3).fill(expect.stringMatching(/^\/etc\/charter\/secrets\//)));
  expect(valuesIn(compose, 'POSTGRES_PASSWORD_FILE')).toEqual(['/run/secrets/postgres-password']);
  expect([valuesIn(server, 'read_only'), valuesIn(objects, 'readOnlyRootFilesystem')]).toEqual([[true], [true, true]]);
  expect(valuesIn(objects, 'runAsUser')).toEqual([1000, 1000]);

  const paths = valuesIn(objects, 'httpGet').map((probe) => Object(probe).path);
  expect(paths).toEqual(['/livez', '/livez', '/readyz']);
  await using running = await startServer();
  for (const path of paths) expect((await running.anonymous.get(path)).status).toBe(200);
  const [readiness] = valuesIn(objects, 'readinessProbe');
  expect(Object(readiness).timeoutSeconds).toBeGreaterThan(TIMEOUT_MS / 1000);
  // The Job runs a command that exists.
  const [[, ...parameters] = []] = valuesIn(objects, 'args').map((args) => [args].flat().map(String));
  const help = await runAdminCommand('', [...parameters, '--help'], { DATABASE_URL: '' });
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('pending migrations') });
});

test('Node reads the variables of the unit, also a list of cells, from the file that the unit reads', async () => {
  const [cells] = blocksOf('cells.md').filter(({ code }) => code.startsWith('CHARTER_CELL='));
  const text = `${await read('charter.env')}${cells?.code}`;
  expect(
    readConfig({ ...parseEnv(text), ENCRYPTION_KEY, PUBLIC_URL: 'https://eu1.charter.example.org' }).cells,
  ).toMatchObject([
    { name: 'eu1', title: 'Europe' },
    { name: 'us1', title: 'United States' },
  ]);
  for (const [guide, file] of [
    ['configuration.md', readGuide('configuration.md')],
    ['README', await readFile(join(DEPLOY, '../README.md'), 'utf8')],
  ])
    expect({ guide, file }).toEqual({
      guide,
      file: expect.stringContaining('node --env-file=/etc/charter/charter.env'),
    });
});

test('HAProxy ends TLS, as a server with an https PUBLIC_URL needs', async () => {
  const lines = [...(await read('haproxy.cfg')).matchAll(/^ +(bind .*|.* X-Forwarded-Proto .*)$/gm)];
  expect(lines.map(([, line]) => line)).toEqual([
    'bind :443 ssl crt /etc/haproxy/charter.pem alpn h2,http/1.1',
    'http-request set-header X-Forwarded-Proto https',
  ]);
});

test('HAProxy has a back end for each cell of the map', async () => {
  const configuration = await read('haproxy-cells.cfg');
  const lines = (await read('cells.map')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const cells = ['eu1', 'us1', 'ap1'];
  expect(lines).toEqual(cells.map((cell) => `${cell} ${cell}`));
  for (const cell of cells) expect(configuration).toContain(`\nbackend ${cell}\n`);
});

test('PgBouncer gets its connections in transaction mode, and requires a password; the guide shows it with every setting of a session', async () => {
  const configuration = await read('pgbouncer.ini');
  for (const line of ['pool_mode = transaction', 'auth_type = scram-sha-256'])
    expect(configuration).toContain(`\n${line}\n`);
  const [, excerpt = ''] = configuration.split('\npool_mode');
  expect(readGuide('postgresql.md')).toContain(`pool_mode${excerpt}`);
  const settings = blocksOf('postgresql.md').find(({ code }) => code.startsWith('ALTER ROLE'));
  expect(settings?.code.trim().split('\n')).toEqual(
    Object.entries(SESSION_SETTINGS).map(
      ([name, value]) => `ALTER ROLE charter IN DATABASE charter SET ${name} = '${value}';`,
    ),
  );
});

test('the guide "Backups" has a command for each step of its trial', () => {
  const trials = blocksOf('backups.md').flatMap(({ options }) => options.get('trial') ?? []);
  expect(trials).toEqual(['dump', 'restore-dump', 'archive', 'base', 'restore']);
});
