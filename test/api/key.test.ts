import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

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
