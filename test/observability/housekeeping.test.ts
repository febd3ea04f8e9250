import { pino } from 'pino';
import { deleteExpired, HOUSEKEEPING_TASKS, startHousekeeping } from '../../src/observability/housekeeping.ts';
import { Tally } from '../../src/observability/instruments/measures.ts';
import { signIn } from '../../src/service/sign-in/sign-in.ts';
import { openDatabase } from '../../src/store/sql/database.ts';
import { createAccount, MINUTE, newAuditSource, signInAs } from '../support/data/accounts.ts';
import { insertEndpoint, listDeliveries, writeEvents } from '../support/data/deliveries.ts';
import { addRequests } from '../support/data/key-uses.ts';
import { untilWaiting, withClient } from '../support/postgres/postgres.ts';
import { createKeyRow, createTenant, useDatabase } from '../support/postgres/store.ts';
import { SILENT } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const database = await useDatabase();
const retention = { eventDays: 30 };

test('a deletion that fails counts, and the others still run', async () => {
  const unreachable = openDatabase({
    url: 'postgres://charter@127.0.0.1:1/charter',
    poolSize: 1,
    keyring: database.db.keyring,
    onIdleError: () => {},
  });
  const failures = new Tally(HOUSEKEEPING_TASKS);
  await deleteExpired(unreachable, SILENT, { now: new Date(), retention, failures });
  await unreachable.close();
  expect(failures.entries()).toEqual(HOUSEKEEPING_TASKS.map((rows) => [rows, 1]));
});

test('housekeeping deletes failed sign-ins and sessions once they have expired', async () => {
  const { db } = database;
  const account = await createAccount(db);
  await signInAs(db, account);
  await signIn(db, { email: 'nobody@example.test', password: 'wrong', auditSource: newAuditSource() });
  const counts = async () => [await db.prisma.session.count(), await db.prisma.signInFailure.count()];
  const before = await counts();
  await deleteExpired(db, SILENT, { now: new Date(), retention });
  expect(await counts()).toEqual(before);
  await deleteExpired(db, SILENT, { now: new Date(Date.now() + 31 * 24 * 60 * MINUTE), retention });
  expect(await counts()).toEqual([0, 0]);
});

test('housekeeping deletes the counts of requests once no page shows them: hours after 48 hours, days after 30 days', async () => {
  const { db } = database;
  const tenant = await createTenant(db);
  const { id: keyId } = await createKeyRow(db, tenant);
  const { organizationId } = tenant.scope;
  const now = new Date('2026-05-31T12:30:00Z');
  const hours = ['2026-05-01T00', '2026-05-02T00', '2026-05-29T12', '2026-05-29T13', '2026-05-31T12'];
  for (const hour of hours) {
    await addRequests(db, { organizationId, keyId, at: new Date(`${hour}:00:00Z`), successful: 1 });
  }
  await deleteExpired(db, SILENT, { now, retention });
  const rows = await db.prisma.keyUse.findMany({ orderBy: [{ period: 'asc' }, { startsAt: 'asc' }] });
  expect(rows.map(({ period, startsAt }) => `${period} ${startsAt.toISOString().slice(0, 13)}`)).toEqual([
    ...['hour 2026-05-29T13', 'hour 2026-05-31T12'],
    ...['day 2026-05-02T00', 'day 2026-05-29T00', 'day 2026-05-31T00'],
  ]);
  const days = await db.prisma.keyOperationUse.findMany({ orderBy: { startsAt: 'asc' } });
  expect(days.map(({ startsAt, successful }) => [startsAt.toISOString().slice(0, 10), successful])).toEqual([
    ...[
      ['2026-05-02', 1n],
      ['2026-05-29', 2n],
      ['2026-05-31', 1n],
    ],
  ]);
});

test('housekeeping deletes webhook deliveries with their events, and the counts of their days after 30 days', async () => {
  const { db } = database;
  const { organizationId } = (await createTenant(db)).scope;
  const { secret: _, ...endpoint } = await insertEndpoint(db, organizationId, { url: 'https://hook.example' });
  const [old = '', recent = ''] = await writeEvents(db, organizationId, 2);
  // Moves the event 31 days into the past, with an id of that time.
  const text = `update webhook_deliveries set created_at = now() - interval '31 days',
    message_id = event_id(cast(extract(epoch from now() - interval '31 days') * 1000000 as bigint), 1) where message_id = $1`;
  await db.pool.query(text, [old]);
  const [expired] = await listDeliveries(db, endpoint);
  const attempt = { ...endpoint, number: 1, at: new Date(), durationMs: 1, status: 200 };
  for (const messageId of [expired?.messageId ?? '', recent])
    await db.prisma.webhookAttempt.create({ data: { ...attempt, messageId } });
  await deleteExpired(db, SILENT, { now: new Date(), retention });
  const left = await listDeliveries(db, endpoint);
  expect(left.map(({ messageId, log }) => [messageId, log.length])).toEqual([[recent, 1]]);
  for (const day of ['2026-04-30', '2026-05-01', '2026-05-31'])
    await db.prisma.webhookDay.create({ data: { ...endpoint, day: new Date(day), succeeded: 1, failed: 0 } });
  await deleteExpired(db, SILENT, { now: new Date('2026-05-31T12:30:00Z'), retention });
  const days = await db.prisma.webhookDay.findMany({ orderBy: { day: 'asc' } });
  expect(days.map(({ day }) => day.toISOString().slice(0, 10))).toEqual(['2026-05-01', '2026-05-31']);
});

test('housekeeping erases the previous secret of a webhook endpoint once it no longer signs', async () => {
  const { db } = database;
  const { organizationId } = (await createTenant(db)).scope;
  const endsAt = new Date('2026-05-31T12:30:00Z');
  const row = {
    url: 'https://hook.example',
    previousSecret: Buffer.alloc(32, 'previous'),
    previousSecretUntil: endsAt,
  };
  const { endpointId: id } = await insertEndpoint(db, organizationId, row);
  const where = { organizationId_id: { organizationId, id } };
  const before = await db.prisma.webhookEndpoint.findUniqueOrThrow({ where });
  await deleteExpired(db, SILENT, { now: new Date(endsAt.getTime() - 1), retention });
  expect(await db.prisma.webhookEndpoint.findUniqueOrThrow({ where })).toEqual(before);
  await deleteExpired(db, SILENT, { now: endsAt, retention });
  const erased = { ...before, previousSecret: null, previousSecretUntil: null };
  expect(await db.prisma.webhookEndpoint.findUniqueOrThrow({ where })).toEqual(erased);
});

const EVENTS = 2500;
const CHUNK = 1000;

/** Starts housekeeping whose first chunk of expired events waits until `release` is called. */
async function startBlocked(work: (running: Blocked) => Promise<void>): Promise<void> {
  const { db, url } = database;
  const { organizationId } = (await createTenant(db)).scope;
  await db.pool.query(
    `insert into events (organization_id, id, type, "timestamp", data)
     select $1, event_id(version, i), 'parent_program.created', event_timestamp(version), '{}'
     from cast(extract(epoch from now() - interval '31 days') * 1000000 as bigint) version, generate_series(1, $2::int) i`,
    [organizationId, EVENTS],
  );
  const printed: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void printed.push(line) });
  await withClient(url, async (other) => {
    await other.query('begin');
    await other.query('select 1 from organizations where id = $1 for update', [organizationId]);
    const stop = startHousekeeping(db, logger, { retention, schedule: { firstMs: 1, everyMs: 20 } });
    await untilWaiting(db.pool, 1);
    await work({
      stop,
      printed,
      release: async () => void (await other.query('commit')),
      left: () => db.prisma.event.count({ where: { organizationId } }),
    });
  });
  await deleteExpired(db, SILENT, { now: new Date(), retention });
}

type Blocked = {
  readonly stop: () => Promise<void>;
  readonly printed: readonly string[];
  readonly release: () => Promise<void>;
  readonly left: () => Promise<number>;
};

// The risk: a shutdown waits until millions of rows have been deleted.
test('a stop waits for the chunk in progress, and the next one does not begin', async () => {
  await startBlocked(async ({ stop, release, left }) => {
    const stopped = stop();
    await release();
    await stopped;
    expect(await left()).toBe(EVENTS - CHUNK);
  });
});

test('no run begins while the last one is in progress', async () => {
  await startBlocked(async ({ stop, printed, release }) => {
    await until('a skipped run', () => printed.some((line) => line.includes('still in progress')));
    await untilWaiting(database.db.pool, 1);
    const stopped = stop();
    await release();
    await stopped;
  });
});
