// The deletions of `charter-import --delete-missing`.
import { type CharterClient, createClient } from '../../src/client/charter-client.ts';
import { deleteMissing, listMissing, requireFewMissing } from '../../src/client/import/missing-programs.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const LIST = '/api/parent_programs';
const server = await useServer();
const NEVER = new AbortController().signal;

async function clientOf() {
  const ours = await createTestOrganization(server);
  return { ours, charter: createClient({ baseUrl: server.url, apiKey: ours.key }) };
}

async function create(charter: CharterClient, externalIds: readonly (string | null)[]): Promise<void> {
  const changes = externalIds.map((id) => ({ action: 'create', body: { name: 'Program', external_id: id } }) as const);
  for await (const { outcomes } of charter.batch(LIST, changes))
    for (const { exception } of outcomes) expect(exception).toBeNull();
}

async function idsIn(charter: CharterClient): Promise<(string | null)[]> {
  const ids: (string | null)[] = [];
  for await (const { external_id: id } of charter.items(LIST)) ids.push(id);
  return ids;
}

/** Deletes what is not in the file, and returns the number of deletions. */
async function removeMissing(charter: CharterClient, inFile: readonly string[], signal = NEVER): Promise<number> {
  let deleted = 0;
  const count = (more: number) => {
    deleted += more;
  };
  await deleteMissing(charter, await listMissing(charter, (id) => inFile.includes(id), NEVER), { signal, count });
  return deleted;
}

test('only programs of the organization that have an external_id and are not in the file are deleted', async () => {
  const [{ charter }, theirs] = [await clientOf(), await clientOf()];
  await create(charter, ['a', 'A', 'a/b', '.', null]);
  await create(theirs.charter, ['b', '.']);
  const missing = await listMissing(charter, (id) => id === 'a', NEVER);
  expect(missing).toEqual({
    programs: ['A', 'a/b', '.'].map((externalId) => ({ externalId, name: 'Program' })),
    total: 4,
  });
  expect(await removeMissing(charter, ['a'])).toBe(3);
  expect((await idsIn(charter)).toSorted()).toEqual(['a', null]);
  expect(await idsIn(theirs.charter)).toEqual(['b', '.']);
});

test('a repetition after an interruption deletes the rest, and another one nothing', async () => {
  const { charter } = await clientOf();
  const ids = Array.from({ length: 250 }, (_, i) => `sis-${i}`);
  await create(charter, ids);
  const stopping = new AbortController();
  const missing = await listMissing(charter, (id) => id === 'sis-0', NEVER);
  let deleted = 0;
  const count = (more: number) => {
    deleted += more;
    stopping.abort(new Error('stopped'));
  };
  await expect(deleteMissing(charter, missing, { signal: stopping.signal, count })).rejects.toThrow('stopped');
  expect(deleted).toBe(100);
  expect(await removeMissing(charter, ['sis-0'])).toBe(149);
  expect(await removeMissing(charter, ['sis-0'])).toBe(0);
  expect(await idsIn(charter)).toEqual(['sis-0']);
});

// The race: somebody else deletes a program, or gives it another external_id, between the list and the deletion.
test('a program that lost its external_id meanwhile stays, and one that was deleted meanwhile is not counted', async () => {
  const { ours, charter } = await clientOf();
  await create(charter, ['a', 'b', 'c']);
  const missing = await listMissing(charter, () => false, NEVER);
  const { body } = await ours.client.get(`${LIST}/by_external_id/a`);
  await ours.client.patch(`${LIST}/${body.id}`, { external_id: 'z' });
  await ours.client.delete(`${LIST}/by_external_id/b`);
  const counts: number[] = [];
  await deleteMissing(charter, missing, { signal: NEVER, count: (more) => counts.push(more) });
  expect(counts).toEqual([1]);
  expect(await idsIn(charter)).toEqual(['z']);
});

test.each([
  { count: 10, total: 100, most: undefined, isRefused: false },
  { count: 11, total: 100, most: undefined, isRefused: true },
  { count: 1, total: 9, most: undefined, isRefused: true },
  { count: 0, total: 0, most: undefined, isRefused: false },
  { count: 50, total: 100, most: 50, isRefused: false },
  { count: 6, total: 100, most: 5, isRefused: true },
  { count: 1, total: 100, most: 0, isRefused: true },
])('$count of $total missing programs, at most $most: refused: $isRefused', ({ count, total, most, isRefused }) => {
  const programs = Array.from({ length: count }, (_, i) => ({ externalId: `sis-${i}`, name: 'x' }));
  const check = () => requireFewMissing({ programs, total }, most);
  if (!isRefused) return expect(check).not.toThrow();
  expect(check).toThrow(/^Nothing was deleted\. The file does not contain \d+ of the \d+ parent programs? with/);
  expect(check).toThrow(`--delete-at-most ${count}`);
});
