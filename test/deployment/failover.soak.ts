// The primary is killed again and again under load. Patroni manages three PostgreSQL servers with synchronous replication.
// HAProxy is in front of these servers and of two Charter servers. It has the configurations that the release artifact contains.
import { type Failure, type PatroniCluster, startPatroni } from '../support/postgres/patroni.ts';
import { withClient } from '../support/postgres/postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { type Charter, endCharter, startCharter } from '../support/processes/charter.ts';
import { startHaproxy } from '../support/processes/haproxy.ts';
import { kill } from '../support/processes/process.ts';
import { freePort } from '../support/servers/port.ts';
import { judgeKeys, judgeRegister, type Span } from '../support/traffic/linearizability.ts';
import { emptyHistory, type History, sendRandomTraffic } from '../support/traffic/random-traffic.ts';
import { length, until } from '../support/wait.ts';

const FAILURES = length<Failure[]>({
  full: ['PostgreSQL', 'machine'],
  figures: Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? 'PostgreSQL' : 'machine')),
});
const CLIENTS = 16;
const PAUSE_MS = 20;
/** The number of writes that must be acknowledged before each failure and after the last failure. */
const WRITES = 100;
/** The maximum of `waitMs`, which is high in `npm run soak` because the machine may be busy. */
const MAX_WAIT_MS = length({ full: 120_000, figures: 2000 });

async function untilWrites({ acknowledged }: History, count: number): Promise<void> {
  const enough = acknowledged.length + count;
  await until(`${count} acknowledged writes`, () => acknowledged.length >= enough);
}

type FailedOver = {
  /** The time from Patroni's report of the new primary to the next acknowledged write. */
  readonly waitMs: number;
  /** Starts the killed PostgreSQL again, as a standby. */
  readonly restore: () => Promise<void>;
};

async function failOver(cluster: PatroniCluster, history: History, failure: Failure): Promise<FailedOver> {
  await untilWrites(history, WRITES);
  const { untilPromoted, restore } = await cluster.killPrimary(failure);
  const [killedAt, known] = [performance.now(), history.acknowledged.length];
  await untilPromoted();
  const promotedAt = performance.now();
  const isNew = ({ sent }: Span) => sent > killedAt;
  const first = await until('a write', () => history.acknowledged.slice(known).find(isNew));
  const waitMs = Math.max(0, first.received - promotedAt);
  const seconds = ((promotedAt - killedAt) / 1000).toFixed(1);
  console.log(`${failure} killed: a new primary after ${seconds} s, the first write ${waitMs.toFixed(0)} ms later`);
  return { waitMs, restore };
}

/** Returns the acknowledged values that are missing from the events. */
async function lostWrites({ url }: PatroniCluster, { acknowledged }: History): Promise<string[]> {
  const { rows } = await withClient(url, (client) => client.query(`select data->>'description' as value from events`));
  const kept = new Set(rows.map(({ value }: { value: string }) => value));
  return acknowledged.map(({ value }) => value).filter((value) => !kept.has(value));
}

test('the primary is killed under load: no acknowledged write is lost, nothing stale is read, and no server ends', async () => {
  const cluster = await startPatroni();
  const servers: Charter[] = [];
  try {
    const ports = [await freePort('127.0.0.1'), await freePort('127.0.0.1')] as const;
    const env = {
      DATABASE_URL: cluster.url,
      PUBLIC_URL: 'http://charter.example.org',
      TRUSTED_PROXIES: 'loopback',
    };
    for (const port of ports) servers.push(await startCharter({ ...env, PORT: `${port}` }));
    const haproxy = await startHaproxy(ports);
    const db = connectTo(cluster.url, 4);
    const history = emptyHistory();
    let isOver = false;
    const urls = [haproxy.url, ...servers.map(({ url }) => url)];
    const traffic = sendRandomTraffic(db, {
      urls,
      clients: CLIENTS,
      seconds: 0,
      seed: 22,
      pauseMs: PAUSE_MS,
      history,
      isEnough: () => isOver,
    });
    const waits: number[] = [];
    const trial = async () => {
      for (const [i, failure] of FAILURES.entries()) {
        const { waitMs, restore } = await failOver(cluster, history, failure);
        waits.push(waitMs);
        if (i < FAILURES.length - 1) await restore();
      }
      await untilWrites(history, WRITES);
    };
    try {
      await Promise.race([trial(), traffic]);
    } finally {
      isOver = true;
      await traffic.finally(async () => {
        await db.close();
        await haproxy.stop();
      });
    }
    expect([...history.registers.values()].flatMap(judgeRegister)).toEqual([]);
    expect(judgeKeys(history.keyUses, history.keyEnds)).toEqual([]);
    expect(await lostWrites(cluster, history)).toEqual([]);
    expect(history.lostConnections).toEqual([]);
    const statuses = new Set(history.keyUses.map(({ status }) => status));
    expect([...statuses].filter((status) => status >= 500)).toEqual([503]);
    expect(waits).toHaveLength(FAILURES.length);
    expect(Math.max(...waits)).toBeLessThan(MAX_WAIT_MS);
    for (const server of servers) await endCharter(server);
  } finally {
    for (const server of servers) await kill(server);
    await cluster.stop();
  }
});
