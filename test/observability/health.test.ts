import { Client } from '../support/clients/client.ts';
import { proxyDatabase } from '../support/postgres/database-proxy.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import { type LogLine, logOf, organizationAt, withCharter } from '../support/processes/charter.ts';
import { useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const server = await useServer();
const database = await useScratchDatabase();

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

test('readiness is 503 while the database is stopped, and 200 from the same process once it is back', async () => {
  const proxy = await proxyDatabase(database.url);
  await withCharter({ DATABASE_URL: proxy.url }, async (charter) => {
    const { client } = await organizationAt(database.url, charter);
    const program = await client.post('/api/parent_programs', { name: 'Before' });
    expect(program.status).toBe(201);
    await proxy.stop();
    const anonymous = new Client(charter.url);
    const [ready, ...refused] = await Promise.all([
      anonymous.get('/readyz'),
      client.get('/api/parent_programs'),
      client.post('/api/parent_programs', { name: 'While it is gone' }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    expect(ready).toMatchObject({ status: 503, body: { status: 'the database does not answer' } });
    expect((await anonymous.get('/livez')).status).toBe(200);
    await proxy.start();
    expect((await anonymous.get('/readyz')).status).toBe(200);
    expect((await client.get('/api/parent_programs')).body.data).toEqual([program.body]);
    // The log tells the operator, with the request ids that the callers got.
    for (const { headers } of refused) {
      const fault = { level: 50, msg: 'a request failed', requestId: headers['x-request-id'] };
      const isFault = (line: LogLine) => line['requestId'] === fault.requestId && line['msg'] === fault.msg;
      expect(await until('the fault', () => logOf(charter).find(isFault))).toMatchObject(fault);
    }
  });
  await proxy.stop();
});

// The attack: a flood of probes that fills the queue for database connections.
test('while every connection is taken, readiness fails in time, and any number of probes uses one place in the queue', async () => {
  const { pool } = server.db;
  const patience = pool.options.connectionTimeoutMillis;
  // Longer than the statement time-out.
  pool.options.connectionTimeoutMillis = 0;
  const held = await Promise.all(Array.from({ length: pool.options.max ?? 0 }, () => pool.connect()));
  try {
    const responses = await Promise.all(Array.from({ length: 50 }, () => server.anonymous.get('/readyz')));
    for (const response of responses)
      expect(response).toMatchObject({ status: 503, body: { status: 'the database answers too slowly' } });
    // What the server does in the background may wait, too.
    expect(pool.waitingCount).toBeGreaterThanOrEqual(1);
    expect(pool.waitingCount).toBeLessThan(5);
    expect((await server.anonymous.get('/livez')).status).toBe(200);
  } finally {
    for (const connection of held) connection.release();
    pool.options.connectionTimeoutMillis = patience;
  }
  expect((await server.anonymous.get('/readyz')).status).toBe(200);
});
