import { rm } from 'node:fs/promises';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import { createDataFolder, startOwnedPostgres } from '../support/postgres/owned-postgres.ts';
import { withClient } from '../support/postgres/postgres.ts';
import { organizationAt, withCharter } from '../support/processes/charter.ts';

const LIST = '/api/parent_programs';

// During a failover, a load balancer may already choose a standby that has not yet applied the last changes of the old primary.
test('a standby is not used, not even for a read, until it is promoted', async () => {
  const folder = await createDataFolder();
  const postgres = await startOwnedPostgres(folder);
  try {
    const DATABASE_URL = await postgres.url();
    await withCharter({ DATABASE_URL }, async (charter) => {
      const { client } = await organizationAt(DATABASE_URL, charter);
      const { body: program } = await client.post(LIST, { name: 'Kept' });
      await postgres.restartAsStandby();
      const { rows } = await withClient(DATABASE_URL, (asking) =>
        asking.query('select count(*)::int as programs, pg_is_in_recovery() as is_standby from parent_programs'),
      );
      expect(rows).toEqual([{ programs: 1, is_standby: true }]);
      const refused = await Promise.all([
        client.get(LIST),
        client.get(`${LIST}/${program.id}`),
        client.get('/api/key'),
        client.post(LIST, { name: 'Lost' }),
        client.get('/readyz'),
      ]);
      expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);

      await withClient(DATABASE_URL, (asking) => asking.query('select pg_promote()'));
      expect((await client.get(LIST)).body.data).toEqual([program]);
      expect((await client.post(LIST, { name: 'After the promotion' })).status).toBe(201);
      expect((await client.get('/readyz')).status).toBe(200);
    });
  } finally {
    await postgres.stop('immediate');
    await removeCluster(folder);
    await rm(folder, { recursive: true, force: true });
  }
});
