import { v7 as newId } from 'uuid';
import { ACTIONS } from '../../../src/store/audit.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const people = await createPeople(dashboard.db);
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
  await giveKey(dashboard.db, people.member, { name: 'Nightly import' }),
  await giveKey(dashboard.db, people.manager, { name: 'Nightly export' }),
  await giveKey(dashboard.db, people.manager, { name: 'Reporting' }),
];

// One of each action at each time, each with a user as its actor and another as its target.
const { organizationId } = people.scope;
await dashboard.db.prisma.auditEvent.createMany({
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
