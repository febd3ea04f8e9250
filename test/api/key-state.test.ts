import { mintKey } from '../../src/domain/keys/api-key.ts';
import { permissionsOf } from '../../src/domain/people/role.ts';
import { issueKeyByEmail, revokeKeyById } from '../../src/service/operator/keys.ts';
import { resumeOrganization, suspendOrganization } from '../../src/service/operator/organizations.ts';
import { Client } from '../support/clients/client.ts';
import { createTestOrganization, startServer, useServer } from '../support/servers/server.ts';

const INVALID_TOKEN = 'Bearer realm="charter", error="invalid_token"';
const REPLACE = 'Create another key in the dashboard, or ask an administrator for one.';

const server = await useServer();

/** Checks that the key gets a 401 with exactly this message, so that no further detail about the key is revealed. */
async function expectRefused(client: Client, message: string) {
  const response = await client.get('/api/key');
  expect(response).toMatchObject({ status: 401, headers: { 'www-authenticate': INVALID_TOKEN } });
  expect(response.body).toEqual({ message });
  expect(response.text).not.toContain(client.key);
}

const AT = new Date('2026-11-02T09:30:12.418Z');

// The attack: using a leaked key after its revocation, or the old key after a rotation.
test.each([
  ['expired', { expiresAt: AT }, `This API key expired at ${AT.toISOString()}. ${REPLACE}`],
  ['revoked', { revokedAt: AT }, `This API key was revoked at ${AT.toISOString()}. ${REPLACE}`],
  ['rotated', { rotatedAt: AT }, `This API key was rotated at ${AT.toISOString()}. Use the key that replaced it.`],
])('401 for the next request after a key has %s', async (_, data, message) => {
  const { id, client } = await createTestOrganization(server);
  expect((await client.get('/api/key')).status).toBe(200);
  await server.db.prisma.apiKey.updateMany({ where: { organizationId: id }, data });
  await expectRefused(client, message);
});

test('401 for a key while its user is deactivated', async () => {
  const { id, client } = await createTestOrganization(server);
  await server.db.prisma.user.updateMany({ where: { organizationId: id }, data: { deactivatedAt: AT } });
  await expectRefused(client, `The user of this API key was deactivated at ${AT.toISOString()}. ${REPLACE}`);
});

test('a suspended organization gets 403 until it is resumed', async () => {
  const { id, client } = await createTestOrganization(server);
  await suspendOrganization(server.db, id);
  expect((await client.get('/api/key')).status).toBe(403);
  await resumeOrganization(server.db, id);
  expect((await client.get('/api/key')).status).toBe(200);
});

// The attack: learning with a revoked key whether its organization is suspended.
test('a revoked key of a suspended organization gets 401', async () => {
  const { id, client } = await createTestOrganization(server);
  const { body } = await client.get('/api/key');
  await revokeKeyById(server.db, body.id);
  await suspendOrganization(server.db, id);
  expect((await client.get('/api/key')).status).toBe(401);
});

// The attack: a demoted user writes with a key that was created before the demotion.
test('a lowered role removes the permission from its keys at the next request', async () => {
  const { id, client } = await createTestOrganization(server, { role: 'member' });
  expect((await client.post('/api/parent_programs', { name: 'Before' })).status).toBe(201);
  await server.db.prisma.user.updateMany({ where: { organizationId: id }, data: { role: 'viewer' } });
  expect((await client.post('/api/parent_programs', { name: 'After' })).status).toBe(403);
  expect((await client.get('/api/parent_programs')).body.data).toHaveLength(1);
  expect((await client.get('/api/key')).body.permissions).toEqual(permissionsOf('viewer'));
});

test('on a test server, a test key works and a live key gets a 401 that names the reason', async () => {
  await using own = await startServer({ environment: 'test' });
  const { email } = await createTestOrganization(own);
  const { key } = await issueKeyByEmail(own.db, {
    email,
    name: 'Staging',
    permissions: ['parent_programs:read'],
    lifeDays: null,
    environment: 'test',
  });
  expect((await new Client(own.url, key).get('/api/key')).status).toBe(200);
  await expectRefused(
    new Client(own.url, mintKey('live').key),
    'This is a live key, but this server accepts only test keys.',
  );
});

test("getKey returns the key's owner and permissions, and never the key itself", async () => {
  const ours = await createTestOrganization(server, { permissions: ['parent_programs:read'], lifeDays: null });
  const response = await ours.client.get('/api/key');
  expect(response.status).toBe(200);
  expect(response.body).toMatchObject({
    name: 'Test',
    permissions: ['parent_programs:read'],
    expires_at: null,
    organization: { id: ours.id },
  });
  expect(response.text).not.toContain(ours.key);
});
