import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { serverUrl, TEMPLATE, withClient } from './postgres.ts';

/**
 * One PostgreSQL for the run, in a folder of its own; nothing in it outlives the run, so it need not reach the disk. Many
 * short runs, one after another, may be given one instead (CHARTER_TEST_SERVER), whose template is made anew for each.
 */
export default async function setUp({ seed = 0 }: { seed?: number } = {}): Promise<void> {
  process.env['CHARTER_TEST_SEED'] = String(seed);
  const folder = await mkdtemp(join(tmpdir(), 'charter-test-'));
  // As root, PostgreSQL runs as another user, who must be able to reach the folder.
  await chmod(folder, 0o755);
  process.env['CHARTER_TEST_FOLDER'] = folder;
  process.env['CHARTER_TEST_POSTGRES'] = process.env['CHARTER_TEST_SERVER'] ?? (await startPostgres(folder));
  process.env['NODE_ENV'] = 'test';
  await withClient(serverUrl(), async (client) => {
    await client.query(`drop database if exists ${TEMPLATE} with (force)`);
    await client.query(`create database ${TEMPLATE}`);
  });
  await migrate(serverUrl(TEMPLATE));
}

async function startPostgres(dataDir: string): Promise<string> {
  const postgres = await joinEmbeddedPostgres({
    dataDir,
    postgresSettings: { fsync: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  Object.assign(globalThis, { charterTestPostgres: postgres });
  return postgres.url;
}
