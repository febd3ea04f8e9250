import { startServer } from '../support/http/server.ts';
import { proxyDatabase } from '../support/postgres/database-proxy.ts';
import { serverUrl, withClient, withScratchDatabase } from '../support/postgres/postgres.ts';
import { type Ended, runFile } from '../support/processes/process.ts';

/** What an operator sees on a failed start: one message, one remedy, no stack, no password, and exit code 1. */
async function refusalOf(env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr }: Ended = await runFile('src/main.ts', [], { PORT: '0', ...env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).not.toMatch(/\n +at |node:internal/);
  expect(stderr).not.toContain(new URL(env['DATABASE_URL'] ?? (await serverUrl())).password);
  return stderr;
}

test('an invalid value is refused with its name and the values that are allowed', async () => {
  expect(await refusalOf({ PORT: 'http' })).toBe(
    '\nCharter cannot start. PORT is invalid: "http".\n  Set it to an integer from 0 to 65535, or unset it.\n',
  );
});

test('a PostgreSQL that does not respond is reported in one message', async () => {
  const proxy = await proxyDatabase(await serverUrl());
  await proxy.stop();
  expect(await refusalOf({ DATABASE_URL: proxy.url })).toMatch(
    /^\nCharter cannot start\. No PostgreSQL answers at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\.\n {2}Start it, .*\n$/,
  );
});

test('a wrong password and a missing database are each reported in one message', async () => {
  const wrong = Object.assign(new URL(await serverUrl()), { password: 'guess-7f3a' });
  expect(await refusalOf({ DATABASE_URL: wrong.href })).toContain('refuses the user "postgres"');
  expect(await refusalOf({ DATABASE_URL: await serverUrl('missing') })).toContain('has no database "missing"');
});

test('a database newer than the code is reported in one message', async () => {
  await withScratchDatabase(async (url) => {
    await withClient(url, (client) =>
      client.query(
        `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
         values (gen_random_uuid(), 'x', '20991231000000_of_tomorrow', now())`,
      ),
    );
    expect(await refusalOf({ DATABASE_URL: url })).toContain('does not know: 20991231000000_of_tomorrow.');
  });
});

test("a port in use and another machine's address are each reported in one message", async () => {
  const other = await startServer();
  const env = { DATABASE_URL: other.databaseUrl, NODE_ENV: 'production' };
  const { port } = new URL(other.url);
  expect(await refusalOf({ ...env, PORT: port })).toBe(
    `\nCharter cannot start. Port ${port} of 127.0.0.1 is in use.\n  Stop the program that uses it, or set PORT to another port.\n`,
  );
  const elsewhere = { HOST: '192.0.2.1', PUBLIC_URL: 'https://charter.example.org' };
  expect(await refusalOf({ ...env, ...elsewhere })).toContain('HOST 192.0.2.1 is not an address of this machine.');
  await other.close();
});
