import type { Client } from '../support/client.ts';
import { useMock } from '../support/mock.ts';
import { createTestOrganization, useServer } from '../support/server.ts';

const LIST = '/api/parent_programs';
const mock = await useMock();
const server = await useServer();

type Item = {
  readonly id: string;
  readonly name: string;
  readonly updated_at: string;
  readonly external_id: string | null;
};

async function itemsOf(client: Client, query = ''): Promise<Item[]> {
  const { status, body } = await client.get(`${LIST}?limit=100&${query}`);
  expect(status).toBe(200);
  return body.data;
}

/** The server with the items of the mock, which it gets by SQL, because a request cannot choose times. */
async function serverWith(items: readonly Item[]): Promise<Client> {
  const { id: organizationId, client } = await createTestOrganization(server);
  for (const { id, name, updated_at: updatedAt, external_id: externalId } of items) {
    await server.db.pool.query(
      `insert into parent_programs (organization_id, id, name, external_id, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)`,
      [organizationId, id, name, externalId, updatedAt],
    );
  }
  return client;
}

const later = (instant: string, milliseconds: number) => new Date(Date.parse(instant) + milliseconds).toISOString();

test('at the boundary of each filter, the mock finds exactly what the server finds', async () => {
  const items = await itemsOf(mock.client);
  const real = await serverWith(items);
  const item = items.find(({ external_id: id, name }) => id !== null && name.length > 4);
  if (item === undefined) throw new Error('The mock has no item with an external id.');
  const { updated_at: at, name, external_id: externalId } = item;
  const found = new Map<string, boolean>();
  for (const query of [
    `updated_since=${at}`,
    `updated_since=${later(at, -1)}`,
    `updated_since=${later(at, 1)}`,
    `updated_since=${at.replace('Z', '000Z')}`,
    `updated_since=${at.replace('Z', '000001Z')}`,
    `search=${encodeURIComponent(name)}`,
    `search=${encodeURIComponent(name.toUpperCase())}`,
    `search=${encodeURIComponent(name.slice(0, 3))}`,
    `search=${encodeURIComponent(name.slice(-3))}`,
    `search=${encodeURIComponent(`${name}x`)}`,
    'search=%25%25%25',
    `external_id=${externalId}`,
    `external_id=${externalId?.slice(0, -1)}`,
    `external_id=${externalId?.toUpperCase()}`,
  ]) {
    const [simulated, served] = [await itemsOf(mock.client, query), await itemsOf(real, query)];
    expect([query, simulated.map(({ id }) => id).toSorted()]).toEqual([query, served.map(({ id }) => id).toSorted()]);
    found.set(
      query,
      simulated.some(({ id }) => id === item.id),
    );
  }
  // Both could otherwise be wrong alike.
  expect(found.get(`updated_since=${at}`)).toBe(true);
  expect(found.get(`updated_since=${later(at, -1)}`)).toBe(true);
  expect(found.get(`updated_since=${later(at, 1)}`)).toBe(false);
  expect(found.get(`updated_since=${at.replace('Z', '000001Z')}`)).toBe(false);
  expect(found.get(`external_id=${externalId?.slice(0, -1)}`)).toBe(false);
});
