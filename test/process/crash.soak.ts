import { idsOf, walk } from '../support/data/programs.ts';
import { Client } from '../support/http/client.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { organizationAt, startCharter, withCharter } from '../support/processes/charter.ts';
import { until } from '../support/wait.ts';

/** Creates one program after another until the server is gone, and records each acknowledged one. */
async function keepCreating(client: Client, acknowledged: string[], writer: number): Promise<void> {
  for (let i = 0; ; i += 1) {
    const response = await client
      .post(
        '/api/parent_programs',
        { name: `Writer ${writer}, ${i}` },
        { headers: { 'Idempotency-Key': `${writer}-${i}` } },
      )
      .catch(() => null);
    if (response === null) return;
    expect(response.status).toBe(201);
    acknowledged.push(response.body.id);
  }
}

test('after kill -9 during many creates, every acknowledged one exists', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    const charter = await startCharter({ DATABASE_URL });
    const { client, key } = await organizationAt(DATABASE_URL, charter);
    const acknowledged: string[] = [];
    const writers = [1, 2, 3, 4].map((writer) => keepCreating(client, acknowledged, writer));
    await until('a hundred creates', () => acknowledged.length >= 100);
    charter.child.kill('SIGKILL');
    await Promise.all(writers);
    await charter.ended;
    await withCharter({ DATABASE_URL }, async ({ url }) => {
      const there = new Set(idsOf(await walk(new Client(url, key), '/api/parent_programs?limit=100')));
      expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
      // One create per writer may have been committed without an acknowledgement, but no more.
      expect(there.size - acknowledged.length).toBeLessThanOrEqual(writers.length);
    });
  });
});
