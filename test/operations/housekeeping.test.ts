import { deleteExpired } from '../../src/operations/housekeeping.ts';
import { signIn } from '../../src/service/sign-in.ts';
import { createAccount, MINUTE, newTrace, signInAs } from '../support/accounts.ts';
import { SILENT } from '../support/server.ts';
import { useDatabase } from '../support/store.ts';

const database = await useDatabase();

test('housekeeping deletes failed sign-ins and sessions once they have expired', async () => {
  const { db } = database;
  const account = await createAccount(db);
  await signInAs(db, account);
  await signIn(db, { email: 'nobody@example.test', password: 'wrong', trace: newTrace() });
  const counts = async () => [await db.prisma.session.count(), await db.prisma.signInFailure.count()];
  const before = await counts();
  await deleteExpired(db, SILENT, new Date());
  expect(await counts()).toEqual(before);
  await deleteExpired(db, SILENT, new Date(Date.now() + 31 * 24 * 60 * MINUTE));
  expect(await counts()).toEqual([0, 0]);
});
