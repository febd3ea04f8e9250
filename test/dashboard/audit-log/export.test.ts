import { connect, type Socket } from 'node:net';
import { parse } from 'csv-parse/sync';
import { v7 as newId } from 'uuid';
import { ACTION_WORDS } from '../../../src/dashboard/audit-log/event-table.ts';
import { userUrl } from '../../../src/dashboard/http/addresses.ts';
import { csvLine } from '../../../src/dashboard/http/csv-file.ts';
import { ACTIONS } from '../../../src/store/audit/audit.ts';
import { wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createActor, createPeople, createScope, giveKey } from '../../support/data/actors.ts';
import { withClient, writeRows } from '../../support/postgres/postgres.ts';
import { until } from '../../support/wait.ts';

const dashboard = await useDashboard();
const { db } = dashboard;

const FORMULAS = ['=HYPERLINK("http://evil.example","Click")', "+1+cmd|' /C calc'!A0", '-2+3', '@SUM(1)', 'x;=4'];

test.each([...FORMULAS, '\t=1', '\r=1', '\n=1', '＝1', ' =1', '\u00a0=1', '\u200b=1', '\0=1', '\x9f=1'])(
  'the cell %j is not run as a formula',
  (text) => {
    // The attack: a name runs as a formula in the spreadsheet of the person who opens the export.
    const [cell = ''] = parse(csvLine([text]))[0] ?? [];
    expect(cell).not.toMatch(/^[\s\p{C}\uFFFD]*[=+\-@＝＋－＠]/u);
  },
);

test.each([';', '\t', '\n'])(
  'a cell that contains %j is not run as a formula where that character separates cells',
  (mark) => {
    // The attack: hiding a formula behind a semicolon. Spreadsheets split there in countries where the comma is the decimal mark.
    const line = csvLine(['2026-11-20', `name${mark}=1+1`, 'x']);
    for (const cell of line.split(mark).map((each) => each.replace(/^"/, ''))) expect(cell).not.toMatch(/^\s*[=+\-@]/);
  },
);

// The attack: a Ctrl+Z in the User-Agent header hides later events, because a program takes it for the end of the file.
test('the export contains no control characters except tabs and line breaks', () => {
  expect(csvLine(['a\x1Ab\0\x85', 'c\td'])).toBe('a\uFFFDb\uFFFD\uFFFD,"c\td"\r\n');
});

test('the audit log export contains the names of keys and people as plain text', async () => {
  // The attack: a member gives a key a formula as its name, and an administrator exports the log.
  const people = await createPeople(db);
  const browser = await browserOf(dashboard, people.administrator, { 'User-Agent': '=1+1' });
  for (const name of FORMULAS) await giveKey(db, people.member, { name });
  await db.prisma.user.updateMany({ where: { id: people.member.userId }, data: { name: '=1,"\r\n=2' } });
  await browser.submit('/organization', { max_key_life_days: '77' });
  const file = await browser.get('/organization/audit-log.csv');
  expect([file.status, file.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(file.headers['content-disposition']).toMatch(
    /^attachment; filename="charter-audit-log-\d{4}-\d\d-\d\d\.csv"$/,
  );
  // Without a byte order mark, some spreadsheets read UTF-8 as windows-1252.
  expect(file.text).toMatch(/^\uFEFFtime,action,/);
  const cells = file.text.match(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,\r\n]*))/gm) ?? [];
  for (const cell of cells) expect(cell).not.toMatch(/^,?"?\s*[=+\-@]/);
  expect(file.text).toContain('HYPERLINK');
});

// Compares each column of an export with what was recorded, and with the page. All values in a line differ, so a column that
// contains another column's value is noticed.

const scope = await createScope(db);
const named = [
  await createActor(db, scope, 'administrator', 'Ada Author'),
  await createActor(db, scope, 'manager', 'Tom Target'),
  await createActor(db, scope, 'member', 'Kim Keyholder'),
] as const;
const [ada, tom, kim] = named;
const auditor = await browserOf(dashboard, ada);

/** The actor, the target and the holder of the key in each event. Each person is each of them once. */
const PLACES = [
  [ada, tom, kim],
  [tom, kim, ada],
  [kim, ada, tom],
] as const;

const recorded = await Promise.all(
  PLACES.map(async ([actor, target, holder], i) => {
    const key = await giveKey(db, holder, { name: `Key of the ${holder.role}` });
    const at = new Date(Date.UTC(2026, 2, i + 1, 20, 30, 40, 500 + i));
    const event = {
      organizationId: scope.organizationId,
      id: newId({ msecs: at.getTime() }),
      at,
      action: ACTIONS[i] ?? '',
      actorUserId: actor.userId,
      targetUserId: target.userId,
      keyId: key.id,
      detail: { more: `The rest ${i}`, note: `The note ${i}` },
      ip: `192.0.2.${i + 10}`,
      userAgent: `Agent ${i}`,
      requestId: `request-${i}`,
    };
    await db.prisma.auditEvent.create({ data: event });
    const { keyPrefix } = await db.prisma.apiKey.findFirstOrThrow({ where: { id: key.id } });
    return {
      time: event.at.toISOString(),
      action: event.action,
      by_name: actor.name,
      by_email: actor.email,
      user_name: target.name,
      user_email: target.email,
      key_id: event.keyId,
      key_name: `Key of the ${holder.role}`,
      key_prefix: keyPrefix,
      detail: `more: The rest ${i}; note: The note ${i}`,
      ip: event.ip,
      user_agent: event.userAgent,
      request_id: event.requestId,
      id: event.id,
    };
  }),
);

/** Returns the lines of the export for the days of the recorded events, oldest first, each as values by column. */
async function exported(): Promise<Record<string, string>[]> {
  const { status, text } = await auditor.get('/organization/audit-log.csv?from=2026-03-01&to=2026-03-03');
  expect(status).toBe(200);
  const [columns = [], ...lines] = parse(text, { bom: true });
  return lines.map((cells) => Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? '']))).toReversed();
}

test('no two columns of a line have the same value', () => {
  for (const line of recorded) expect(new Set(Object.values(line)).size).toBe(Object.values(line).length);
});

test('each column of the export has what was recorded for it', async () => {
  expect(await exported()).toEqual(recorded);
});

test('the columns that do not apply to an event are empty', async () => {
  const at = new Date('2026-03-04T12:00:00Z');
  await db.prisma.auditEvent.create({
    data: {
      organizationId: scope.organizationId,
      id: newId({ msecs: at.getTime() }),
      at,
      action: 'organization.suspended',
    },
  });
  const { text } = await auditor.get('/organization/audit-log.csv?from=2026-03-04&to=2026-03-04');
  const [columns = [], cells = []] = parse(text, { bom: true });
  const filled = columns.filter((_, i) => cells[i] !== '');
  expect(filled).toEqual(['time', 'action', 'id']);
});

test('the page shows each value of the export where it belongs', async () => {
  const { text } = await auditor.get('/organization/audit-log?from=2026-03-01&to=2026-03-03');
  const rows = text.split('<tr role="row">').slice(2);
  for (const line of await exported()) {
    const row = rows.find((each) => each.includes(line['request_id'] ?? ''));
    const [time = '', event = '', by = '', target = '', address = ''] = row?.split('<td ') ?? [];
    const idOf = (email: string | undefined) => named.find((person) => person.email === email)?.userId ?? '';
    const shown: [cell: string, ...values: (string | undefined)[]][] = [
      [time, `datetime="${line['time']}"`],
      [event, wordsForAction(line['action']), ...(line['detail'] ?? '').split('; ').map((each) => each.split(': ')[1])],
      [by, line['by_name'], `href="${userUrl(idOf(line['by_email']))}"`],
      [
        target,
        line['user_name'],
        `href="${userUrl(idOf(line['user_email']))}"`,
        line['key_name'],
        line['key_prefix'],
        `/${line['key_id']}"`,
      ],
      [address, line['ip'], line['user_agent'], line['request_id']],
    ];
    for (const [cell, ...values] of shown) for (const value of values) expect(cell).toContain(value);
    expect(by).not.toContain(line['user_name']);
    expect(target).not.toContain(line['by_name']);
  }
});

function wordsForAction(action: string | undefined): string | undefined {
  const known = ACTIONS.find((each) => each === action);
  return known === undefined ? undefined : ACTION_WORDS[known];
}

test('the exports are those of the audit log, of requests and of their numbers, so none lacks comparisons with its page', () => {
  const files = dashboard.paths.filter((path) => path.endsWith('.csv'));
  expect(files.filter((path) => !/\/requests(\/(list|operations))?\.csv$/.test(path))).toEqual([
    '/organization/audit-log.csv',
  ]);
});

const people = await createPeople(db);
const admin = await browserOf(dashboard, people.administrator);

const ids = Object.values(people).flatMap((person) => ('userId' in person ? [person.userId] : []));
/** The times of the events: the last and the first millisecond of days. */
const TIMES = [
  '2026-03-01T23:59:59.999Z',
  '2026-03-02T00:00:00.000Z',
  '2026-03-02T23:59:59.999Z',
  '2026-03-03T00:00:00.000Z',
];

const keys = [
  await giveKey(db, people.member, { name: 'Nightly import' }),
  await giveKey(db, people.manager, { name: 'Nightly export' }),
  await giveKey(db, people.manager, { name: 'Reporting' }),
];

// Inserts one event of each action at each time. The actor and the target are different users.
const { organizationId } = people.scope;
await db.prisma.auditEvent.createMany({
  data: TIMES.flatMap((time, i) =>
    ACTIONS.map((action, j) => ({
      organizationId,
      id: newId({ msecs: Date.parse(time) }),
      action,
      actorUserId: ids[(i + j) % ids.length] ?? null,
      targetUserId: ids[(i + 2 * j) % ids.length] ?? null,
      keyId: keys[j % (keys.length + 1)]?.id ?? null,
      detail: {},
      userAgent: 'Test',
      requestId: `request-${i}-${j}`,
    })),
  ),
});

const QUERIES = [
  '',
  'action=key.created',
  `person=${ids[1]}`,
  `person=${encodeURIComponent(people.member.email)}`,
  'person=the%20m',
  'key=nightly',
  'person=the%20m&key=nightly&from=2026-03-02',
  'from=2026-03-02',
  'to=2026-03-02',
  `action=key.created&person=${people.member.userId}&from=2026-03-02&to=2026-03-02`,
];

async function eventsOfPages(query: string): Promise<string[]> {
  const found: string[] = [];
  for (let path: string | undefined = `/organization/audit-log?${query}`; path !== undefined; ) {
    const { status, text } = await admin.get(path);
    expect(status).toBe(200);
    found.push(...(text.match(/request-\d+-\d+/g) ?? []));
    path = /href="([^"]*[?&;]after=[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  return found;
}

test.each(QUERIES)('the export with the filters "%s" has the events of the page, in the same order', async (query) => {
  const exported = await admin.get(`/organization/audit-log.csv?${query}`);
  const events = exported.text.match(/request-\d+-\d+/g) ?? [];
  expect(events).toEqual(await eventsOfPages(query));
  expect(events.length).toBeGreaterThan(0);
});

test.each([
  ['from=2026-03-02', [1, 2, 3]],
  ['to=2026-03-02', [0, 1, 2]],
  ['from=2026-03-02&to=2026-03-02', [1, 2]],
])('%s includes the whole day, and no other', async (query, times) => {
  const events = await eventsOfPages(query);
  expect([...new Set(events.map((event) => Number(event.split('-')[1])))].toSorted()).toEqual(times);
});

// The export is larger than the buffers between the server and a client that stops reading.

const PATH = '/organization/audit-log.csv';
const EVENTS = 15_000;
const BYTES_OF_EACH = 1000;

const { administrator } = await createPeople(db);
const reader = await browserOf(dashboard, administrator);
await writeRows(
  db,
  `insert into audit_events (organization_id, id, act, detail, user_agent)
   select $1, gen_random_uuid(), 'key.renamed', jsonb_build_object('to', repeat('x', ${BYTES_OF_EACH - 300})), repeat('y', 300)
   from generate_series(1, ${EVENTS})`,
  [administrator.scope.organizationId],
);
beforeEach(() => {
  dashboard.logged.length = 0;
});

type Download = { readonly socket: Socket; readonly received: { text: string }; readonly closed: Promise<void> };

/** Starts a download, reads its beginning and stops reading. */
function beginDownload(): Download {
  const { hostname, port } = new URL(reader.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const received = { text: '' };
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received.text += chunk.toString();
  });
  socket.once('data', () => socket.pause());
  const cookie = [...reader.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`);
  return { socket, received, closed };
}

const untilReceiving = ({ received }: Download) =>
  until('the download to begin', () => received.text.startsWith('HTTP/1.1 200'));

const lines = () => dashboard.logged.map((line): Record<string, unknown> => JSON.parse(line));
const faults = () => lines().filter(({ msg }) => msg === 'a request failed');

/** Blocks the SQL query that reads the log, and passes the id of the PostgreSQL process that runs the query to `meanwhile`. */
async function holdReading<T>(begin: () => Promise<T>, meanwhile: (pid: number) => Promise<unknown>): Promise<T> {
  return withClient(dashboard.databaseUrl, async (holder) => {
    await holder.query('begin; lock table audit_events');
    const begun = begin();
    const reading = await until('the log to be read', async () => {
      // Uses another connection, because within a transaction PostgreSQL keeps showing pg_stat_activity as it was when it was
      // first read.
      const { rows } = await db.pool.query<{ pid: number }>(
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

const cut = (pid: number) => db.pool.query('select pg_terminate_backend($1)', [pid]);

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
    const { pool } = db;
    await until('nothing more to be read for it', () => pool.idleCount === pool.totalCount);
    expect((await reader.get('/organization')).status).toBe(200);
    expect(faults()).toEqual([]);
  },
);

test('when the first rows cannot be read, the response is the outage page and not a file', async () => {
  const page = await holdReading(() => reader.get(PATH), cut);
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
