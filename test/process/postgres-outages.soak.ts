// PostgreSQL is stopped again and again under load. The server process never ends, responds only with successes and 503, and
// needs no restart.
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import type { Client } from '../support/clients/client.ts';
import { type DatabaseProxy, proxyDatabase } from '../support/postgres/database-proxy.ts';
import {
  createDataFolder,
  getOwnedPostgres,
  type OwnedPostgres,
  startOwnedPostgres,
} from '../support/postgres/owned-postgres.ts';
import { ENCRYPTION_KEY, withClient } from '../support/postgres/postgres.ts';
import { type Charter, endCharter, organizationAt, startCharter } from '../support/processes/charter.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { length, until } from '../support/wait.ts';

/** The number of outages of PostgreSQL in each test. The kinds of outage take turns, so each occurs at least twice. */
const STOPS = length({ full: 8, figures: 100 });
const CLIENTS = 16;
/** How long PostgreSQL is frozen. The test does not wait for anything in this time. */
const FROZEN_MS = 300;
const LIST = '/api/parent_programs';

type Load = {
  /** The number of responses so far, by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Resolves when a request that is sent from now on succeeds. */
  nextSuccess(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts clients that each send one request after the other: reads that no cache can answer, and writes. */
async function startLoad(client: Client): Promise<Load> {
  const { body } = await untilAdmitted(() => client.post(LIST, { name: 'Changes all the time' }));
  const statuses = new Map<number, number>();
  let isEnding = false;
  let lastSuccessSentAt = 0;
  const requests = [
    (i: number) => client.get(`${LIST}?limit=${1 + (i % 100)}`),
    (i: number) => client.patch(`${LIST}/${body.id}`, { description: `Change ${i}` }),
    () => client.get('/api/key'),
    (i: number) => client.post(LIST, { name: `Program ${i}` }),
  ];
  const work = Array.from({ length: CLIENTS }, async (_, place) => {
    for (let i = place; !isEnding; i += 1) {
      const sentAt = performance.now();
      const { status } = (await requests[i % requests.length]?.(i)) ?? { status: 0 };
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status < 300) lastSuccessSentAt = sentAt;
    }
  });
  return {
    statuses,
    async nextSuccess() {
      const from = performance.now();
      await until('a success', () => lastSuccessSentAt > from);
    },
    async stop() {
      isEnding = true;
      await Promise.all(work);
    },
  };
}

type Trial = { readonly charter: Charter; readonly databaseUrl: string };

/** Runs each outage in turn, waits for a success after each, and returns the longest wait in milliseconds. */
async function survive(
  { charter, databaseUrl }: Trial,
  outages: readonly (() => Promise<void>)[],
): Promise<{ statuses: number[]; longestMs: number }> {
  const load = await startLoad((await organizationAt(databaseUrl, charter)).client);
  let longestMs = 0;
  try {
    for (let stop = 0; stop < STOPS; stop += 1) {
      await load.nextSuccess();
      await outages[stop % outages.length]?.();
      const backAt = performance.now();
      await load.nextSuccess();
      longestMs = Math.max(longestMs, performance.now() - backAt);
    }
  } finally {
    await load.stop();
  }
  return { statuses: [...load.statuses.keys()].sort((a, b) => a - b), longestMs };
}

const freeze =
  ({ freeze: stop, thaw }: OwnedPostgres) =>
  async () => {
    await stop();
    await delay(FROZEN_MS);
    await thaw();
  };

let folder: string;
beforeEach(async () => {
  folder = await createDataFolder();
});
afterEach(async () => {
  await removeCluster(folder);
  await rm(folder, { recursive: true, force: true });
});

test('a server with an external PostgreSQL outlives its stops, crashes, freezes and resets, responds with 503 meanwhile, and uses no standby', async () => {
  const postgres = await startOwnedPostgres(folder);
  const proxy: DatabaseProxy = await proxyDatabase(await postgres.url());
  const charter = await startCharter({ DATABASE_URL: proxy.url });
  try {
    const restart = (mode: 'fast' | 'immediate') => async () => {
      await postgres.stop(mode);
      await postgres.start();
    };
    const outages = [restart('fast'), restart('immediate'), freeze(postgres), async () => proxy.reset()];
    const { statuses, longestMs } = await survive({ charter, databaseUrl: proxy.url }, outages);
    expect(statuses).toEqual([200, 201, 503]);
    console.log(`external: a success at most ${longestMs.toFixed(0)} ms after PostgreSQL was back`);
    await becomeStandby({ charter, databaseUrl: proxy.url }, postgres);
    await endCharter(charter);
  } finally {
    charter.child.kill('SIGKILL');
    await proxy.stop();
    await postgres.stop('immediate');
  }
});

// During a failover, a load balancer may already choose a standby that has not yet applied the old primary's last changes.
async function becomeStandby({ charter, databaseUrl }: Trial, postgres: OwnedPostgres): Promise<void> {
  const { client } = await organizationAt(databaseUrl, charter);
  const { body: program } = await untilAdmitted(() => client.post(LIST, { name: 'Kept' }));
  await postgres.restartAsStandby();
  await withClient(databaseUrl, async (asking) => {
    const { rows } = await asking.query(
      `select count(*)::int as programs, pg_is_in_recovery() as is_standby from parent_programs where name = 'Kept'`,
    );
    expect(rows).toEqual([{ programs: 1, is_standby: true }]);
    const refused = await Promise.all([
      client.get(LIST),
      client.get(`${LIST}/${program.id}`),
      client.get('/api/key'),
      client.post(LIST, { name: 'Lost' }),
      client.get('/readyz'),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
    await asking.query('select pg_promote()');
  });
  expect((await untilAdmitted(() => client.get(LIST))).body.data).toEqual([program]);
  expect((await untilAdmitted(() => client.post(LIST, { name: 'After the promotion' }))).status).toBe(201);
  expect((await untilAdmitted(() => client.get('/readyz'))).status).toBe(200);
}

test('a server with the embedded PostgreSQL restarts it after a stop and a crash, and responds with 503 meanwhile', async () => {
  const charter = await startCharter({ DATA_DIR: folder, ENCRYPTION_KEY });
  try {
    const postgres = await getOwnedPostgres(folder);
    const databaseUrl = (await postgres.url()).replace(/postgres$/, 'charter');
    const stop = (mode: 'fast' | 'immediate') => async () => {
      await postgres.stop(mode);
      await postgres.untilRunning();
    };
    const { statuses, longestMs } = await survive({ charter, databaseUrl }, [
      stop('fast'),
      stop('immediate'),
      freeze(postgres),
    ]);
    expect(statuses).toEqual([200, 201, 503]);
    console.log(`embedded: a success at most ${longestMs.toFixed(0)} ms after PostgreSQL was back`);
    await endCharter(charter);
  } finally {
    charter.child.kill('SIGKILL');
  }
});
