import { readConfig } from '../../src/config.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { logOf, withCharter } from '../support/processes/charter.ts';
import { runFile } from '../support/processes/process.ts';

// The attack: a server that does not know of the HTTPS proxy sends session cookies without "Secure" and prints an
// http:// URL, to which a person then sends a key in clear text.

const PRODUCTION = { NODE_ENV: 'production' };

test.each([
  [{ HOST: '0.0.0.0' }, 'HOST is "0.0.0.0"'],
  [{ HOST: '::' }, 'HOST is "::"'],
  [{ HOST: 'charter.internal' }, 'HOST is "charter.internal"'],
  [{ HOST: '1270.0.0.1' }, 'HOST is "1270.0.0.1"'],
  [{ TRUSTED_PROXIES: 'loopback' }, 'TRUSTED_PROXIES is "loopback"'],
])('in production %j without PUBLIC_URL is refused, with the reason', (env, why) => {
  const message = `PUBLIC_URL is missing. It is required in production if ${why}.`;
  const remedy = expect.stringMatching(/^Set PUBLIC_URL to .*https:\/\/charter\.example\.org.*Secure/);
  expect(() => readConfig({ ...PRODUCTION, ...env })).toThrow(expect.objectContaining({ message, remedy }));
  expect(readConfig({ ...PRODUCTION, ...env, PUBLIC_URL: 'https://charter.example.org' })).toMatchObject({
    publicUrl: 'https://charter.example.org',
  });
  // In development, a trial on an office network is not refused.
  expect(readConfig(env)).toMatchObject({ publicUrl: undefined });
});

test.each(['127.0.0.1', '127.8.9.10', 'localhost', '::1'])('in production HOST=%s needs no PUBLIC_URL', (host) => {
  expect(readConfig({ ...PRODUCTION, HOST: host })).toMatchObject({ host, publicUrl: undefined });
});

test('the refusal is one message with its remedy, and the exit code is 1', async () => {
  const { code, stdout, stderr } = await runFile('src/main.ts', [], { ...PRODUCTION, HOST: '0.0.0.0' });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^\nCharter cannot start\. PUBLIC_URL is missing\. .*\n {2}Set PUBLIC_URL .*\n$/);
});

test('in production on loopback the log warns once of a missing PUBLIC_URL, with any number of workers', async () => {
  const isWarning = ({ level, msg }: Readonly<Record<string, unknown>>) =>
    level === 40 && String(msg).includes('PUBLIC_URL');
  // In its complete log, because a second worker can still log when the first one is ready.
  const warningsOf = (env: Record<string, string>) =>
    withCharter(env, async (charter) => {
      charter.child.kill('SIGTERM');
      expect((await charter.ended).code).toBe(0);
      expect(logOf(charter)).not.toEqual([]);
      return logOf(charter).filter(isWarning);
    });
  await withScratchDatabase(async (DATABASE_URL) => {
    expect(await warningsOf({ DATABASE_URL })).toHaveLength(1);
    expect(await warningsOf({ DATABASE_URL, WORKERS: '2' })).toHaveLength(1);
  });
});
