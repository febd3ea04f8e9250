import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readConfig } from '../../src/config.ts';
import { TIMEOUT_MS } from '../../src/observability/health.ts';
import { LIMITS, STOP_SECONDS } from '../../src/server.ts';
import { ENCRYPTION_KEY } from '../support/data/encryption.ts';
import { findProgram } from '../support/processes/debian.ts';

const DEPLOY = join(import.meta.dirname, '../../scripts/dist/deploy');
/** Of systemd's scale from 0 (safe) to 10: it calls a unit up to 2.0 "OK" and from 2.0 to 5.0 "MEDIUM" exposed. */
const MOST_EXPOSURE = 2;

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
  // Nothing is installed, so the image has only what is in the artifact.
  expect(one('RUN')).toEqual([]);
  const settings = Object.fromEntries((one('ENV')[0] ?? '').split(' ').map((each) => each.split('=')));
  expect(settings).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '3000' });
});

/** The value of a setting in seconds, such as "timeout check 3s" or "TimeoutStopSec=400s". */
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
  // "60 seconds for what follows", as the unit says.
  expect(secondsOf(unit, 'TimeoutStopSec')).toBeGreaterThan(longestDrain + STOP_SECONDS + 60);
  expect(unit).toMatch(/^UMask=0077$/m);
  expect(pooler).toMatch(/^pool_mode = transaction$/m);
  expect(secondsOf(pooler, 'query_wait_timeout')).toBeLessThan(LIMITS.requestSeconds);
  expect(secondsOf(pooler, 'default_pool_size')).toBeGreaterThanOrEqual(readConfig({}).databasePoolSize);
});

test('systemd accepts the unit, and finds it hardly exposed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'charter-unit-'));
  try {
    const analyze = findProgram('systemd-analyze', 'systemd');
    const unit = join(folder, 'charter.service');
    // systemd looks the program up; its folder is made when the unit starts.
    const node = join(folder, 'node'); // The path of this Node can have a space, at which systemd would split it.
    await symlink(process.execPath, node);
    const text = (await read('charter.service')).replace('/usr/bin/node', node);
    await mkdir(join(folder, 'current'));
    await writeFile(unit, text.replaceAll('/opt/charter/current', join(folder, 'current')));
    const verified = await promisify(execFile)(analyze, ['verify', '--man=no', unit]);
    expect(verified.stdout + verified.stderr).toBe('');
    const { stdout } = await promisify(execFile)(analyze, ['security', '--offline=true', '--no-pager', unit]);
    const [, exposure = ''] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    expect(exposure).not.toBe('');
    expect(Number(exposure)).toBeLessThanOrEqual(MOST_EXPOSURE);
  } finally {
    await rm(folder, { recursive: true });
  }
});
