import { revokeKeyById } from '../../src/service/operator/keys.ts';
import { startKeyUses } from '../../src/traffic/last-used.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';

const SECOND = 1000;
let time = Date.parse('2026-05-04T12:00:00.000Z');
const server = await useServer({ clock: () => time });

async function clientOf({ id: organizationId }: TestOrganization) {
  await server.keyUses.flush();
  const { lastUsedNetwork, lastUsedClient } = await server.db.prisma.apiKey.findFirstOrThrow({
    where: { organizationId },
  });
  return { network: lastUsedNetwork, client: lastUsedClient };
}

const by = (userAgent: string) => ({ headers: { 'User-Agent': userAgent } });

test('the network and the product of the client of the last use are recorded', async () => {
  const ours = await createTestOrganization(server);
  await ours.client.get('/api/key', by('curl/8.5.0 (x86_64)'));
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: 'curl/8.5.0' });
  time += SECOND;
  await ours.client.get('/api/key', by('export/2'));
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: 'export/2' });
  time += SECOND;
  await ours.client.get('/api/key');
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: null });
});

test('a refused use of a revoked key does not change the client of the last use', async () => {
  // The attack: somebody who finds a revoked key hides who has used it last.
  const ours = await createTestOrganization(server);
  const { body } = await ours.client.get('/api/key', by('curl/8.5.0'));
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: 'curl/8.5.0' });
  await revokeKeyById(server.db, body.id);
  time += SECOND;
  expect((await ours.client.get('/api/key', by('found/1'))).status).toBe(401);
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: 'curl/8.5.0' });
});

test('of two processes, the one with the later use names the client', async () => {
  const ours = await createTestOrganization(server);
  const { id } = (await ours.client.get('/api/key')).body;
  const key = { organizationId: ours.id, id };
  const [early, late] = [new Date(time + 60 * SECOND), new Date(time + 120 * SECOND)];
  for (const [at, client] of [
    [late, 'late'],
    [early, 'early'],
  ] as const) {
    const uses = startKeyUses(server.db, { onFailure: (error) => expect(error).toBeNull() });
    const use = uses.of(key, at);
    use.accepted(at);
    use.usedBy({ network: '192.0.2.1', client }, at);
    await uses.stop();
  }
  expect(await clientOf(ours)).toEqual({ network: '192.0.2.1', client: 'late' });
});
