import { useServer } from '../support/servers/server.ts';

const server = await useServer();

test('the server reports that it is alive and ready, without a key and uncached', async () => {
  for (const [path, status] of [
    ['/livez', 'alive'],
    ['/readyz', 'ready'],
  ] as const) {
    const response = await server.anonymous.get(path);
    expect(response).toMatchObject({ status: 200, body: { status }, headers: { 'cache-control': 'no-store' } });
    expect((await server.anonymous.send('HEAD', path)).status).toBe(200);
  }
});

// The attack: a flood of probes that fills the queue for database connections.
test('while every connection is taken, readiness fails in time, and any number of probes uses one place in the queue', async () => {
  const { pool } = server.db;
  const patience = pool.options.connectionTimeoutMillis;
  // The requests must wait for longer than the statement timeout.
  pool.options.connectionTimeoutMillis = 0;
  const held = await Promise.all(Array.from({ length: pool.options.max ?? 0 }, () => pool.connect()));
  try {
    const responses = await Promise.all(Array.from({ length: 50 }, () => server.anonymous.get('/readyz')));
    for (const response of responses)
      expect(response).toMatchObject({ status: 503, body: { status: 'the database answers too slowly' } });
    // Background work of the server may wait for a connection, too.
    expect(pool.waitingCount).toBeGreaterThanOrEqual(1);
    expect(pool.waitingCount).toBeLessThan(5);
    expect((await server.anonymous.get('/livez')).status).toBe(200);
  } finally {
    for (const connection of held) connection.release();
    pool.options.connectionTimeoutMillis = patience;
  }
  expect((await server.anonymous.get('/readyz')).status).toBe(200);
});
