import { connect, type Socket } from 'node:net';
import { createPeople } from '../../support/data/actors.ts';
import { wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { withClient } from '../../support/postgres/postgres.ts';
import { writeRows } from '../../support/postgres/rows.ts';
import { until } from '../../support/wait.ts';

// The export is larger than the buffers between the server and a client that stops reading.

const PATH = '/organization/audit-log.csv';
const EVENTS = 15_000;
const BYTES_OF_EACH = 1000;

const dashboard = await useDashboard();
const { administrator } = await createPeople(dashboard.db);
const admin = await browserOf(dashboard, administrator);
await writeRows(
  dashboard.db,
  `insert into audit_events (organization_id, id, act, detail, user_agent)
   select $1, gen_random_uuid(), 'key.renamed', jsonb_build_object('to', repeat('x', ${BYTES_OF_EACH - 300})), repeat('y', 300)
   from generate_series(1, ${EVENTS})`,
  [administrator.scope.organizationId],
);
beforeEach(() => {
  dashboard.logged.length = 0;
});

type Download = { readonly socket: Socket; readonly received: { text: string }; readonly closed: Promise<void> };

/** Starts a download, reads its beginning and stops. */
function beginDownload(): Download {
  const { hostname, port } = new URL(admin.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const received = { text: '' };
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received.text += chunk.toString();
  });
  socket.once('data', () => socket.pause());
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`);
  return { socket, received, closed };
}

const untilReceiving = ({ received }: Download) =>
  until('the download to begin', () => received.text.startsWith('HTTP/1.1 200'));

const lines = () => dashboard.logged.map((line): Record<string, unknown> => JSON.parse(line));
const faults = () => lines().filter(({ msg }) => msg === 'a request failed');

/** Blocks the query that reads the log, and reports the id of the PostgreSQL process that runs it. */
async function holdReading<T>(begin: () => Promise<T>, meanwhile: (pid: number) => Promise<unknown>): Promise<T> {
  return withClient(dashboard.databaseUrl, async (holder) => {
    await holder.query('begin; lock table audit_events');
    const begun = begin();
    const reading = await until('the log to be read', async () => {
      // Uses another connection: within a transaction, PostgreSQL keeps showing the activity as it was at the first
      // look.
      const { rows } = await dashboard.db.pool.query<{ pid: number }>(
        `select pid from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%audit_events%'`,
      );
      return rows[0];
    });
    await meanwhile(reading.pid);
    await holder.query('rollback');
    return begun;
  });
}

const cut = (pid: number) => dashboard.db.pool.query('select pg_terminate_backend($1)', [pid]);

test.each(['before its first rows', 'in its midst'])(
  'a download that the client cancels %s is logged as cancelled, not as an error',
  async (when) => {
    const cancel = async (download: Download) => {
      download.socket.destroy();
      const line = await until('its line', () => lines().find(({ path }) => path === PATH));
      expect(line).toMatchObject({ status: 200, aborted: true });
    };
    if (when === 'in its midst') {
      const download = beginDownload();
      await untilReceiving(download);
      await cancel(download);
    } else {
      const begun: Download[] = [];
      await holdReading(
        async () => begun.push(beginDownload()),
        () => Promise.all(begun.map(cancel)),
      );
    }
    const { pool } = dashboard.db;
    await until('nothing more to be read for it', () => pool.idleCount === pool.totalCount);
    expect((await admin.get('/organization')).status).toBe(200);
    expect(faults()).toEqual([]);
  },
);

test('when the first rows cannot be read, the response is the outage page and not a file', async () => {
  const page = await holdReading(() => admin.get(PATH), cut);
  expect(page.status).toBe(503);
  expect(page.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'retry-after': '5' });
  expect(page.headers['content-disposition']).toBeUndefined();
  expect(wordsOf(page)).toContain('Charter cannot answer at the moment');
  expect(page.text).not.toContain('key.renamed');
  expect(faults()).toMatchObject([{ requestId: page.headers['x-request-id'] }]);
});

// The risk: an auditor takes half of the log for the whole log.
test('when later rows cannot be read, the download breaks off and cannot be taken for complete', async () => {
  const download = beginDownload();
  await untilReceiving(download);
  await holdReading(async () => download.socket.resume(), cut);
  await download.closed;
  expect(download.received.text).toContain('key.renamed');
  // The last chunk of a chunked body (RFC 9112 section 7.1).
  expect(download.received.text.endsWith('\r\n0\r\n\r\n')).toBe(false);
  expect(await until('the fault', () => faults()[0])).toBeDefined();
});
