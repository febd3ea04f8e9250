import { NOBODY } from '../support/data/actors.ts';
import { startPooler } from '../support/postgres/pooler.ts';
import { serverUrl } from '../support/postgres/postgres.ts';
import { createTenant, useDatabase } from '../support/postgres/store.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import type { Ended } from '../support/processes/process.ts';

const database = await useDatabase();
const taken = await createTenant(database.db, 'viewer');

/** Returns the command's message on standard error: one or two lines, without a stack trace. */
async function refusalOf(command: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await command;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).not.toMatch(/\n +at |node:internal|Prisma/);
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
  return stderr;
}

const CREATE = ['create-organization', '--name', 'Acme', '--admin-name', 'Ada', '--admin-email'];
const ISSUE = ['issue-key', '--name', 'Staging', '--user'];

test.each<[string, () => readonly string[], RegExp]>([
  ['no command', () => ['list'], /unknown command 'list'/],
  ['a missing option', () => ['revoke-key'], /required option '--id <uuid>' or '--key <text>' not specified/],
  [
    'two options for one key',
    () => ['revoke-key', '--id', NOBODY, '--key', 'charter_live_0000'],
    /cannot be used with/,
  ],
  ['a text that is no key', () => ['revoke-key', '--key', 'charter_live_'], /Give a whole API key, or a prefix/],
  [
    'an unknown prefix',
    () => ['revoke-key', '--key', 'charter_live_0000'],
    /no API key with the prefix charter_live_0000/,
  ],
  ['an unknown option', () => ['list-organizations', '--all'], /unknown option '--all'/],
  [
    'permissions without a comma',
    () => [...ISSUE, NOBODY, '--permissions', 'parent_programs:read', 'parent_programs:write'],
    /Separate permissions with commas/,
  ],
  [
    'a limit that is none',
    () => ['set-limits', '--organization', crypto.randomUUID(), '--per-key', '1000001'],
    /'1000001' is invalid\. Give 0 to 1000000, 0 for no limit, or "default"\./,
  ],
  ['an id that is none', () => ['suspend-organization', '--id', '42'], /'42' is invalid\. Give a UUID\./],
  [
    'an unknown organization',
    () => ['resume-organization', '--id', NOBODY],
    /There is no organization with the id 0+-/,
  ],
  ['an unknown key', () => ['revoke-key', '--id', NOBODY], /There is no API key with the id 0+-/],
  [
    'an unknown user',
    () => [...ISSUE, 'nobody@acme.example'],
    /There is no user with the e-mail or id nobody@acme\.example/,
  ],
  [
    'an unknown integration',
    () => ['issue-key', '--name', 'Staging', '--integration', NOBODY],
    /There is no integration with the id 0+-/,
  ],
  [
    'a key for nobody',
    () => ['issue-key', '--name', 'Staging'],
    /'--user <email>' or '--integration <uuid>' not specified/,
  ],
  ['no user to reset', () => ['reset-second-factor'], /required option '--user <email>' not specified/],
  [
    'a reset for nobody',
    () => ['reset-second-factor', '--user', 'nobody@acme.example'],
    /There is no user with the e-mail or id nobody@acme\.example/,
  ],
  [
    'a reset where there is nothing',
    () => ['reset-second-factor', '--user', taken.email],
    /@example\.test has neither a second factor nor a passkey\./,
  ],
  ['an e-mail that is taken', () => [...CREATE, taken.email], /belongs to a user already/],
  ['an e-mail that is none', () => [...CREATE, 'ada'], /email must be an e-mail address, such as mei@example.org/],
  ['an unknown permission', () => [...ISSUE, taken.email, '--permissions', 'all'], /There are: parent_programs:read, /],
  ['a permission beyond the role', () => [...ISSUE, taken.email], /a viewer does not have this permission/],
  ['no permission', () => [...ISSUE, taken.email, '--permissions', ''], /There are: parent_programs:read, /],
  [
    'a life that is too long',
    () => [...ISSUE, taken.email, '--expires-days', '3651'],
    /expiry must be .* 1 to 3650 days/,
  ],
  ['a life in words', () => [...ISSUE, taken.email, '--expires-days', 'long'], /Give 1 to 3650, or "never"/],
])('%s is refused in one line', async (_, parameters, refusal) => {
  expect(await refusalOf(runAdminCommand(database.url, parameters()))).toMatch(refusal);
});

test('an unusable database is refused in one line without the password', async () => {
  const url = await serverUrl('missing');
  const refusal = await refusalOf(runAdminCommand(url, ['list-organizations']));
  expect(refusal).toContain('has no database "missing"');
  expect(refusal).not.toContain(new URL(url).password);
});

// If the message named another variable, the operator would look for the mistake in the wrong place.
test('an unusable DATABASE_DIRECT_URL is refused under its own name', async () => {
  const refuse = (databaseDirectUrl: string) =>
    refusalOf(runAdminCommand(database.url, ['list-organizations'], { DATABASE_DIRECT_URL: databaseDirectUrl }));
  expect(await refuse(await serverUrl('missing'))).toMatch(/Create it .*, or correct DATABASE_DIRECT_URL\.$/m);
  await using pooler = await startPooler(database.url, { acceptsOptions: true });
  const { host } = new URL(pooler.url);
  expect(await refuse(pooler.url)).toContain(`${host} in DATABASE_DIRECT_URL is a connection pooler`);
});

test('a command does not use the connection pooler', async () => {
  await using pooler = await startPooler(database.url);
  const options = { DATABASE_DIRECT_URL: database.url };
  const { code, stderr } = await runAdminCommand(pooler.url, ['list-organizations'], options);
  expect({ code, stderr, clients: pooler.clients() }).toEqual({ code: 0, stderr: '', clients: 0 });
});

test('check names unknown variables without a database, and refuses invalid ones', async () => {
  const env = { DATABASE_URL: 'postgresql://charter@127.0.0.1:1/charter', CHARTER_REGION: 'eu', LOG_LEVELS: 'info' };
  expect(await runAdminCommand('', ['check'], env)).toEqual({
    code: 0,
    stdout: 'configuration: valid\nunknown variables: 2\n',
    stderr: 'CHARTER_REGION is unknown, and ignored.\nLOG_LEVELS is unknown, and ignored. Did you mean LOG_LEVEL?\n',
  });
  expect(await refusalOf(runAdminCommand('', ['check'], { LOG_LEVEL: 'loud' }))).toMatch(
    /^LOG_LEVEL is invalid: "loud"\./,
  );
});
