import { mintKey } from '../../src/domain/api-key.ts';
import { permissionsOf } from '../../src/domain/role.ts';
import { issueKeyByEmail, revokeKeyById } from '../../src/service/operator/keys.ts';
import { resumeOrganization, suspendOrganization } from '../../src/service/operator/organizations.ts';
import { Client } from '../support/clients/client.ts';
import { createTestOrganization, startServer, useServer } from '../support/servers/server.ts';

const INVALID_TOKEN = 'Bearer realm="charter", error="invalid_token"';
const REPLACE = 'Create another key in the dashboard, or ask an administrator for one.';

const server = await useServer();

/** Compares the whole body, so that no additional detail passes unnoticed. */
async function expectRefused(client: Client, message: string) {
  const response = await client.get('/api/key');
  expect(response).toMatchObject({ status: 401, headers: { 'www-authenticate': INVALID_TOKEN } });
  expect(response.body).toEqual({ message });
  expect(response.text).not.toContain(client.key);
}

test('a key works until the last millisecond before its expiry, and not at its expiry', async () => {
  let time = Date.now();
  const own = await startServer({ clock: () => time });
  try {
    const { client } = await createTestOrganization(own, { lifeDays: 1 });
    const { expires_at: expiresAt } = (await client.get('/api/key')).body;
    expect(Date.parse(expiresAt) - time).toBeGreaterThan(86_000_000);
    time = Date.parse(expiresAt) - 1;
    expect((await client.get('/api/key')).status).toBe(200);
    time = Date.parse(expiresAt);
    await expectRefused(client, `This API key expired at ${expiresAt}. ${REPLACE}`);
  } finally {
    await own.close();
  }
});

test('a key that does not expire works after ten years', async () => {
  const own = await startServer();
  try {
    const { client } = await createTestOrganization(own, { lifeDays: null });
    own.passDays(3651);
    expect((await client.get('/api/key')).status).toBe(200);
  } finally {
    await own.close();
  }
});

// Attack: using a leaked key after it was revoked.
test('401 for the next request after a key was revoked', async () => {
  const { client } = await createTestOrganization(server);
  const { body } = await client.get('/api/key');
  await revokeKeyById(server.db, body.id);
  const key = await server.db.prisma.apiKey.findFirstOrThrow({ where: { id: body.id } });
  await expectRefused(client, `This API key was revoked at ${key.revokedAt?.toISOString()}. ${REPLACE}`);
});

// Attack: using the old key after a rotation.
test('401 for the next request after a key was rotated', async () => {
  const { id, client } = await createTestOrganization(server);
  const rotatedAt = new Date('2026-11-02T09:30:12.418Z');
  await server.db.prisma.apiKey.updateMany({ where: { organizationId: id }, data: { rotatedAt } });
  await expectRefused(client, 'This API key was rotated at 2026-11-02T09:30:12.418Z. Use the key that replaced it.');
});

test('401 for a key while its user is deactivated', async () => {
  const { id, client } = await createTestOrganization(server);
  const deactivatedAt = new Date('2026-11-02T09:30:12.418Z');
  await server.db.prisma.user.updateMany({ where: { organizationId: id }, data: { deactivatedAt } });
  await expectRefused(client, `The user of this API key was deactivated at 2026-11-02T09:30:12.418Z. ${REPLACE}`);
});

test('a suspended organization gets 403 until it is resumed', async () => {
  const { id, client } = await createTestOrganization(server);
  await suspendOrganization(server.db, id);
  expect((await client.get('/api/key')).status).toBe(403);
  await resumeOrganization(server.db, id);
  expect((await client.get('/api/key')).status).toBe(200);
});

// Attack: a revoked key that reveals whether its organization is suspended.
test('a revoked key of a suspended organization gets 401', async () => {
  const { id, client } = await createTestOrganization(server);
  const { body } = await client.get('/api/key');
  await revokeKeyById(server.db, body.id);
  await suspendOrganization(server.db, id);
  expect((await client.get('/api/key')).status).toBe(401);
});

// Attack: a demoted user who still writes with a key created before the demotion.
test('a lowered role removes the permission from its keys at the next request', async () => {
  const { id, client } = await createTestOrganization(server, { role: 'member' });
  expect((await client.post('/api/parent_programs', { name: 'Before' })).status).toBe(201);
  await server.db.prisma.user.updateMany({ where: { organizationId: id }, data: { role: 'viewer' } });
  expect((await client.post('/api/parent_programs', { name: 'After' })).status).toBe(403);
  expect((await client.get('/api/parent_programs')).body.data).toHaveLength(1);
  expect((await client.get('/api/key')).body.permissions).toEqual(permissionsOf('viewer'));
});

// Attack: a key that gains permissions through its user's promotion.
test('a raised role gives its existing keys no new permission', async () => {
  const { id, client } = await createTestOrganization(server, {
    role: 'viewer',
    permissions: ['parent_programs:read'],
  });
  await server.db.prisma.user.updateMany({ where: { organizationId: id }, data: { role: 'administrator' } });
  expect((await client.post('/api/parent_programs', { name: 'x' })).status).toBe(403);
});

// Attack: a key row that somehow has more permissions than its user's role.
test("a viewer's key cannot write, even if its row has the permission", async () => {
  const { id, client } = await createTestOrganization(server, {
    role: 'viewer',
    permissions: ['parent_programs:read'],
  });
  await server.db.prisma.apiKey.updateMany({
    where: { organizationId: id },
    data: { permissions: ['parent_programs:read', 'parent_programs:write'] },
  });
  expect((await client.post('/api/parent_programs', { name: 'x' })).status).toBe(403);
  expect((await client.get('/api/key')).body.permissions).toEqual(['parent_programs:read']);
});

test('on a test server, a test key works and a live key gets a 401 that names the reason', async () => {
  const own = await startServer({ environment: 'test' });
  try {
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
  } finally {
    await own.close();
  }
});
