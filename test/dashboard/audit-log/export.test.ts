import { v7 as newId } from 'uuid';
import { csvLine } from '../../../src/dashboard/audit-log/csv.ts';
import { ACTION_WORDS } from '../../../src/dashboard/audit-log/event-table.ts';
import { userUrl } from '../../../src/dashboard/people/user-head.ts';
import { ACTIONS } from '../../../src/store/audit.ts';
import { createActor, createPeople, createScope, giveKey } from '../../support/data/actors.ts';
import { parseCsv } from '../../support/data/csv.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { db } = dashboard;

const FORMULAS = ['=HYPERLINK("http://evil.example","Click")', "+1+cmd|' /C calc'!A0", '-2+3', '@SUM(1)', 'x;=4'];

test.each([...FORMULAS, '\t=1', '\r=1', '\n=1', '＝1', ' =1', '\u00a0=1', '\u200b=1', '\0=1', '\x9f=1'])(
  'the cell %j is not run as a formula',
  (text) => {
    // The attack: a name that runs as a formula in the spreadsheet of the person who opens the export.
    const [cell = ''] = parseCsv(csvLine([text]))[0] ?? [];
    expect(cell).not.toMatch(/^[\s\p{C}\uFFFD]*[=+\-@＝＋－＠]/u);
  },
);

test.each([';', '\t', '\n'])(
  'a cell that contains %j is not run as a formula where that character separates cells',
  (mark) => {
    // The attack: where the comma is the decimal mark, spreadsheets split at semicolons.
    const line = csvLine(['2026-11-20', `name${mark}=1+1`, 'x']);
    for (const cell of line.split(mark).map((each) => each.replace(/^"/, ''))) expect(cell).not.toMatch(/^\s*[=+\-@]/);
  },
);

// The attack: a program takes Ctrl+Z in the name of a browser for the end of the file, and shows no later event.
test('the export contains no control characters except tabs and line breaks', () => {
  expect(csvLine(['a\x1Ab\0\x85', 'c\td'])).toBe('a\uFFFDb\uFFFD\uFFFD,"c\td"\r\n');
});

test('the audit log export contains the names of keys and people as plain text', async () => {
  // The attack: a member names a key; an administrator exports the log.
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

// Compares each column of an export with what was recorded, and with the page. No two columns of a line have the same
// value, so a column with the value of another one is noticed.

const scope = await createScope(db);
const named = [
  await createActor(db, scope, 'administrator', 'Ada Author'),
  await createActor(db, scope, 'manager', 'Tom Target'),
  await createActor(db, scope, 'member', 'Kim Keyholder'),
] as const;
const [ada, tom, kim] = named;
const auditor = await browserOf(dashboard, ada);

/** Who did it, to whom, and whose key it was: each person in each place. */
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

/** The lines of the export for the days of the recorded events, oldest first, each by column. */
async function exported(): Promise<Record<string, string>[]> {
  const { status, text } = await auditor.get('/organization/audit-log.csv?from=2026-03-01&to=2026-03-03');
  expect(status).toBe(200);
  const [columns = [], ...lines] = parseCsv(text);
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
  const [columns = [], cells = []] = parseCsv(text);
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

test('this is the only export: a new one is compared column by column here, too', () => {
  expect(dashboard.paths.filter((path) => path.endsWith('.csv'))).toEqual(['/organization/audit-log.csv']);
});

const people = await createPeople(db);
const admin = await browserOf(dashboard, people.administrator);

const ids = Object.values(people).flatMap((person) => ('userId' in person ? [person.userId] : []));
/** The instants of the events: the last and the first millisecond of days. */
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

// One of each action at each time, each with a user as its actor and another as its target.
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

/** The events of every page of the log, in their order. */
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
