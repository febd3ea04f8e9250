import { createScratchDatabase, TIME_ZONE, withClient } from '../support/postgres/postgres.ts';
import { openTestDatabase } from '../support/postgres/store.ts';
import { runFile } from '../support/processes/process.ts';

// The other tests prove nothing about time zones if these surroundings are lost.

test('the tests and the processes that they start run in a time zone other than UTC', async () => {
  expect(new Date(0).getTimezoneOffset()).toBe(-330);
  expect((await runFile('test/support/processes/print-time-zone.mjs', [])).stdout).toBe('-330\n');
});

test('the databases of the tests have another default time zone, and the server reads them in UTC', async () => {
  const scratch = await createScratchDatabase();
  const shown = await withClient(scratch.url, (client) => client.query('show timezone'));
  expect(shown.rows).toEqual([{ TimeZone: TIME_ZONE }]);
  await scratch.drop();
  const { db, close } = await openTestDatabase();
  expect((await db.pool.query('show timezone')).rows).toEqual([{ TimeZone: 'UTC' }]);
  await close();
});
