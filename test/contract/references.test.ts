// Tests rows that refer to rows of another resource. The product has no resource with references, but the trial of
// test/new-resource has one.

import type { Client } from '../support/clients/client.ts';
import { operations } from '../support/contract/contract.ts';
import { createRow, lists, type Resource, referencesOf, resources } from '../support/contract/resources.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();
const { pool } = server.db;

type Reference = { readonly resource: Resource; readonly field: string; readonly referred: Resource };

const references: readonly Reference[] = resources.flatMap((resource) =>
  referencesOf(resource.creation).map(([field, referred]) => ({ resource, field, referred })),
);

function isDeletable({ path }: Resource): boolean {
  return operations.some((each) => each.method === 'delete' && each.path === `${path}/{id}`);
}

/** Returns the foreign keys that would make a client's deletion fail, each with a remedy. */
async function listRefusedDeletions(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; table: string; target: string }>(
    `select conname as name, conrelid::regclass::text as table, confrelid::regclass::text as target
     from pg_constraint where contype = 'f' and confdeltype <> 'c' and confrelid::regclass::text = any($1)`,
    [resources.filter(isDeletable).map(({ table }) => table)],
  );
  return rows.map(
    ({ name, table, target }) =>
      `${name}: a row of ${target} to which a row of ${table} refers cannot be deleted, and the request gets a 500. ` +
      'Use "onDelete: Cascade" in prisma/schema.prisma, and ON DELETE CASCADE in the migration.',
  );
}

test('every foreign key to rows that clients can delete is ON DELETE CASCADE', async () => {
  expect(await listRefusedDeletions()).toEqual([]);
});

// The risk: a new foreign key is ON DELETE RESTRICT, like most others.
test('a foreign key that would make a deletion fail is noticed', async () => {
  await pool.query(
    `create table trial (organization_id uuid, program_id uuid, constraint trial_fkey
       foreign key (organization_id, program_id) references parent_programs (organization_id, id) on delete restrict)`,
  );
  try {
    expect(await listRefusedDeletions()).toEqual([
      expect.stringMatching(/^trial_fkey: a row of parent_programs .*"onDelete: Cascade"/),
    ]);
  } finally {
    await pool.query('drop table trial');
  }
});

test('the deletion of a row deletes the rows that refer to it, and cached lists no longer show them', async () => {
  for (const { resource, field, referred } of references.filter((each) => isDeletable(each.referred))) {
    const { client } = await createTestOrganization(server);
    const id = await createRow(client, referred);
    const [deleted, kept] = [await createRow(client, resource, { [field]: id }), await createRow(client, resource)];
    expect(await idsOn(client, resource.path)).toEqual([deleted, kept]);
    expect((await client.delete(`${referred.path}/${id}`)).status).toBe(204);
    expect(await idsOn(client, resource.path)).toEqual([kept]);
  }
});

test('a list with a reference as a filter has exactly the rows that refer to that row', async () => {
  for (const { resource, field, referred } of references.filter(isFilter)) {
    const { client } = await createTestOrganization(server);
    const id = await createRow(client, referred);
    const own = await createRow(client, resource, { [field]: id });
    await createRow(client, resource);
    expect(await idsOn(client, `${resource.path}?${field}=${id}`)).toEqual([own]);
    const theirs = await createTestOrganization(server);
    expect(await idsOn(theirs.client, `${resource.path}?${field}=${id}`)).toEqual([]);
  }
});

test('a change of a batch that refers to no row is refused as the request that makes only this change is', async () => {
  for (const { resource, field } of references) {
    if (!operations.some(({ path }) => path === `${resource.path}/batch`)) continue;
    const { client } = await createTestOrganization(server);
    const id = await createRow(client, resource);
    const body = { [field]: crypto.randomUUID() };
    const { status, body: exception } = await client.patch(`${resource.path}/${id}`, body);
    const batch = await client.post(`${resource.path}/batch`, { changes: [{ action: 'update', id, body }] });
    expect(batch.body.results).toEqual([{ status, etag: null, body: null, exception }]);
    expect(status).toBe(422);
  }
});

function isFilter({ resource: { path }, field }: Reference): boolean {
  const list = operations.find((each) => each.method === 'get' && each.path === path);
  return lists.includes(path) && (list?.parameters ?? []).some(({ name }) => name === field);
}

async function idsOn(client: Client, url: string): Promise<string[]> {
  const { status, text, body } = await client.get(url);
  if (status !== 200) throw new Error(`GET ${url}: ${status} ${text}`);
  return body.data.map(({ id }: { id: string }) => id);
}
