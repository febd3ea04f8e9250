// Readers follow the feed while many writers change the organization in overlapping transactions.
import pg from 'pg';
import { Client } from '../support/clients/client.ts';
import { randomNumbers } from '../support/data/random-numbers.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';
import { applyEvents, type FeedEvent, feedUrl, type Program } from '../support/traffic/feed.ts';
import { length } from '../support/wait.ts';

const WRITERS = 64;
const POLLERS = 4;
const CHANGES_OF_A_WRITER = length({ full: 10, figures: 200 });
const LIST = '/api/parent_programs';
const INSERT = 'insert into parent_programs (organization_id, id, name)';

// Two servers, each with its own response cache.
const server = await useServer();
const other = await useServer({ databaseUrl: server.databaseUrl });
const pool = new pg.Pool({ connectionString: server.databaseUrl, max: 16 });
afterAll(() => pool.end());

/** Returns a function that draws the random numbers of one writer. They are the same in every run. */
function createDraw(seed: number): (below: number) => number {
  const random = randomNumbers(seed);
  return (below) => Math.floor(random() * below);
}

/** Executes several SQL statements in one transaction. Some transactions and savepoints are rolled back. */
async function writeRaw({ id }: TestOrganization, draw: (below: number) => number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    if (draw(2) === 0) await client.query('select pg_sleep(0.002)');
    const text = `${INSERT} select $1, gen_random_uuid(), 'raw' from generate_series(1, $2::int) returning id`;
    const { rows } = await client.query<{ id: string }>(text, [id, 1 + draw(3)]);
    await client.query('savepoint before');
    const change = `update parent_programs set name = 'changed' where organization_id = $1 and id = any($2)`;
    await client.query(change, [id, rows.map((row) => row.id)]);
    if (draw(2) === 0) await client.query('rollback to before');
    await client.query(draw(4) === 0 ? 'rollback' : 'commit');
  } finally {
    client.release();
  }
}

async function write(ours: TestOrganization, seed: number): Promise<void> {
  const draw = createDraw(seed);
  const own: string[] = [];
  for (let i = 0; i < CHANGES_OF_A_WRITER; i += 1) {
    const id = own[draw(own.length)];
    const kind = draw(4);
    if (kind === 0) await writeRaw(ours, draw);
    else if (kind === 1 && id !== undefined)
      await ours.client.patch(`${LIST}/${id}`, { name: `Changed ${draw(1000)}` });
    else if (kind === 2 && id !== undefined) await ours.client.delete(`${LIST}/${own.splice(own.indexOf(id), 1)[0]}`);
    else own.push((await ours.client.post(LIST, { name: `Program ${i}` })).body.id);
  }
}

/** Reads the feed until its end is reached and no writer is writing any more. */
async function poll(client: Client, limit: number, isOver: () => boolean): Promise<FeedEvent[]> {
  const seen: FeedEvent[] = [];
  for (let cursor: string | undefined; ; ) {
    const wasOver = isOver();
    const { status, text, body } = await client.get(feedUrl(cursor, `limit=${limit}`));
    // The server may refuse the request because of the writers' load.
    if (status === 503) continue;
    if (status !== 200) throw new Error(text);
    seen.push(...body.data);
    cursor = body.page.next_cursor;
    if (wasOver && !body.page.has_more) return seen;
  }
}

async function programsOf(client: Client): Promise<ReadonlyMap<string, Program>> {
  const programs = new Map<string, Program>();
  for (let url: string | undefined = `${LIST}?limit=100`; url !== undefined; ) {
    const { body, headers } = await client.get(url);
    for (const program of body.data) programs.set(program.id, program);
    url = /^<(.*)>/.exec(headers['link'] ?? '')?.[1];
  }
  return programs;
}

test(`with ${WRITERS} writers at a time, each of ${POLLERS} readers sees every event exactly once, all in the same order`, async () => {
  const ours = await createTestOrganization(server);
  const second = new Client(other.url, ours.key);
  let isOver = false;
  const reading = Array.from({ length: POLLERS }, (_, i) =>
    poll(i % 2 === 0 ? ours.client : second, [1, 3, 25, 100][i] ?? 100, () => isOver),
  );
  await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(ours, i + 1)));
  isOver = true;
  const seen = await Promise.all(reading);
  const text = 'select id from events where organization_id = $1 order by id';
  const { rows } = await pool.query<{ id: string }>(text, [ours.id]);
  const written = rows.map(({ id }) => id);
  expect(written.length).toBeGreaterThan(WRITERS * CHANGES_OF_A_WRITER * 0.5);
  for (const events of seen) expect(events.map(({ id }) => id)).toEqual(written);
  expect(applyEvents(seen[0] ?? [])).toEqual(await programsOf(ours.client));
});
