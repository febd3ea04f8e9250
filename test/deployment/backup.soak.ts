// The commands of the guide "Backups" back up a server's database and restore it, while the server runs.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '../support/clients/client.ts';
import { blocksOf, readGuide } from '../support/contract/guides.ts';
import { withDebianPostgres } from '../support/postgres/debian-postgres.ts';
import { withClient } from '../support/postgres/postgres.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { organizationAt, startCharter, withCharter } from '../support/processes/charter.ts';
import type { TestOrganization } from '../support/servers/server.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { until } from '../support/wait.ts';

const LIST = '/api/parent_programs';
const trials = blocksOf('backups.md').filter(({ options }) => options.has('trial'));

type Installation = {
  readonly databaseUrl: string;
  readonly ownerUrl: string;
  /** The folder of the backups. */
  readonly backups: string;
  /** Runs a command of the guide as the user that runs PostgreSQL. */
  readonly follow: (trial: string, env?: Record<string, string>) => Promise<void>;
};

async function withInstallation(work: (installation: Installation) => Promise<void>): Promise<void> {
  await withDebianPostgres(async ({ databaseUrl, ownerUrl, backups, run }) => {
    await work({
      databaseUrl,
      ownerUrl,
      backups,
      async follow(trial, env) {
        const block = trials.find(({ options }) => options.get('trial') === trial);
        await run(block?.code ?? '', env);
      },
    });
  });
}

async function create(client: Client, name: string): Promise<string> {
  const { status, body } = await untilAdmitted(() => client.post(LIST, { name }));
  expect(status).toBe(201);
  return body.id;
}

async function namesOf(client: Client): Promise<string[]> {
  const { status, body } = await untilAdmitted(() => client.get(`${LIST}?limit=100`));
  expect(status).toBe(200);
  return body.data.map(({ name }: { name: string }) => name);
}

test('a dump is restored in a new database and served; the server continues with the database of a moment, and nothing of the lost time is accepted', async () => {
  await withInstallation(async (installation) => {
    await using charter = await startCharter({ DATABASE_URL: installation.ownerUrl });
    const organization = await organizationAt(installation.databaseUrl, charter);
    await restoreDump(installation, organization);
    await restoreMoment(installation, organization.client);
    expect(charter.child.exitCode).toBeNull();
  });
});

async function restoreDump(
  { databaseUrl, ownerUrl, backups, follow }: Installation,
  { client, key }: TestOrganization,
): Promise<void> {
  await create(client, 'In the dump');
  await follow('dump');
  await expectToBeVerified({ databaseUrl, ownerUrl, backups });
  await create(client, 'After the dump');
  const restoredUrl = (url: string) => Object.assign(new URL(url), { pathname: '/charter_restored' }).href;
  await follow('restore-dump', { RESTORED_URL: restoredUrl(databaseUrl) });
  await withCharter({ DATABASE_URL: restoredUrl(ownerUrl) }, async ({ url }) => {
    const other = new Client(url, key);
    expect(await namesOf(other)).toEqual(['In the dump']);
    await create(other, 'In the restored database');
    expect(await namesOf(other)).toEqual(['In the dump', 'In the restored database']);
  });
}

/**
 * Expects that the dump is accepted, and is refused with another key, if it is incomplete, or if the database user may not create
 * databases.
 */
async function expectToBeVerified(urls: Pick<Installation, 'databaseUrl' | 'ownerUrl' | 'backups'>): Promise<void> {
  const { databaseUrl, ownerUrl, backups } = urls;
  const file = join(backups, 'charter.dump');
  const verify = (dump: string, url = databaseUrl, env: Record<string, string> = {}) =>
    runAdminCommand(url, ['--json', 'verify-dump', '--file', dump], env);
  const { code, stdout, stderr } = await verify(file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const printed = JSON.parse(stdout);
  expect(printed).toMatchObject({ verified_dump: file, organizations: 1, parent_programs: 1, api_keys: 1, secrets: 1 });
  const [, sample = '{}'] = /^(\{"verified_dump".*\})$/m.exec(readGuide('backups.md')) ?? [];
  expect(Object.keys(printed)).toEqual(Object.keys(JSON.parse(sample)));
  const otherKey = Buffer.alloc(32, 7).toString('base64');
  expect(await verify(file, databaseUrl, { ENCRYPTION_KEY: otherKey })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^A value of organizations.cursor_key is encrypted with the key/),
  });
  const part = join(backups, 'part.dump');
  const bytes = await readFile(file);
  await writeFile(part, bytes.subarray(0, bytes.length / 2));
  expect(await verify(part)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The dump cannot be restored: /),
  });
  expect(await verify(file, ownerUrl)).toMatchObject({ code: 1, stderr: expect.stringContaining('CREATEDB') });
  const { rows } = await withClient(databaseUrl, (asking) => asking.query('select datname from pg_database'));
  expect(rows.map(({ datname }) => datname)).not.toContain('charter_verified_dump');
}

async function restoreMoment({ databaseUrl, follow }: Installation, client: Client): Promise<void> {
  const before = await create(client, 'Before the base backup');
  await follow('archive');
  await until('the server to continue', async () => (await client.get('/readyz')).status === 200);
  await follow('base');
  await create(client, 'After the base backup');
  const { rows } = await withClient(databaseUrl, (asking) => asking.query('select clock_timestamp()::text as now'));
  const moment: string = rows[0].now;

  const lost = await create(client, 'Lost');
  const updated = await untilAdmitted(() => client.patch(`${LIST}/${before}`, { description: 'Lost' }));
  expect(updated.status).toBe(200);
  const [page, item] = await Promise.all([client.get(LIST), client.get(`${LIST}/${before}`)]);
  const tags = [page, item].map(({ headers }) => headers['etag']);
  expect(tags).not.toContain(undefined);
  const feed = await client.get('/api/events');
  const { rows: archived } = await withClient(databaseUrl, (asking) =>
    asking.query('select pg_walfile_name(pg_switch_wal()) as name'),
  );
  await withClient(databaseUrl, (asking) =>
    until('the archive', async () => {
      const found = await asking.query('select last_archived_wal >= $1 as done from pg_stat_archiver', [
        archived[0].name,
      ]);
      return found.rows[0].done === true;
    }),
  );

  await follow('restore', { MOMENT: moment });
  await until('the server to continue', async () => (await client.get('/readyz')).status === 200);
  await until('the end of the recovery', async () => {
    const found = await withClient(databaseUrl, (asking) => asking.query('select pg_is_in_recovery() as yes'));
    return found.rows[0].yes === false;
  });
  const kept = ['In the dump', 'After the dump', 'Before the base backup', 'After the base backup'];
  expect(await namesOf(client)).toEqual(kept);
  expect((await client.get(`${LIST}/${lost}`)).status).toBe(404);
  const [list, program] = [LIST, `${LIST}/${before}`];
  for (const [i, path] of [list, program].entries()) {
    const reply = await client.get(path, { headers: { 'If-None-Match': tags[i] } });
    expect({ path, status: reply.status, isTagNew: reply.headers['etag'] !== tags[i] }).toEqual({
      path,
      status: 200,
      isTagNew: true,
    });
  }
  const stale = await client.patch(program, { name: 'Never' }, { headers: { 'If-Match': tags[1] } });
  expect(stale.status).toBe(412);
  // After the restore, the organization gets versions that it has never had before.
  await create(client, 'In the new future');
  expect(await namesOf(client)).toEqual([...kept, 'In the new future']);
  expect((await client.get(list)).headers['etag']).not.toBe(tags[0]);
  // A cursor from the time after the backup still works, because all events after the restore have later positions.
  const continued = await client.get(`/api/events?cursor=${feed.body.page.next_cursor}`);
  const events = continued.body.data.map(({ data }: { data: { name: string } }) => data.name);
  expect({ status: continued.status, events }).toEqual({ status: 200, events: ['In the new future'] });
}
