// Compares each column of an export with what was recorded, and with the page. No two columns of a line have the same
// value, so a column with the value of another one is noticed.
import { v7 as newId } from 'uuid';
import { ACTION_WORDS } from '../../../src/dashboard/audit-log/event-table.ts';
import { userUrl } from '../../../src/dashboard/people/user-head.ts';
import { ACTIONS } from '../../../src/store/audit.ts';
import { createActor, createScope, giveKey } from '../../support/data/actors.ts';
import { parseCsv } from '../../support/data/csv.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const scope = await createScope(db);
const people = [
  await createActor(db, scope, 'administrator', 'Ada Author'),
  await createActor(db, scope, 'manager', 'Tom Target'),
  await createActor(db, scope, 'member', 'Kim Keyholder'),
] as const;
const [ada, tom, kim] = people;
const admin = await browserOf(dashboard, ada);

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
  const { status, text } = await admin.get('/organization/audit-log.csv?from=2026-03-01&to=2026-03-03');
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
  const { text } = await admin.get('/organization/audit-log.csv?from=2026-03-04&to=2026-03-04');
  const [columns = [], cells = []] = parseCsv(text);
  const filled = columns.filter((_, i) => cells[i] !== '');
  expect(filled).toEqual(['time', 'action', 'id']);
});

test('the page shows each value of the export where it belongs', async () => {
  const { text } = await admin.get('/organization/audit-log?from=2026-03-01&to=2026-03-03');
  const rows = text.split('<tr role="row">').slice(2);
  for (const line of await exported()) {
    const row = rows.find((each) => each.includes(line['request_id'] ?? ''));
    const [time = '', event = '', by = '', target = '', address = ''] = row?.split('<td ') ?? [];
    const idOf = (email: string | undefined) => people.find((person) => person.email === email)?.userId ?? '';
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
