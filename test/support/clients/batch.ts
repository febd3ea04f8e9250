import type { Client } from './client.ts';

export const LIST = '/api/parent_programs';
export const BATCH = `${LIST}/batch`;
export const UNKNOWN = '019c2291-34b8-752e-bca9-6513269e0d37';

export type Change = {
  action: string;
  id?: string;
  external_id?: string;
  if_match?: string;
  if_none_match?: string;
  body?: object;
};
export type Result = { status: number; etag: string | null; body: unknown; exception: { message: string } | null };
export type BatchEvent = { type: string; data: { name: string } };

export function sendBatch(client: Client, changes: readonly Change[], others: object = {}, key?: string) {
  return client.post(BATCH, { changes, ...others }, { headers: { 'Idempotency-Key': key } });
}

/** Sends a batch and returns the results of its changes. Fails unless the batch was processed. */
export async function sendForResults(
  client: Client,
  changes: readonly Change[],
  others: object = {},
): Promise<Result[]> {
  const response = await sendBatch(client, changes, others);
  expect(response.status).toBe(200);
  return response.body.results;
}

export const statusesOf = (results: readonly Result[]) => results.map(({ status }) => status);

export async function listPrograms(client: Client) {
  return (await client.get(`${LIST}?limit=100&sort=name`)).body.data;
}

export async function listEvents(client: Client): Promise<BatchEvent[]> {
  return (await client.get('/api/events?limit=100')).body.data;
}

type Seed = { readonly id: string; readonly etag: string };

/** Creates four rows. Their names are also their `external_id`s. */
export async function createSeeds(client: Client): Promise<readonly [Seed, Seed, Seed, Seed]> {
  const create = async (name: string): Promise<Seed> => {
    const { body, headers } = await client.post(LIST, { name, external_id: name, metadata: { [name]: '1' } });
    return { id: body.id, etag: headers['etag'] ?? '' };
  };
  return [await create('a'), await create('b'), await create('c'), await create('d')];
}

export type Seeds = Awaited<ReturnType<typeof createSeeds>>;
