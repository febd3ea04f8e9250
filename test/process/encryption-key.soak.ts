import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/config.ts';
import { parseKeyring } from '../../src/domain/keyring.ts';
import { ENCRYPTION_KEY } from '../support/data/encryption.ts';
import { Client } from '../support/http/client.ts';
import { useScratchDatabase, withScratchDatabase } from '../support/postgres/postgres.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { type LogLine, logOf, organizationAt, withCharter } from '../support/processes/charter.ts';
import { runFile } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const database = await useScratchDatabase();
await organizationAt(database.url, { url: 'http://127.0.0.1' });

const WRONG = randomBytes(32).toString('base64');

test('in production with DATABASE_URL, a server without ENCRYPTION_KEY does not start', async () => {
  const env = { DATABASE_URL: database.url, NODE_ENV: 'production', ENCRYPTION_KEY: '' };
  const { code, stdout, stderr } = await runFile('src/main.ts', [], env);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /^\nCharter cannot start\. ENCRYPTION_KEY is missing\. .*\n {2}Set it, .* to the key that the database already has\. .*openssl rand -base64 32/,
  );
  // In development, and with the embedded PostgreSQL, the key is in a file.
  expect(readConfig({ DATABASE_URL: database.url })).toMatchObject({ keyring: undefined });
  expect(readConfig({ NODE_ENV: 'production' })).toMatchObject({ keyring: undefined });
});

test.each(['src/main.ts', 'scripts/admin/main.ts'])(
  '%s with another key refuses to start, and does not print it',
  async (file) => {
    const env = { DATABASE_URL: database.url, NODE_ENV: 'production', ENCRYPTION_KEY: WRONG, PORT: '0' };
    const { code, stdout, stderr } = await runFile(file, file.includes('admin') ? ['list-organizations'] : [], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/ENCRYPTION_KEY lacks a key with which secrets in this database are encrypted \(key id /);
    expect(stderr).not.toContain(WRONG);
  },
);

// The attack: a mistyped key ends up in a log that others can read.
test('a key that is not valid is refused and not repeated', () => {
  const mistyped = WRONG.slice(0, -3);
  expect(() => readConfig({ ENCRYPTION_KEY: mistyped })).toThrow(
    expect.objectContaining({
      message: expect.not.stringContaining(mistyped),
      remedy: 'Correct it. Only for a new database, set it to the output of: openssl rand -base64 32',
    }),
  );
});

test('the key is in no line that a server prints', async () => {
  await withCharter({ DATABASE_URL: database.url, LOG_LEVEL: 'trace' }, async ({ url, printed }) => {
    await fetch(`${url}/readyz`);
    expect(printed.stdout).toContain('Charter is listening');
    for (const text of Object.values(printed)) expect(text).not.toContain(ENCRYPTION_KEY.slice(0, 20));
  });
});

test('npm run admin changes the key while a server runs with both', async () => {
  await withScratchDatabase(async (url) => {
    const keys = { ENCRYPTION_KEY: `${WRONG},${ENCRYPTION_KEY}` };
    await withCharter({ DATABASE_URL: url, ...keys }, async (charter) => {
      const { code, stdout } = await runAdminCommand(url, ['--json', 'rotate-encryption-key'], keys);
      expect({ code, result: JSON.parse(stdout) }).toEqual({
        code: 0,
        result: {
          secrets_encrypted: 0,
          note: 'A process that runs without the first key cannot read the secrets: restart it with this key. The other keys can be removed.',
        },
      });
      expect((await fetch(`${charter.url}/readyz`)).status).toBe(200);
    });
    await withCharter({ DATABASE_URL: url, ENCRYPTION_KEY: WRONG }, async (charter) => {
      expect((await fetch(`${charter.url}/readyz`)).status).toBe(200);
    });
  });
});

// A rotation while processes run without the new key. A load balancer must learn that they cannot serve.
test('a server without the key of a secret responds with 503, logs the remedy and is not ready', async () => {
  await withScratchDatabase(async (url) => {
    await withCharter({ DATABASE_URL: url }, async (charter) => {
      const { client } = await organizationAt(url, charter);
      const keys = { ENCRYPTION_KEY: `${WRONG},${ENCRYPTION_KEY}` };
      expect((await runAdminCommand(url, ['rotate-encryption-key'], keys)).code).toBe(0);
      const responses = [await client.get('/api/parent_programs'), await client.get('/api/parent_programs')];
      expect(responses.map(({ status, headers }) => [status, headers['retry-after']])).toEqual([
        [503, '5'],
        [503, '5'],
      ]);
      const anonymous = new Client(charter.url);
      expect(await anonymous.get('/readyz')).toMatchObject({
        status: 503,
        body: { status: 'an encryption key is missing' },
      });
      expect((await anonymous.get('/livez')).status).toBe(200);
      for (const { headers } of responses) {
        const isIt = (line: LogLine) => line['level'] === 50 && line['requestId'] === headers['x-request-id'];
        const line = await until('the failure', () => logOf(charter).find(isIt));
        const keyId = parseKeyring(WRONG)?.currentId;
        expect(line).not.toHaveProperty('err');
        expect(line['msg']).toBe(
          `a request failed: A value of organizations.cursor_key is encrypted with the key ${keyId}, which this process does not have. Add this key to ENCRYPTION_KEY, or to the file encryption-key, and restart the process.`,
        );
      }
    });
  });
});
