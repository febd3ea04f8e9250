import { idsOf, insertPrograms, nextOf } from '../support/data/programs.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

const SORTS = ['created_at', '-created_at', 'updated_at', '-updated_at', 'name', '-name'];
const STANDING = 60;

test.each(SORTS)(
  'paging through sort=%s while rows are added and deleted returns each remaining row exactly once',
  async (sort) => {
    const ours = await createTestOrganization(server);
    const row = (i: number) => ({ name: `Program ${i % 20}`, createdAt: instant(i), updatedAt: instant(i) });
    const standing: string[] = await insertPrograms(
      server,
      ours,
      Array.from({ length: STANDING }, (_, i) => row(i)),
    );
    const passing: string[] = await insertPrograms(
      server,
      ours,
      Array.from({ length: STANDING }, (_, i) => row(i)),
    );

    const seen: string[] = [];
    let next: string | undefined = `/api/parent_programs?limit=8&sort=${sort}`;
    for (let i = 0; next !== undefined; i += 1) {
      // One row is added before, one within and one after the rows read so far; others are deleted, the cursor's row included.
      const writes = [0, i * 8, STANDING].map((at) => ({ ...row(at), name: `Program ${at % 20}` }));
      const [page] = await Promise.all([
        ours.client.get(next),
        insertPrograms(server, ours, i < STANDING ? writes : []),
        ...passing.splice(0, 3).map((id) => ours.client.delete(`/api/parent_programs/${id}`)),
      ]);
      seen.push(...idsOf([page]));
      next = nextOf(page);
      const last = seen.at(-1) ?? '';
      if (!standing.includes(last)) await ours.client.delete(`/api/parent_programs/${last}`);
    }

    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => standing.includes(id)).sort()).toEqual(standing.toSorted());
  },
);

/** Six rows share each instant. */
function instant(i: number): Date {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, 0, Math.floor(i / 6)));
}

test('paging through the newest rows while the API creates rows returns no row twice', async () => {
  const { client } = await createTestOrganization(server);
  const create = (count: number) =>
    Promise.all(Array.from({ length: count }, () => client.post('/api/parent_programs', { name: 'Same' })));
  const first = (await create(20)).map(({ body }) => body.id);
  const seen: string[] = [];
  for (let next: string | undefined = '/api/parent_programs?limit=4&sort=-created_at'; next !== undefined; ) {
    const [page] = await Promise.all([client.get(next), create(3)]);
    seen.push(...idsOf([page]));
    next = nextOf(page);
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(first.filter((id) => !seen.includes(id))).toEqual([]);
});
