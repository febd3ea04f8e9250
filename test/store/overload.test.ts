import { createTestOrganization, useServer } from '../support/server.ts';

const server = await useServer();

// The attack: more requests than the database can serve, until everybody waits longer than is useful.
test('with a full waiting queue, one more request gets 503 with Retry-After at once, and succeeds later', async () => {
  const { client } = await createTestOrganization(server);
  const { pool, isOverloaded } = { pool: server.db.pool, isOverloaded: () => server.db.isOverloaded() };
  const connections = pool.options.max ?? 0;
  const held = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
  const waiting = Array.from({ length: connections * 50 - 1 }, () => pool.query('select 1'));
  expect(isOverloaded()).toBe(false);
  waiting.push(pool.query('select 1'));
  expect(isOverloaded()).toBe(true);
  const refused = await Promise.all([client.get('/api/parent_programs'), client.get('/api/key', { key: 'no-key' })]);
  expect(refused.map(({ status, headers }) => [status, headers['retry-after']])).toEqual([
    [503, '5'],
    [503, '5'],
  ]);
  // The liveness probe, which triggers restarts, is not refused.
  expect((await client.get('/livez')).status).toBe(200);
  // The readiness probe fails like every other request.
  expect(await server.anonymous.get('/readyz')).toMatchObject({
    ...{ status: 503, body: { status: 'too many requests wait for the database' } },
  });
  for (const connection of held) connection.release();
  await Promise.all(waiting);
  expect(isOverloaded()).toBe(false);
  expect((await client.get('/api/parent_programs')).status).toBe(200);
  expect((await server.anonymous.get('/readyz')).status).toBe(200);
});
