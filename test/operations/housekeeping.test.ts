import { deleteExpired } from '../../src/operations/housekeeping.ts';
import { signIn } from '../../src/service/sign-in.ts';
import { createAccount, MINUTE, newTrace, signInAs } from '../support/accounts.ts';
import { addRequests } from '../support/key-uses.ts';
import { SILENT } from '../support/server.ts';
import { createKeyRow, createTenant, useDatabase } from '../support/store.ts';

const database = await useDatabase();
const retention = { eventDays: 30 };

test('housekeeping deletes failed sign-ins and sessions once they have expired', async () => {
  const { db } = database;
  const account = await createAccount(db);
  await signInAs(db, account);
  await signIn(db, { email: 'nobody@example.test', password: 'wrong', trace: newTrace() });
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
});
