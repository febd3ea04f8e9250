// An organization moves between two databases again and again, by hand and by one command, under the load of its clients, while
// the commands are killed.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MovingError } from '../../src/domain/errors.ts';
import { OrganizationScope } from '../../src/domain/organizations/organization-scope.ts';
import { revokeKey } from '../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../src/service/outcome.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { Client, type Reply } from '../support/clients/client.ts';
import { createActor, giveKey } from '../support/data/actors.ts';
import { useFolder } from '../support/folder.ts';
import { type Ended, kill, startFile } from '../support/processes/process.ts';
import { createTestOrganization, type TestServer, useServer } from '../support/servers/server.ts';
import { applyEvents, type FeedEvent, feedUrl, type Program } from '../support/traffic/feed.ts';
import { length, until } from '../support/wait.ts';

const MOVES = length({ full: 2, figures: 10 });
const CLIENTS = 16;
const PROGRAMS = length({ full: 10_000, figures: 100_000 });
/** The number of rows that one SQL statement inserts. With more rows, the statement could exceed its timeout. */
const FILL_ROWS = 5000;
const RETRY_MS = 50;
const WATCH_MS = 200;
const LIST = '/api/parent_programs';

const servers = [await useServer(), await useServer()] as const;
const folder = await useFolder();

/** All keys that were ended during moves. */
const ended: Ending[] = [];
/** The server that has the organization and gets the clients' requests. In production, the map of a proxy names this server. */
let home: TestServer = servers[0];
const elsewhere = () => (home === servers[0] ? servers[1] : servers[0]);

const ours = await createTestOrganization(home);
const statuses = new Set<number>();

/** Sends a request until its status is not 503, each time to the server that has the organization. */
async function persist(key: string, request: (client: Client) => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await request(new Client(home.url, key));
    statuses.add(reply.status);
    if (reply.status !== 503) return reply;
    if (reply.headers['retry-after'] === undefined) throw new Error('A 503 lacks Retry-After.');
    await delay(RETRY_MS);
  }
}

type Writer = { readonly live: Map<string, string>; requests: number };

/** Creates, changes and deletes programs of one client, and records what the server has acknowledged. */
async function write(client: number, writer: Writer, isOver: () => boolean): Promise<void> {
  for (let i = 0; !isOver(); i += 1) {
    const name = `Client ${client}, ${i}`;
    const [id] = writer.live.keys();
    if (id === undefined || i % 3 === 0) {
      const headers = { 'Idempotency-Key': `client-${client}-${i}` };
      const { status, body } = await persist(ours.key, (each) => each.post(LIST, { name }, { headers }));
      expect(status).toBe(201);
      writer.live.set(body.id, name);
    } else if (i % 3 === 1) {
      expect((await persist(ours.key, (each) => each.patch(`${LIST}/${id}`, { name }))).status).toBe(200);
      writer.live.set(id, name);
    } else {
      expect((await persist(ours.key, (each) => each.delete(`${LIST}/${id}`))).status).toBe(204);
      writer.live.delete(id);
    }
    writer.requests += 1;
  }
}

/** Reads the feed from the cursor until its end is reached and no writer is writing any more. */
async function follow(from: string, isOver: () => boolean): Promise<FeedEvent[]> {
  const seen: FeedEvent[] = [];
  for (let cursor = from; ; ) {
    const wasOver = isOver();
    const { status, body } = await persist(ours.key, (each) => each.get(feedUrl(cursor, 'limit=100')));
    expect(status).toBe(200);
    seen.push(...body.data);
    cursor = body.page.next_cursor;
    if (wasOver && !body.page.has_more) return seen;
  }
}

/** How long each command has taken, in milliseconds. */
const durations = new Map<string, number>();

/** Runs a command, kills it at a random moment, and then repeats it until it succeeds. */
async function runWithKill({ databaseUrl }: TestServer, parameters: readonly string[]): Promise<void> {
  const [command = ''] = parameters;
  const start = () => startFile('scripts/admin/main.ts', parameters, { DATABASE_URL: databaseUrl });
  const killed = start();
  await Promise.race([delay(Math.random() * (durations.get(command) ?? 2000)), killed.ended]);
  killed.child.kill('SIGKILL');
  await killed.ended;
  // As the guide says, the unfinished file is deleted before the command is repeated.
  for (const file of parameters.filter((each) => each.startsWith(folder))) await rm(`${file}.partial`, { force: true });
  const startedAt = performance.now();
  const { code, stderr }: Ended = await start().ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  durations.set(command, performance.now() - startedAt);
}

const statusAt = async (server: TestServer, key: string) => (await server.anonymous.get(LIST, { key })).status;

const MOMENTS = ['right before', 'while it begins', 'in', 'as it ends', 'right after'] as const;

/** A key that is revoked or rotated at some moment of a move. */
type Ending = {
  readonly key: string;
  readonly moment: (typeof MOMENTS)[number];
  /**
   * Ends the key on the server that has the organization. Resolves when the key has ended. Sets `successor` if it rotates the
   * key.
   */
  readonly end: () => Promise<void>;
  /** When the key ended, in the time of `performance.now()`. Requests that are sent later must be refused. */
  endedAt: number;
  successor: string | null;
  /** `accepted` is the number of accepted requests. `late` is the number of them that were sent after `endedAt`. */
  accepted: number;
  late: number;
};

/** Creates the keys of a new person, two for each moment: one to be revoked, and one to be rotated. */
async function createEndings(): Promise<Ending[]> {
  const actor = await createActor(home.db, OrganizationScope.grant(ours.id), 'member');
  const endings: Ending[] = [];
  for (const moment of MOMENTS)
    for (const isRotated of [false, true]) {
      const { id: keyId, key } = await giveKey(home.db, actor);
      const target = { keyId, userId: actor.userId };
      const act = async (db: Database) => {
        if (isRotated) return orThrow(await rotateKey(db, actor, { ...target, environment: 'live' })).key;
        orThrow(await revokeKey(db, actor, target));
        return null;
      };
      const end = async () => {
        ending.successor = await repeat(act);
        ending.endedAt = performance.now();
        await use(ending);
      };
      const ending: Ending = { key, moment, end, endedAt: Infinity, successor: null, accepted: 0, late: 0 };
      endings.push(ending);
    }
  // Each key is accepted as long as it has not ended.
  await Promise.all(endings.map(use));
  return endings;
}

/** Repeats a person's action until it is not refused because of the move. */
async function repeat<T>(act: (db: Database) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act(home.db);
    } catch (error) {
      if (!(error instanceof MovingError)) throw error;
      await delay(RETRY_MS);
    }
  }
}

/** Sends a request with the key to both servers. */
async function use(ending: Ending): Promise<void> {
  for (const server of servers) {
    const sentAt = performance.now();
    const status = await statusAt(server, ending.key);
    expect([200, 401, 503]).toContain(status);
    if (status !== 200) continue;
    ending.accepted += 1;
    if (sentAt > ending.endedAt) ending.late += 1;
  }
}

async function watch(ending: Ending, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await use(ending);
    await delay(WATCH_MS);
  }
}

type Ends = { readonly source: TestServer; readonly target: TestServer };
/** Starts to end the keys that end during the move. */
type EndLater = { readonly endLater: () => Promise<unknown>[] };

async function moveByHand(
  { source, target }: Ends,
  { file, endLater }: EndLater & { readonly file: string },
): Promise<Promise<unknown>[]> {
  await runWithKill(source, ['export-organization', '--id', ours.id, '--file', file, '--move']);
  const later = endLater();
  await runWithKill(target, ['import-organization', '--file', file]);
  const completion = `${file}.completion`;
  await runWithKill(source, ['complete-move', '--id', ours.id, '--file', completion]);
  await runWithKill(target, ['activate-organization', '--file', completion]);
  return later;
}

/** What the command for a whole move prints at its steps. */
const STEPS = [/has not started/, /Copying/, /Copied/, /Handing over/, /The new installation serves/];

/** Kills the command at each of its steps, and repeats it each time. A killed command may have come further than its step. */
async function moveByOneCommand({ source, target }: Ends, { endLater }: EndLater): Promise<Promise<unknown>[]> {
  const start = () =>
    startFile('scripts/admin/main.ts', ['move-organization', '--id', ours.id], {
      DATABASE_URL: source.databaseUrl,
      MOVE_TO_DATABASE_URL: target.databaseUrl,
    });
  let later: Promise<unknown>[] = [];
  for (const [i, step] of STEPS.entries()) {
    const running = start();
    const { child, printed } = running;
    const isReached = () => STEPS.slice(i).some((each) => each.test(printed.stderr));
    await until(`${step} to be printed`, () => isReached() || child.exitCode !== null);
    expect({ isReached: isReached(), ...printed }).toMatchObject({ isReached: true });
    await kill(running);
    if (step.source === 'Copying') later = endLater();
  }
  expect(await start().ended).toMatchObject({ code: 0, stdout: expect.stringContaining('delete-organization') });
  return later;
}

/** Moves the organization. Returns how long its requests were refused, in milliseconds. */
async function move(round: number, writers: readonly Writer[]): Promise<number> {
  const [source, target] = [home, elsewhere()];
  const file = join(folder, `${round}.jsonl`);
  const endings = await createEndings();
  let isOver = false;
  const watching = Promise.all(endings.map((ending) => watch(ending, () => isOver)));
  const endAll = (moment: Ending['moment'], withinMs = 0) =>
    Promise.all(
      endings
        .filter((ending) => ending.moment === moment)
        .map(async ({ end }) => {
          await delay(Math.random() * withinMs);
          await end();
        }),
    );
  await endAll('right before');
  const startedAt = performance.now();
  const beginning = endAll('while it begins', durations.get('export-organization') ?? 2000);
  const endLater = () => [endAll('in'), endAll('as it ends', durations.get('import-organization') ?? 2000)];
  const later = await (round % 2 === 0
    ? moveByHand({ source, target }, { file, endLater })
    : moveByOneCommand({ source, target }, { endLater }));
  home = target;
  const refusedMs = performance.now() - startedAt;
  await Promise.all([beginning, ...later]);
  await endAll('right after');
  for (const { successor } of endings.filter((each) => each.successor !== null)) {
    expect(await statusAt(target, successor ?? '')).toBe(200);
    // The server that the organization has left refuses all its keys.
    expect([401, 503]).toContain(await statusAt(source, successor ?? ''));
  }
  // When these requests have reached the target, every request to the source has its response.
  const seen = writers.map(({ requests }) => requests + 1);
  await until('requests to the target', () => writers.every(({ requests }, i) => requests > (seen[i] ?? 0)));
  const { name } = await target.db.prisma.organization.findUniqueOrThrow({ where: { id: ours.id } });
  await runWithKill(source, ['delete-organization', '--id', ours.id, '--name', name]).catch(async (error: unknown) => {
    // The killed command may have finished before it was killed. Then the repeated command finds no organization.
    if ((await source.db.prisma.organization.count({ where: { id: ours.id } })) > 0) throw error;
  });
  isOver = true;
  await watching;
  expect(endings.filter(({ late, accepted }) => late > 0 || accepted === 0)).toEqual([]);
  ended.push(...endings);
  return refusedMs;
}

test(`in ${MOVES} moves of ${PROGRAMS} programs under the load of ${CLIENTS} clients, with kills, no write and no event is lost or made twice, and no key is accepted after its end`, async () => {
  for (let first = 1; first <= PROGRAMS; first += FILL_ROWS)
    await home.db.pool.query(
      `insert into parent_programs (organization_id, id, name, external_id)
         select $1, gen_random_uuid(), 'Program ' || n, 'program-' || n from generate_series($2::int, $3::int) n`,
      [ours.id, first, Math.min(first + FILL_ROWS - 1, PROGRAMS)],
    );
  const { body } = await ours.client.get(`/api/events?since=${new Date().toISOString()}`);
  const writers = Array.from({ length: CLIENTS }, (): Writer => ({ live: new Map(), requests: 0 }));
  let [isOver, isWritten] = [false, false];
  const following = follow(body.page.next_cursor, () => isWritten);
  const writing = Promise.all(writers.map((writer, client) => write(client, writer, () => isOver))).finally(() => {
    isWritten = true;
  });
  const refused: number[] = [];
  const moving = (async () => {
    try {
      for (let round = 0; round < MOVES; round += 1) refused.push(await move(round, writers));
    } finally {
      isOver = true;
    }
  })();
  const [seen] = await Promise.all([following, writing, moving]);
  expect([...statuses].toSorted()).toEqual([200, 201, 204, 503]);
  const ids = seen.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted());
  const expected = new Map(writers.flatMap(({ live }) => [...live]));
  const named = (programs: ReadonlyMap<string, Program>) => new Map([...programs].map(([id, { name }]) => [id, name]));
  expect(named(applyEvents(seen))).toEqual(expected);
  const { rows } = await home.db.pool.query<{ id: string; name: string }>(
    `select id, name from parent_programs where organization_id = $1 and name like 'Client %'`,
    [ours.id],
  );
  expect(new Map(rows.map(({ id, name }) => [id, name]))).toEqual(expected);
  expect(await home.db.prisma.parentProgram.count({ where: { organizationId: ours.id } })).toBe(
    PROGRAMS + expected.size,
  );
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const requests = writers.reduce((sum, writer) => sum + writer.requests, 0);
  console.log(
    `${requests} writes, ${seen.length} events; refused for ${refused.map(seconds).join(', ')} s with kills; ` +
      `${ended.length} keys ended, ${ended.reduce((sum, { accepted }) => sum + accepted, 0)} requests with them accepted, 0 late; ` +
      [...durations].map(([command, ms]) => `${command} ${seconds(ms)} s`).join(', '),
  );
});
