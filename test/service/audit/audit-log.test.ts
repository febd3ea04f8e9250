import {
  countAudit,
  exportAudit,
  findAuditedKeys,
  findAuditedUsers,
  listAudit,
  MAX_AUDITED_KEYS,
  MAX_AUDITED_USERS,
  MAX_COUNTED_EVENTS,
} from '../../../src/service/audit/audit-log.ts';
import type { AuditFilters, AuditRecord } from '../../../src/store/audit/audit.ts';
import { auditStatement } from '../../../src/store/audit/audit.ts';
import { createAccount } from '../../support/data/accounts.ts';
import { codeOf, giveKey } from '../../support/data/actors.ts';
import { explain, openWithAutoExplain } from '../../support/postgres/plans.ts';
import { writeRows } from '../../support/postgres/postgres.ts';
import { useDatabase } from '../../support/postgres/store.ts';

const ROWS = 100_000;

const database = await useDatabase();
const { db } = database;
const actor = await createAccount(db, { role: 'administrator' });
const member = await createAccount(db, { scope: actor.scope });
const foreign = await createAccount(db, { role: 'administrator' });
const FILLED_AT = Date.now();
// Inserts one event a minute, backwards from now. Every thousandth event is by the member, and the next event concerns the
// member.
for (const [{ scope, userId }, rows] of [
  [actor, ROWS],
  [foreign, 2000],
] as const) {
  await writeRows(
    db,
    `insert into audit_events (organization_id, id, at, act, actor_user_id, target_user_id)
     select $1, uuidv7(make_interval(mins => -i)), now() - make_interval(mins => i),
            case when i % 5000 = 0 then 'key.rotated' else 'user.signed_in' end,
            case when i % 1000 = 0 then $3 else $2 end::uuid, case when i % 1000 <= 1 then $3 else $2 end::uuid
     from generate_series(1, $4::int) i`,
    [scope.organizationId, userId, scope === actor.scope ? member.userId : userId, rows],
  );
}
await db.pool.query('analyze audit_events');

async function eventsOf(filters: AuditFilters): Promise<AuditRecord[]> {
  const events: AuditRecord[] = [];
  for await (const batch of exportAudit(db, actor, filters)) events.push(...batch);
  return events;
}

/** Returns a time half a minute away from the events around it, however long the tests take. */
const ago = (minutes: number) => new Date(FILLED_AT - minutes * 60_000);

test('the log pages return each event once, latest first', async () => {
  const first = await listAudit(db, actor);
  expect(first.events).toHaveLength(50);
  const second = await listAudit(db, actor, { after: first.next });
  const ids = [...first.events, ...second.events].map(({ id }) => id);
  expect(new Set(ids).size).toBe(100);
  expect(ids).toEqual(ids.toSorted().toReversed());
  expect(first.events[0]).toMatchObject({
    action: 'user.signed_in',
    actorEmail: actor.email,
    targetEmail: member.email,
  });
});

test.each<[string, () => AuditFilters]>([
  ['all events', () => ({})],
  ['events of one action', () => ({ action: 'user.signed_in' })],
  ['events of a person', () => ({ userIds: [member.userId] })],
])('the pages of %s lead back the same way', async (_, filters) => {
  const first = await listAudit(db, actor, filters());
  expect(first.previous).toBeNull();
  const second = await listAudit(db, actor, { ...filters(), after: first.next });
  const third = await listAudit(db, actor, { ...filters(), after: second.next });
  expect(third.events.length).toBeGreaterThan(0);
  expect(await listAudit(db, actor, { ...filters(), before: third.previous })).toEqual(second);
  expect(await listAudit(db, actor, { ...filters(), before: second.previous })).toEqual(first);
  expect(await listAudit(db, actor, { ...filters(), before: 'nonsense' })).toEqual(first);
});

test('each filter and a deep log page run as a range scan of an index', async () => {
  const all = { after: null, limit: 51 };
  const ids = (number: number) => Array.from({ length: number }, () => crypto.randomUUID());
  const [users, keys] = [[member.userId, ...ids(MAX_AUDITED_USERS - 1)], ids(MAX_AUDITED_KEYS)];
  const deep = (await listAudit(db, actor, { to: ago(90_000) })).events[0]?.id ?? '';
  const cases = [
    [all, 'audit_events_pkey'],
    [{ ...all, after: deep }, 'audit_events_pkey'],
    [{ ...all, before: deep }, 'audit_events_pkey'],
    [{ ...all, from: ago(60_100), to: ago(60_000) }, 'audit_events_pkey'],
    [{ ...all, action: 'key.rotated' }, 'audit_events_organization_id_act_id_idx'],
    [{ ...all, keyIds: keys }, 'audit_events_organization_id_key_id_id_idx'],
    [{ ...all, keyIds: keys, userIds: users }, 'audit_events_organization_id_key_id_id_idx'],
    [{ ...all, userIds: [member.userId] }, 'audit_events_organization_id_actor_user_id_id_idx'],
    [{ ...all, userIds: [member.userId] }, 'audit_events_organization_id_target_user_id_id_idx'],
    [{ ...all, userIds: users }, 'audit_events_organization_id_actor_user_id_id_idx'],
    [{ ...all, userIds: users, after: deep }, 'audit_events_organization_id_target_user_id_id_idx'],
    [{ ...all, userIds: users, before: deep }, 'audit_events_organization_id_target_user_id_id_idx'],
  ] as const;
  for (const [query, index] of cases) {
    const plan = await explain(db, auditStatement(actor.scope, query));
    expect(plan).toContain(index);
    expect(plan).not.toContain('Seq Scan on audit_events');
  }
});

test('a log page of a person whose events concern themselves costs no more than the rows that it shows', async () => {
  // The bug: an event whose actor is also its target is found twice, and the second copies were dropped row by row through the
  // whole log.
  const planned = await openWithAutoExplain(database.url);
  const events: number[] = [];
  const plans = await planned.explainAll(async () => {
    for (const after of [null, (await listAudit(planned.db, actor, { to: ago(50_000) })).next]) {
      events.push((await listAudit(planned.db, actor, { userIds: [actor.userId], after })).events.length);
    }
  });
  await planned.db.close();
  expect(events).toEqual([50, 50]);
  // Each row needs several index look-ups: for the event, the people and the key.
  for (const { blocks } of plans) expect(blocks).toBeLessThan(51 * 5 * 4);
});

test('a log page of the most people that a filter may fit reads no more than their index ranges', async () => {
  // The bug: with several people, PostgreSQL read the whole log in the order in which the page shows the events.
  const planned = await openWithAutoExplain(database.url);
  const userIds = [actor.userId, ...Array.from({ length: MAX_AUDITED_USERS - 1 }, () => crypto.randomUUID())];
  const plans = await planned.explainAll(async () => {
    for (const after of [null, (await listAudit(planned.db, actor, { to: ago(50_000) })).next]) {
      expect((await listAudit(planned.db, actor, { userIds, after })).events).toHaveLength(50);
    }
  });
  await planned.db.close();
  for (const { blocks } of plans) expect(blocks).toBeLessThan(51 * 5 * 4 + MAX_AUDITED_USERS * 2 * 5);
});

test('events are counted up to 1,000, once each, with the filters of the list, and only by administrators', async () => {
  expect(await countAudit(db, actor)).toBe(MAX_COUNTED_EVENTS + 1);
  // Each event of this person is found twice, because the person is both its actor and its target.
  expect(await countAudit(db, actor, { userIds: [actor.userId] })).toBe(MAX_COUNTED_EVENTS + 1);
  expect(await countAudit(db, actor, { userIds: [member.userId] })).toBe(200);
  expect(await countAudit(db, actor, { userIds: [member.userId], action: 'key.rotated' })).toBe(20);
  expect(await countAudit(db, actor, { from: ago(1000.5), to: ago(900.5) })).toBe(100);
  for (const filters of [{ userIds: ['nobody'] }, { keyIds: [crypto.randomUUID()] }])
    expect(await countAudit(db, actor, filters)).toBe(0);
  expect(await codeOf(countAudit(db, member))).toBe('forbidden');
});

test('counting reads no more index entries than it counts, however long the log is', async () => {
  const planned = await openWithAutoExplain(database.url);
  const others = Array.from({ length: MAX_AUDITED_USERS - 1 }, () => crypto.randomUUID());
  const plans = await planned.explainAll(async () => {
    for (const userIds of [undefined, [actor.userId], [actor.userId, ...others]])
      expect(await countAudit(planned.db, actor, { userIds })).toBe(MAX_COUNTED_EVENTS + 1);
  });
  await planned.db.close();
  expect(plans).toHaveLength(3);
  for (const { blocks } of plans) expect(blocks).toBeLessThan(2 * (MAX_COUNTED_EVENTS + 1) + MAX_AUDITED_USERS * 2 * 5);
});

test('a filter finds people and keys by a part of their name, a whole e-mail only its user, and none elsewhere', async () => {
  const admin = await createAccount(db, { role: 'administrator' });
  const scope = { organizationId: admin.scope.organizationId };
  const name = (text: string, i: number) => ({ ...scope, id: crypto.randomUUID(), name: `${text} ${i}` });
  const many = Array.from({ length: MAX_AUDITED_USERS + 1 }, (_, i) => name('Quill', i));
  await db.prisma.user.createMany({
    data: many.map((user, i) => ({ ...user, role: 'viewer', email: `quill-${i}@example.test` })),
  });
  expect(await findAuditedUsers(db, admin, 'quill 2')).toHaveLength(2);
  expect(await findAuditedUsers(db, admin, 'QUILL-2@EXAMPLE.TEST')).toEqual([many[2]?.id]);
  expect(await findAuditedUsers(db, admin, '%')).toEqual([]);
  expect(await findAuditedUsers(db, admin, 'Quill')).toBeNull();
  expect(await findAuditedUsers(db, foreign, 'Quill 2')).toEqual([]);
  const key = await giveKey(db, admin, { name: 'Nightly import' });
  for (const text of ['night', key.key.slice(0, 17)]) expect(await findAuditedKeys(db, admin, text)).toEqual([key.id]);
  expect(await findAuditedKeys(db, foreign, 'night')).toEqual([]);
});

test('the log filters by action, by user as actor or target, and by time', async () => {
  expect(await eventsOf({ action: 'key.rotated' })).toHaveLength(20);
  expect(await eventsOf({ userIds: [member.userId] })).toHaveLength(200);
  const once = await eventsOf({ userIds: [member.userId], action: 'key.rotated' });
  expect(once).toHaveLength(20);
  expect(new Set(once.map(({ id }) => id)).size).toBe(20);
  const [from, to] = [ago(1000.5), ago(900.5)];
  const between = await eventsOf({ from, to });
  expect(between).toHaveLength(100);
  expect(between.every(({ at }) => at >= from && at < to)).toBe(true);
});

test('the export returns the whole log in pages of at most 1,000', async () => {
  let [exported, batches] = [0, 0];
  for await (const batch of exportAudit(db, actor)) {
    expect(batch.length).toBeLessThanOrEqual(1000);
    exported += batch.length;
    batches += 1;
  }
  expect([exported, batches]).toEqual([ROWS, 100]);
});

test('only administrators can read and export the log', async () => {
  // The attack: a manager requests the URL of the export.
  const manager = await createAccount(db, { role: 'manager', scope: actor.scope });
  for (const person of [manager, member]) {
    expect(await codeOf(listAudit(db, person))).toBe('forbidden');
    expect(await codeOf(findAuditedUsers(db, person, 'a'))).toBe('forbidden');
    expect(await codeOf(findAuditedKeys(db, person, 'a'))).toBe('forbidden');
    expect(() => exportAudit(db, person)).toThrow('Contact an administrator.');
  }
});
