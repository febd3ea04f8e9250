import { type Database, isReachable } from '../../src/store/sql/database.ts';
import { isOutage, isUniqueViolation } from '../../src/store/sql/database-errors.ts';
import { listKeysByHash } from '../../src/store/unscoped/keys.ts';
import { proxyDatabase } from '../support/postgres/database-proxy.ts';
import { serverUrl, withClient } from '../support/postgres/postgres.ts';
import { connectTo, createTenant, useDatabase } from '../support/postgres/store.ts';
import { until } from '../support/wait.ts';

// Every error here is a real error, and is caused both through Prisma and through the pool: an outage gets 503, a bug 500.

const database = await useDatabase();
const { db } = database;

async function withDatabase(url: string, work: (other: Database) => Promise<void>): Promise<void> {
  await using other = connectTo(url, 1);
  await work(other);
}

async function failuresOf(...works: Promise<unknown>[]): Promise<unknown[]> {
  const outcomes = await Promise.allSettled(works);
  return outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : 'no failure'));
}

async function expectOutages(...works: Promise<unknown>[]): Promise<void> {
  for (const failure of await failuresOf(...works))
    expect({ failure, isOutage: isOutage(failure) }).toMatchObject({ isOutage: true });
}

test('a PostgreSQL that does not listen is an outage', async () => {
  const proxy = await proxyDatabase(database.url);
  await proxy.stop();
  await withDatabase(proxy.url, async (gone) => {
    await expectOutages(
      gone.pool.query('select 1'),
      gone.prisma.user.count(),
      gone.prisma.$transaction([gone.prisma.user.count()]),
    );
    expect(await isReachable(gone)).toBe(false);
  });
});

test.each([
  ['has no such database', { pathname: '/missing' }],
  ['refuses the password', { password: 'changed' }],
])('a PostgreSQL that %s any more is an outage, because the client cannot fix it', async (_, change) => {
  const url = Object.assign(new URL(database.url), change);
  await withDatabase(url.href, (gone) => expectOutages(gone.pool.query('select 1'), gone.prisma.user.count()));
});

test('a connection that is cut during a statement is an outage', async () => {
  const slow = [db.pool.query('select pg_sleep(30) as cut'), db.prisma.$queryRaw`select pg_sleep(30)::text as cut`];
  const failures = failuresOf(...slow);
  const cut = new Set<number>();
  await withClient(await serverUrl(), (other) =>
    until('both statements to be cut', async () => {
      const { rows } = await other.query<{ pid: number }>(
        `select pid, pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and query like '%as cut'`,
        [new URL(database.url).pathname.slice(1)],
      );
      for (const { pid } of rows) cut.add(pid);
      return cut.size === slow.length;
    }),
  );
  expect((await failures).map(isOutage)).toEqual([true, true]);
  expect(await isReachable(db)).toBe(true);
});

// The case: a connection is reset while Prisma runs a raw query, as for each update and deletion of a program.
test('a connection that is reset during a raw statement is an outage', async () => {
  await using proxy = await proxyDatabase(database.url);
  await withDatabase(proxy.url, async (gone) => {
    const failures = failuresOf(gone.prisma.$queryRaw`select pg_sleep(30)::text as reset`);
    await withClient(await serverUrl(), (other) =>
      until('the statement to run', async () => {
        const query = `select 1 from pg_stat_activity where datname = $1 and query like '%as reset' and state = 'active'`;
        const running = await other.query(query, [new URL(database.url).pathname.slice(1)]);
        return running.rowCount === 1;
      }),
    );
    proxy.reset();
    expect((await failures).map(isOutage)).toEqual([true]);
  });
});

// The case: PostgreSQL stops between two statements of a transaction, while no statement runs.
test('the end of a checked-out but idle connection does not crash the process', async () => {
  await withDatabase(database.url, async (other) => {
    const client = await other.pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await withClient(await serverUrl(), (killer) => killer.query('select pg_terminate_backend($1)', [rows[0]?.pid]));
    await ended;
    client.release(true);
    expect(await isReachable(other)).toBe(true);
  });
});

test('a statement that exceeds its time limit is an outage', async () => {
  const client = await db.pool.connect();
  await client.query(`set statement_timeout = '20ms'`);
  await expectOutages(client.query('select pg_sleep(30)'));
  client.release(true);
  await expectOutages(
    db.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`set local statement_timeout = '20ms'`;
      await tx.$queryRaw`select pg_sleep(30)::text`;
    }),
  );
});

test('a statement without a response is cut after 17 seconds, an idle connection is not', async () => {
  await withDatabase(database.url, async (narrow) => {
    const client = await narrow.pool.connect();
    const { stream } = client.connection;
    expect(stream).toMatchObject({ timeout: 17_000 });
    client.release();
    stream.emit('timeout');
    expect(stream.destroyed).toBe(false);
    const failures = failuresOf(narrow.pool.query('select pg_sleep(30)'));
    await until('the statement to be sent', async () => narrow.pool.idleCount === 0);
    stream.emit('timeout');
    expect((await failures).map(isOutage)).toEqual([true]);
  });
});

// The case: between two statements of a transaction, the process ends, or the network to the process is cut.
test('PostgreSQL ends the transactions and the connections of a process that is gone', async () => {
  const { rows } = await db.pool.query(`
    select current_setting('idle_in_transaction_session_timeout')::interval
             < current_setting('statement_timeout')::interval as "isBeforeAWriteGivesUp",
           current_setting('tcp_keepalives_idle')::int
             + current_setting('tcp_keepalives_interval')::int * current_setting('tcp_keepalives_count')::int as seconds`);
  expect(rows).toEqual([{ isBeforeAWriteGivesUp: true, seconds: 120 }]);
});

test('two connections stay open while the server is idle', async () => {
  await withDatabase(database.url, async (wide) => {
    wide.pool.options.max = 5;
    wide.pool.options.idleTimeoutMillis = 20;
    const clients = await Promise.all(Array.from({ length: 5 }, () => wide.pool.connect()));
    for (const client of clients) client.release();
    expect(wide.pool.totalCount).toBe(5);
    await until('the other connections to be closed', () => wide.pool.totalCount <= 2);
    expect(wide.pool.totalCount).toBe(2);
  });
});

test('a row that stays locked for too long is an outage', async () => {
  await withClient(database.url, async (holder) => {
    await holder.query('begin; lock table users');
    await expectOutages(
      db.prisma.$transaction(async (tx) => {
        await tx.$executeRaw`set local statement_timeout = '20ms'`;
        await tx.user.count();
      }),
    );
    await holder.query('rollback');
  });
});

test('a pool without a free connection within the time limit is an outage', async () => {
  await withDatabase(database.url, async (narrow) => {
    const held = await narrow.pool.connect();
    narrow.pool.options.connectionTimeoutMillis = 50;
    await expectOutages(
      narrow.pool.query('select 1'),
      narrow.prisma.user.count(),
      narrow.prisma.$transaction(() => Promise.resolve(), { maxWait: 50 }),
    );
    held.release();
  });
});

test('a deadlock, a serialization failure and a read-only standby are outages', async () => {
  const raise = (code: string) => db.prisma.$executeRawUnsafe(`do $$ begin raise sqlstate '${code}'; end $$`);
  await expectOutages(...['40P01', '40001', '25006', '53300', '57P01', '57P03', '08006', '25P03'].map(raise));
});

test('an error of ours is a bug, not an outage', async () => {
  const { scope, email } = await createTenant(db);
  const { organizationId } = scope;
  const bugs = await failuresOf(
    db.pool.query('select nothing'),
    db.pool.query('selec 1'),
    db.prisma.$queryRaw`select 1 / 0`,
    db.prisma.user.create({ data: { organizationId, id: organizationId, email, name: 'Test', role: 'viewer' } }),
    db.prisma.user.findFirst({ where: { email: '\0' } }),
    listKeysByHash(db, []).then(() => Promise.reject(new TypeError('x is not a function'))),
  );
  expect(bugs).not.toContain('no failure');
  expect(bugs.map(isOutage)).toEqual(bugs.map(() => false));
  // Only the fourth error is the violation of a unique index.
  expect(bugs.map(isUniqueViolation)).toEqual([false, false, false, true, false, false]);
});

test.each([undefined, null, 'ECONNREFUSED', { code: 'ECONNREFUSED' }, Object.assign(new Error('x'), { code: 57014 })])(
  'an error from elsewhere is not an outage: %p',
  (thrown) => {
    expect(isOutage(thrown)).toBe(false);
  },
);

test('an error that is its own cause ends the search', () => {
  const circular = new Error('x');
  circular.cause = circular;
  expect(isOutage(circular)).toBe(false);
});
