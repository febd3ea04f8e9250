import { pino } from 'pino';
import { proxyDatabase } from '../support/postgres/database-proxy.ts';
import { untilWaiting, useScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const LIST = '/api/parent_programs';

const database = await useScratchDatabase();
const proxy = await proxyDatabase(database.url);
afterAll(() => proxy.stop());
const logged: string[] = [];
const logger = pino({ level: 'error', base: null }, { write: (line) => logged.push(line) });
const server = await useServer({ databaseUrl: proxy.url, logger });

test('503 while the database is stopped; the server recovers by itself when the database is back', async () => {
  const { client } = await createTestOrganization(server);
  const { body: program } = await client.post(LIST, { name: 'Kept' });
  await proxy.stop();
  const down = await Promise.all([client.get('/api/key'), client.get(LIST), client.post(LIST, { name: 'Lost' })]);
  expect(down.map(({ status }) => status)).toEqual([503, 503, 503]);
  expect((await server.anonymous.get('/livez')).status).toBe(200);
  expect(await server.anonymous.get('/readyz')).toMatchObject({
    status: 503,
    body: { status: 'the database does not answer' },
  });
  const failed = logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'a request failed');
  expect(failed.map(({ requestId }) => requestId)).toEqual(
    expect.arrayContaining(down.map(({ headers }) => headers['x-request-id'])),
  );
  await proxy.start();
  expect((await client.get(LIST)).body.data).toEqual([program]);
  expect((await server.anonymous.get('/readyz')).status).toBe(200);
});

// The risk: after a client has got 503, the server carries out the request once the lock is free, although the client will send
// it again.
test.each(['PATCH', 'POST'])(
  'a %s that waits while the database is lost gets 503 and has no effect later',
  async (method) => {
    const { id, client } = await createTestOrganization(server);
    const { body: program } = await client.post(LIST, { name: 'Before' });
    await withClient(database.url, async (blocker) => {
      await blocker.query('begin');
      await blocker.query('select 1 from organizations where id = $1 for update', [id]);
      const waiting = client.send(method, method === 'POST' ? LIST : `${LIST}/${program.id}`, {
        body: { name: 'After' },
      });
      await untilWaiting(blocker, 1);
      await proxy.stop();
      expect((await waiting).status).toBe(503);
      // The wait must end before the statement timeout of 15 seconds, which would end the SQL statement, too.
      await untilWaiting(blocker, 0, { seconds: 14 });
      await blocker.query('rollback');
      await proxy.start();
    });
    expect((await client.get(LIST)).body.data).toEqual([program]);
  },
);

test('a connection that PostgreSQL closes, as in a restart, fails one request at most', async () => {
  const { client } = await createTestOrganization(server);
  await client.get('/api/key');
  await withClient(database.url, (other) =>
    other.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    ),
  );
  expect([200, 503]).toContain((await client.get('/api/key')).status);
  expect((await client.get('/api/key')).status).toBe(200);
});
