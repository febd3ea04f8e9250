// Measures how requests become slower as the numbers of rows and organizations grow: sends the same requests to databases of five
// sizes.
import type pg from 'pg';
import { deleteExpired } from '../../src/observability/housekeeping.ts';
import { createLogger } from '../../src/observability/logs.ts';
import { openDatabase } from '../../src/store/sql/database.ts';
import { FIRST_ENDPOINT, listPendingEndpoints } from '../../src/store/webhooks/webhook-deliveries.ts';
import { quantile } from './compare.ts';
import { KEYRING } from './data.ts';
import { CONNECTIONS, GROWTH_CASES, type GrowthCase } from './growth-cases.ts';
import { type GrownData, SIZES, type Size, SMALL_ROWS } from './growth-data.ts';
import { type Drive, prepareWithoutWaking } from './load.ts';
import { markdownTable, withThousands } from './report.ts';
import { split } from './requests.ts';
import type { RunningServer } from './servers.ts';
import { privateBytes } from './servers.ts';

/** A database of one size with its server. The server has no response cache. */
export type Grown = { readonly data: GrownData; readonly server: RunningServer };

type Growth = Pick<GrowthCase, 'title' | 'of'> & {
  /**
   * The median latency of the fastest round, for each size. The fastest round counts, because other activity of the machine can
   * only make a round slower.
   */
  readonly milliseconds: readonly number[];
};

/** What a database of one size costs, apart from the latency of requests. */
type SizeCosts = Size & {
  readonly databaseBytes: number;
  /** The WAL of one update right after a checkpoint. It contains a full image of nearly every page that the update changes. */
  readonly walBytesOfUpdate: number;
  /** The duration of a housekeeping run that finds nothing to delete. */
  readonly housekeepingMs: number;
  /** The duration of a poll for webhook deliveries that finds none. */
  readonly pollMs: number;
  /** The private memory of one database connection, in bytes; NaN if the system does not report it. */
  readonly connectionBytes: number;
};

/** The size of a table or an index in the largest database, in bytes for each row. */
type RowCosts = { readonly name: string; readonly bytes: number };

type GrowthRun = {
  readonly growths: readonly Growth[];
  readonly costs: readonly SizeCosts[];
  readonly rows: readonly RowCosts[];
};

const PASSES = 2;
const ROUNDS = 4;
const ROUND_SECONDS = 0.5;
/** How long a case runs before it is measured. */
const RUN_IN_SECONDS = 0.5;
const WARM_UP_SECONDS = 8;
const TIMED_RUNS = 5;
const SILENT = createLogger('silent');

export async function measureGrowth(all: readonly Grown[], report: (text: string) => void): Promise<GrowthRun> {
  const samples = new Map<GrowthCase, number[][]>(GROWTH_CASES.map((each) => [each, all.map(() => [])]));
  const walBytes = all.map((): number[] => []);
  report('warm-up');
  for (const grown of all) await warmUp(grown);
  for (let pass = 1; pass <= PASSES; pass += 1) {
    await all[0]?.data.client.query('checkpoint');
    for (const [measured, sampled] of samples) {
      report(`pass ${pass} of ${PASSES}: ${measured.title}, ${measured.of}`);
      const drives = await Promise.all(all.map((grown) => driveOf(measured, grown)));
      for (const [i, { drive }] of drives.entries()) {
        if (!measured.isWrite) await drive(RUN_IN_SECONDS);
        else if (measured.of === 'large') walBytes[i]?.push(await readWal(all[i]?.data.client, drive));
      }
      for (let round = 0; round < ROUNDS; round += 1) {
        // The order alternates, because the speed of the machine can change during a round.
        const order = round % 2 === 0 ? drives : drives.toReversed();
        for (const { drive, place } of order)
          sampled[place]?.push(quantile((await drive(ROUND_SECONDS)).milliseconds, 0.5));
      }
      // Without vacuuming after writes, a search would also read the pending list of its GIN index.
      if (measured.isWrite)
        for (const { data } of all) await data.client.query('vacuum organizations, parent_programs, events');
    }
  }
  report('costs');
  const costs: SizeCosts[] = [];
  for (const [i, grown] of all.entries()) costs.push(await measureCosts(grown, medianOf(walBytes[i] ?? [])));
  const growths = [...samples].map(([{ title, of }, sampled]) => {
    return { title, of, milliseconds: sampled.map((rounds) => Math.min(...rounds)) };
  });
  const largest = all.at(-1);
  return { growths, costs, rows: largest === undefined ? [] : await rowCosts(largest.data) };

  async function driveOf(measured: GrowthCase, grown: Grown): Promise<{ drive: Drive; place: number }> {
    const requests = await measured.requests(grown.data);
    return {
      drive: prepareWithoutWaking({ ...split(grown.server, requests), connections: CONNECTIONS }),
      place: all.indexOf(grown),
    };
  }
}

/** Sends every kind of read, so that its code is compiled and its SQL statements have plans. */
async function warmUp({ data, server }: Grown): Promise<void> {
  const cases = GROWTH_CASES.filter(({ isWrite }) => !isWrite);
  for (const each of cases) {
    const drive = prepareWithoutWaking({ ...split(server, await each.requests(data)), connections: CONNECTIONS });
    await drive(WARM_UP_SECONDS / cases.length);
  }
}

function medianOf(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

async function readWal(client: pg.Client | undefined, drive: Drive): Promise<number> {
  const before = await walPosition(client);
  const { milliseconds } = await drive(RUN_IN_SECONDS);
  return ((await walPosition(client)) - before) / milliseconds.length;
}

async function walPosition(client: pg.Client | undefined): Promise<number> {
  const result = await client?.query<{ bytes: string }>(`select pg_current_wal_insert_lsn() - '0/0' as bytes`);
  return Number(result?.rows[0]?.bytes);
}

async function measureCosts({ data }: Pick<Grown, 'data'>, walBytesOfUpdate: number): Promise<SizeCosts> {
  const { rows, organizations, client, url } = data;
  const size = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
  const connections = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'charter'`,
  );
  const memory = await Promise.all(connections.rows.map(({ pid }) => privateBytes(pid)));
  const db = openDatabase({ url, keyring: KEYRING, poolSize: 2, onIdleError: () => undefined });
  try {
    return {
      rows,
      organizations,
      databaseBytes: Number(size.rows[0]?.bytes),
      walBytesOfUpdate,
      housekeepingMs: await measureTime(() =>
        deleteExpired(db, SILENT, { now: new Date(), retention: { eventDays: 30 } }),
      ),
      pollMs: await measureTime(() => listPendingEndpoints(db, { after: FIRST_ENDPOINT, limit: 200 })),
      connectionBytes: medianOf(memory),
    };
  } finally {
    await db.close();
  }
}

/** Returns the median duration of several runs in milliseconds. The first run is not measured. */
async function measureTime(work: () => Promise<unknown>): Promise<number> {
  const milliseconds: number[] = [];
  await work();
  for (let i = 0; i < TIMED_RUNS; i += 1) {
    const startedAt = performance.now();
    await work();
    milliseconds.push(performance.now() - startedAt);
  }
  return medianOf(milliseconds);
}

const RELATIONS = `
  select name, pg_relation_size(relation)::float8 / $1 as bytes from (
    select 'the row' as name, 'parent_programs'::regclass::oid as relation, 0 as place
    union all
    select indexrelid::regclass::text, indexrelid, 1 from pg_index where indrelid = 'parent_programs'::regclass
  ) each order by place, bytes desc`;
const WHOLE_ROWS = `
  select 'an event, with its indexes' as name, pg_total_relation_size('events')::float8 / greatest(count(*), 1) as bytes from events
  union all
  select 'an organization with a user and a key, with their indexes',
         (pg_total_relation_size('organizations') + pg_total_relation_size('users') + pg_total_relation_size('api_keys'))::float8
         / count(*) from organizations`;

async function rowCosts({ client }: GrownData): Promise<RowCosts[]> {
  await client.query('vacuum analyze organizations, users, api_keys, events');
  const programs = await client.query<{ count: string }>('select count(*) from parent_programs');
  const relations = await client.query<RowCosts>(RELATIONS, [Number(programs.rows[0]?.count)]);
  return [...relations.rows, ...(await client.query<RowCosts>(WHOLE_ROWS)).rows];
}

// Formats the tables of the guide "Scaling" as Markdown. The guide computes its other figures from these tables, and shows the
// formulas.

const MIB = 1024 ** 2;
const GIGABYTE = 1e9;

/** The rows of the table of costs: each row's name, and the function that formats its cell for one size. */
const COSTS: readonly (readonly [name: string, cell: (costs: SizeCosts) => string])[] = [
  [
    'size of the database',
    ({ databaseBytes: bytes }) =>
      bytes < GIGABYTE ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / GIGABYTE).toFixed(1)} GB`,
  ],
  [
    'WAL of an update, right after a checkpoint',
    ({ walBytesOfUpdate }) => `${(walBytesOfUpdate / 1024).toFixed(0)} KiB`,
  ],
  ['housekeeping, when nothing has expired', ({ housekeepingMs }) => `${housekeepingMs.toFixed(0)} ms`],
  ['a poll for webhook deliveries, when none is due', ({ pollMs }) => `${pollMs.toFixed(1)} ms`],
  ['private memory of a connection', ({ connectionBytes }) => `${(connectionBytes / MIB).toFixed(1)} MiB`],
];

export function growthTables({ growths, costs, rows }: GrowthRun): string {
  const sizes = SIZES.map((size) => withThousands(size.rows));
  const organizations = SIZES.map((size) => withThousands(size.organizations));
  const latencies = (of: Growth['of']) =>
    growths
      .filter((growth) => growth.of === of)
      .map(({ title, milliseconds }) => [title, ...milliseconds.map((ms) => ms.toFixed(ms < 10 ? 1 : 0))]);
  return [
    markdownTable(['p50 in ms, one organization with so many rows', ...sizes], latencies('large')),
    markdownTable(
      [`p50 in ms, so many organizations with ${SMALL_ROWS} rows each`, ...organizations],
      latencies('small'),
    ),
    markdownTable(
      ['of the same databases', ...sizes],
      COSTS.map(([name, cell]) => [name, ...costs.map(cell)]),
    ),
    markdownTable(
      ['bytes in the largest database', ''],
      rows.map(({ name, bytes }) => [name, withThousands(bytes)]),
    ),
  ].join('\n');
}
