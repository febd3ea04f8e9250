import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/config.ts';
import { organizationAt, withCharter } from '../support/charter.ts';
import { ENCRYPTION_KEY } from '../support/encryption.ts';
import { createScratchDatabase, type ScratchDatabase, withScratchDatabase } from '../support/postgres.ts';
import { runFile } from '../support/process.ts';

let database: ScratchDatabase;
beforeAll(async () => {
  database = await createScratchDatabase();
  await organizationAt(database.url, { url: 'http://127.0.0.1' });
});
afterAll(() => database.drop());

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
    const both = { DATABASE_URL: url, ENCRYPTION_KEY: `${WRONG},${ENCRYPTION_KEY}` };
    await withCharter(both, async (charter) => {
      const { code, stdout } = await runFile('scripts/admin/main.ts', ['--json', 'rotate-encryption-key'], both);
      expect({ code, result: JSON.parse(stdout) }).toEqual({
        code: 0,
        result: {
          secrets_encrypted: 0,
          note: 'A process that runs without the first key cannot read the secrets: restart it with this key. The other keys can be removed.',
        },
      });
      expect((await fetch(`${charter.url}/readyz`)).status).toBe(200);
    });
    await withCharter({ ...both, ENCRYPTION_KEY: WRONG }, async (charter) => {
      expect((await fetch(`${charter.url}/readyz`)).status).toBe(200);
    });
  });
});
