import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { pino } from 'pino';
import { parseKeyring } from '../../src/domain/keyring.ts';
import { formatKey } from '../../src/domain/keys/api-key.ts';
import { RELEASE_VERSION } from '../../src/domain/release.ts';
import { signIn } from '../../src/service/sign-in/sign-in.ts';
import { Client } from '../support/clients/client.ts';
import { Browser, keysIn } from '../support/dashboard/dashboard.ts';
import {
  addSecondFactor,
  createAccount,
  isSignedIn,
  newAuditSource,
  openSession,
  PASSWORD,
} from '../support/data/accounts.ts';
import { ENCRYPTION_KEY, withScratchDatabase } from '../support/postgres/postgres.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { createTestOrganization, startServer, useServer } from '../support/servers/server.ts';

const server = await useServer();

const admin = (...parameters: string[]) => runAdminCommand(server.databaseUrl, parameters);

/** Returns the command's JSON output. Throws if the command fails. */
async function resultOf(...parameters: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await admin('--json', ...parameters);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim()).not.toContain('\n');
  return JSON.parse(stdout);
}

async function createOrganization() {
  const email = `Ada-${crypto.randomUUID()}@Acme.example`;
  const made = await resultOf(
    ...['create-organization', '--name', 'Acme', '--admin-email', email, '--admin-name', 'Ada'],
  );
  return { id: String(made['organization_id']), email: email.toLowerCase(), made };
}

test('an operator makes an organization and a working key, suspends and resumes the organization, and revokes the key', async () => {
  const { id, email, made } = await createOrganization();
  expect(made).toEqual({
    organization_id: id,
    name: 'Acme',
    administrator: email,
    kind: 'invitation',
    link: expect.stringMatching(/^http:\/\/localhost:3000\/welcome\/[\w-]{43}$/),
    link_expires_at: expect.stringMatching(/Z$/),
  });
  const another = await resultOf('make-link', '--user', email);
  expect(another).toMatchObject({ email, kind: 'invitation' });
  expect(another['link']).not.toBe(made['link']);
  const issued = await resultOf('issue-key', '--user', email.toUpperCase(), '--name', 'Staging');
  expect(issued).toMatchObject({ name: 'Staging', organization_id: id, expires_at: expect.stringMatching(/Z$/) });
  const client = new Client(server.url, String(issued['key']));
  const response = await client.get('/api/key');
  expect(response.status).toBe(200);
  expect(response.body).toMatchObject({ id: issued['id'], expires_at: issued['expires_at'], organization: { id } });
  expect((await client.post('/api/parent_programs', { name: 'First' })).status).toBe(201);

  const [administrator] = await server.db.prisma.user.findMany({ where: { email } });
  const integration = crypto.randomUUID();
  await server.db.prisma.user.create({
    data: {
      id: integration,
      organizationId: id,
      kind: 'integration',
      name: 'Import',
      role: 'viewer',
      ownerUserId: administrator?.id ?? '',
    },
  });
  const ofIntegration = await resultOf(
    ...['issue-key', '--integration', integration, '--name', 'Import', '--permissions', 'parent_programs:read'],
  );
  const own = await new Client(server.url, String(ofIntegration['key'])).get('/api/key');
  expect(own.body).toMatchObject({ integration: { id: integration, name: 'Import' } });

  expect(await resultOf('suspend-organization', '--id', id)).toEqual({ suspended: id });
  expect((await client.get('/api/key')).status).toBe(403);
  const { organizations } = await resultOf('list-organizations');
  expect(organizations).toContainEqual({
    id,
    name: 'Acme',
    suspended_at: expect.any(String),
    moving_since: null,
    created_at: expect.any(String),
  });
  expect(await resultOf('resume-organization', '--id', id.toUpperCase())).toEqual({ resumed: id });
  expect((await client.get('/api/key')).status).toBe(200);

  const each = { organization_id: id, requests_per_second_of_each_key: 30 };
  expect(await resultOf('set-limits', '--organization', id, '--per-key', '30', '--per-organization', '0')).toEqual({
    ...each,
    requests_per_second_of_all_keys: 0,
  });
  expect((await client.get('/api/key')).headers['ratelimit-policy']).toBe('"key";q=30;w=1');
  expect(await resultOf('set-limits', '--organization', id, '--per-organization', 'default')).toEqual({
    ...each,
    requests_per_second_of_all_keys: 'default',
  });
  expect((await client.get('/api/key')).headers['ratelimit-policy']).toBe(
    '"key";q=30;w=1, "organization";q=1000000;w=1',
  );

  expect(await resultOf('revoke-key', '--id', String(issued['id']))).toEqual({ revoked: issued['id'] });
  expect((await client.get('/api/key')).status).toBe(401);
  const again = await admin('revoke-key', '--id', String(issued['id']));
  expect(again).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The key "Staging" was revoked by an operator on .* UTC\. .*\n$/),
  });
});

test('set-limits changes the limits that are given, and leaves the others', async () => {
  const { id } = await createOrganization();
  const limit = fc.constantFrom('0', '7', '1000000', 'default');
  const change = fc.record({ 'per-key': limit, 'per-organization': limit }, { requiredKeys: [] });
  let [ofEach, ofAll]: [string, string] = ['default', 'default'];
  await fc.assert(
    fc.asyncProperty(change, async (given) => {
      ofEach = given['per-key'] ?? ofEach;
      ofAll = given['per-organization'] ?? ofAll;
      const options = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
      const result = await resultOf('set-limits', '--organization', id, ...options);
      expect(Object.values(result).map(String)).toEqual([id, ofEach, ofAll]);
    }),
    { numRuns: 12 },
  );
});

test('a leaked key is revoked by the key itself or by its prefix, unless several keys have the prefix', async () => {
  const { id, email } = await createOrganization();
  const issue = async (name: string) => {
    const issued = await resultOf('issue-key', '--user', email, '--name', name);
    return { id: String(issued['id']), key: String(issued['key']) };
  };
  const [first, second] = [await issue('First'), await issue('Second')];
  expect(await resultOf('revoke-key', '--key', first.key)).toEqual({ revoked: first.id });
  expect((await new Client(server.url, first.key).get('/api/key')).status).toBe(401);
  const prefix = second.key.slice(0, 17);
  await server.db.prisma.apiKey.updateMany({ where: { id: first.id }, data: { keyPrefix: prefix } });
  const several = await admin('revoke-key', '--key', `${prefix}…`);
  expect(several).toMatchObject({ code: 1, stdout: '' });
  expect(several.stderr).toContain(`Several API keys have the prefix ${prefix}. None was revoked.`);
  expect(several.stderr).toContain(`${first.id}  revoked  "First" of ${email}`);
  expect(several.stderr).toContain(`${second.id}  active  "Second" of ${email}`);
  expect((await new Client(server.url, second.key).get('/api/key')).status).toBe(200);
  await server.db.prisma.apiKey.updateMany({ where: { id: first.id }, data: { keyPrefix: 'charter_live_0000' } });
  expect(await resultOf('revoke-key', '--key', prefix)).toEqual({ revoked: second.id });
  const unknown = await admin('revoke-key', '--key', formatKey('live', 'x'.repeat(40)));
  expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: 'There is no such API key.\n' });
  const where = { organizationId: id, action: 'key.revoked' };
  expect(await server.db.prisma.auditEvent.count({ where })).toBe(2);
});

test('a key can be limited in permissions and lifetime', async () => {
  const { email } = await createOrganization();
  const given = ['--permissions', 'parent_programs:read', '--expires-days', 'never'];
  const issue = ['issue-key', '--user', email, '--name', 'For people to read', ...given];
  const { stdout, code, stderr } = await admin(...issue);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const key = /^key: (charter_live_\w{46})$/m.exec(stdout)?.[1];
  expect(stdout).toMatch(/^permissions: parent_programs:read\nexpires at: none$/m);
  const client = new Client(server.url, key);
  expect((await client.get('/api/parent_programs')).status).toBe(200);
  expect((await client.post('/api/parent_programs', { name: 'Refused' })).status).toBe(403);
});

test('an operator removes a lost second factor, and its owner signs in with the password alone', async () => {
  const { db } = server;
  const owner = await createAccount(db, { role: 'administrator' });
  const { token } = await addSecondFactor(db, owner, new Date());
  const enter = () => signIn(db, { email: owner.email, password: PASSWORD, auditSource: newAuditSource() });
  expect(await enter()).toMatchObject({ kind: 'second-factor' });
  const given = ['reset-second-factor', '--user', owner.email.toUpperCase()];
  expect(await resultOf(...given)).toEqual({ second_factor_removed: owner.email });
  expect(await isSignedIn(db, token)).toBe(false);
  expect(await enter()).toMatchObject({ kind: 'signed-in' });
  const where = { action: 'user.second_factor_removed', targetUserId: owner.userId };
  expect(await db.prisma.auditEvent.findMany({ where })).toMatchObject([{ actorUserId: null, requestId: '' }]);
  expect(await admin(...given)).toEqual({
    code: 1,
    stdout: '',
    stderr: `${owner.email} has neither a second factor nor a passkey.\n`,
  });
  await addSecondFactor(db, owner, new Date());
  expect(await admin(...given)).toEqual({ code: 0, stdout: `second factor removed: ${owner.email}\n`, stderr: '' });
});

test('--help names every command and its options', async () => {
  const [all, one] = await Promise.all([admin('--help'), admin('issue-key', '--help')]);
  for (const command of 'create-organization make-link list-organizations issue-key revoke-key'.split(' ')) {
    expect(all).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(command) });
  }
  for (const command of ['suspend-organization', 'resume-organization', 'reset-second-factor', '--json'])
    expect(all.stdout).toContain(command);
  for (const option of ['--user', '--name', '--permissions', '--expires-days', '1 to 3650']) {
    expect(one.stdout).toContain(option);
  }
});

test('--version prints the version', async () => {
  expect(await admin('--version')).toEqual({ code: 0, stdout: `${RELEASE_VERSION}\n`, stderr: '' });
});

test('an empty database is migrated, so that either command can come first', async () => {
  await withScratchDatabase(async (url) => {
    const { code, stdout } = await runAdminCommand(url, ['--json', 'list-organizations']);
    expect({ code, listed: JSON.parse(stdout) }).toEqual({ code: 0, listed: { organizations: [] } });
  }, 'empty');
});

describe('in the test environment', () => {
  const issue = async (email: string, env: Record<string, string>): Promise<string> => {
    const given = ['--json', 'issue-key', '--user', email, '--name', 'Issued'];
    const { code, stdout, stderr } = await runAdminCommand(server.databaseUrl, given, env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout).key;
  };

  test('the operator, the form and the rotation each issue a key that only a server of this environment accepts', async () => {
    const { db, databaseUrl } = server;
    await using trial = await startServer({ databaseUrl, environment: 'test' });
    const account = await createAccount(db, { role: 'administrator' });
    const issued = await issue(account.email, { CHARTER_ENVIRONMENT: 'test' });
    const browser = new Browser(trial.url);
    browser.cookies.set('charter', await openSession(db, account));
    const form = await browser.submit('/profile/api-keys/new', { name: 'Created' }, '/profile/api-keys');
    const [created = ''] = keysIn(form);
    const { id } = await db.prisma.apiKey.findFirstOrThrow({ where: { userId: account.userId, name: 'Created' } });
    const [rotated = ''] = keysIn(await browser.submit(`/profile/api-keys/${id}/rotate`));
    const keys = [issued, created, rotated];
    for (const key of keys) expect(key).toMatch(/^charter_test_[0-9A-Za-z]{46}$/);
    const statuses = keys.map(async (key) => (await new Client(trial.url, key).get('/api/key')).status);
    expect(await Promise.all(statuses)).toEqual([200, 401, 200]);
    // The attack: a request with a key of the other environment, whose keys may be less well protected.
    const other = await createAccount(db, { role: 'administrator' });
    const live = await issue(other.email, {});
    expect(live).toMatch(/^charter_live_/);
    expect(await new Client(trial.url, live).get('/api/key')).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('only test keys') },
    });
  });
});

// The race: the encryption key is rotated while processes run without the new key. A load balancer must learn that these
// processes cannot serve.
test('rotate-encryption-key changes the key; a server without the new one responds with 503, logs the remedy and is not ready', async () => {
  const added = randomBytes(32).toString('base64');
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(line) });
  await using old = await startServer({ logger });
  const { client } = await createTestOrganization(old);
  const keys = { ENCRYPTION_KEY: `${added},${ENCRYPTION_KEY}` };
  const { code, stdout } = await runAdminCommand(old.databaseUrl, ['--json', 'rotate-encryption-key'], keys);
  expect({ code, result: JSON.parse(stdout) }).toEqual({
    code: 0,
    result: {
      secrets_encrypted: 1,
      note: 'A process that runs without the first key cannot read the secrets: restart it with this key. The other keys can be removed.',
    },
  });
  const { status, headers } = await client.get('/api/parent_programs');
  expect([status, headers['retry-after']]).toEqual([503, '5']);
  expect(await old.anonymous.get('/readyz')).toMatchObject({
    status: 503,
    body: { status: 'an encryption key is missing' },
  });
  expect((await old.anonymous.get('/livez')).status).toBe(200);
  const logged = lines.map((line) => JSON.parse(line));
  const failure = logged.find(({ level, requestId }) => level === 50 && requestId === headers['x-request-id']);
  expect(failure).not.toHaveProperty('err');
  expect(failure.msg).toBe(
    `a request failed: A value of organizations.cursor_key is encrypted with the key ${parseKeyring(added)?.currentId}, which this process does not have. Add this key to ENCRYPTION_KEY, or to the file encryption-key, and restart the process.`,
  );
  const withoutKey = await runAdminCommand(old.databaseUrl, ['list-organizations']);
  expect(withoutKey).toMatchObject({ code: 1, stdout: '' });
  expect(withoutKey.stderr).toMatch(/^ENCRYPTION_KEY lacks a key with which secrets in this database are encrypted/);
  expect(withoutKey.stderr).not.toContain(ENCRYPTION_KEY);
});
