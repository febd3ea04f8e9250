// Compares Charter with a minimal server that reads and writes the same rows. See --help.
import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { StartUpError } from '../../src/domain/errors.ts';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import { type EmbeddedPostgres, joinEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { callMain, messageOf, untilInterrupted } from '../command-line.ts';
import { root } from '../tool.ts';
import { listCases } from './cases.ts';
import { measureCases, type Servers } from './compare.ts';
import { prepareData } from './data.ts';
import { type Grown, growthTables, measureGrowth } from './growth.ts';
import { type GrownData, prepareGrownData } from './growth-data.ts';
import { FULL, HELP, OPTIONS, type Options, QUICK } from './options.ts';
import { measureOverload } from './overload.ts';
import { measureProxy, startProxy } from './proxy.ts';
import { heading, isBelowFloor, resultTable } from './report.ts';
import { type Program, type RunningServer, residentBytes, startServer } from './servers.ts';

const DATA_DIR = join(root, '.data', 'bench');
const GROWTH_DIR = join(root, '.data', 'growth');
/** The value of `--only` that selects the measurement of HAProxy, which not every machine has. */
const PROXY = 'haproxy';
const MIB = 1024 ** 2;
const UNCACHED = { RESPONSE_CACHE_MIB: '0' };

/** Functions that stop what was started. They are called in reverse order at the end, even after an error or an interruption. */
const endings: (() => Promise<void>)[] = [];

try {
  process.exitCode = await Promise.race([callMain(OPTIONS, HELP, main), untilInterrupted()]);
} catch (error) {
  process.exitCode ??= 1;
  console.error(messageOf(error));
  if (error instanceof StartUpError)
    console.error('  To delete the data of an earlier version of the code, run npm run bench -- --fresh');
}
for (const end of endings.reverse()) await end().catch(() => undefined);
process.exit();

async function main(options: Options): Promise<number> {
  const [loadBefore = Number.NaN] = loadavg();
  const dataDir = options.growth ? GROWTH_DIR : DATA_DIR;
  if (options.fresh) await removeData(dataDir);
  const { url } = await joinDatabase(dataDir);
  await migrate(url);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // After an interruption, PostgreSQL may stop before this connection is closed.
  await client.connect();
  await requireOnlyRun(client);
  const database = { client, databaseUrl: url, postgresPid: await postmasterPid(dataDir), dataDir };
  console.log(`${heading()}The load average was ${loadBefore.toFixed(1)} when the run began.\n`);
  if (options.growth) return benchGrowth(database);
  return options.overload ? benchOverload(database) : benchCases(database, options);
}

type Database = Pick<Program, 'databaseUrl' | 'postgresPid'> & {
  readonly client: pg.Client;
  readonly dataDir: string;
};

async function benchCases(database: Database, { quick, only }: Options): Promise<number> {
  const { client } = database;
  const pace = quick ? QUICK : FULL;
  const data = await prepareData(client, report);
  const servers = await serveAll(database);
  if (only === PROXY) {
    report(PROXY);
    const proxy = await startProxy(servers.charter);
    endings.push(() => proxy.stop());
    console.log(await measureProxy({ direct: servers.charter, proxy }, { ...data, pace }));
    return 0;
  }
  const cases = (await listCases(servers, data, client)).filter(({ title }) => title.includes(only));
  if (cases.length === 0) throw new Error(`No case has a title with "${only}".`);
  const results = await measureCases(cases, { pace, client, report });
  console.log(`${resultTable(results)}\n\n${await memoryLine(servers)}`);
  const missed = results.filter(isBelowFloor);
  for (const { measured } of missed) console.error(`bench: below its floor: ${measured.title}`);
  return quick || missed.length === 0 ? 0 : 1;
}

/** Returns the physical memory of the servers after the measurements. */
async function memoryLine({ charter, uncached, raw }: Servers): Promise<string> {
  const [own, withoutCache, minimal] = await Promise.all(
    [charter, uncached, raw].map(async (server) => `${((await residentBytes(server)) / MIB).toFixed(0)} MiB`),
  );
  return `Memory at the end: ${own}, without cached responses ${withoutCache}; the minimal server: ${minimal}.`;
}

async function benchOverload(database: Database): Promise<number> {
  const data = await prepareData(database.client, report);
  const server = await serve('src/main.ts', 'overloaded', database, UNCACHED);
  const { table, isMissed } = await measureOverload(server, data, report);
  console.log(table);
  return isMissed ? 1 : 0;
}

async function benchGrowth(database: Database): Promise<number> {
  const { client: admin, databaseUrl: url, dataDir } = database;
  const data = await prepareGrownData({ admin, url, dataDir, report });
  const serveSize = async (each: GrownData): Promise<Grown> => {
    const own = { ...database, databaseUrl: each.url };
    return { data: each, server: await serve('src/main.ts', `server-${each.rows}`, own, UNCACHED) };
  };
  console.log(growthTables(await measureGrowth(await Promise.all(data.map(serveSize)), report)));
  return 0;
}

async function serveAll(database: Database): Promise<Servers> {
  const sampling = { RESPONSE_CHECK: 'report', RESPONSE_CHECK_SAMPLE_RATE: '0.01' };
  const [charter, uncached, sampled, vast, raw] = await Promise.all([
    serve('src/main.ts', 'charter', database),
    serve('src/main.ts', 'uncached', database, UNCACHED),
    serve('src/main.ts', 'sampling', database, sampling),
    serve('scripts/bench/vast-server.ts', 'vast', database),
    serve('scripts/bench/raw-server.ts', 'raw', database),
  ]);
  return { charter, uncached, sampling: sampled, vast, raw };
}

/**
 * Throws if another run uses the data, because two runs would replace each other's keys. The lock is released when the connection
 * closes.
 */
async function requireOnlyRun(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock(1) as got');
  if (rows[0]?.got !== true) throw new Error('Another bench is running in this checkout. Wait until it ends.');
}

function joinDatabase(dataDir: string): Promise<EmbeddedPostgres> {
  const joining = joinEmbeddedPostgres({ dataDir });
  endings.push(async () => (await joining).leave());
  return joining;
}

/**
 * Removes the data. A killed run may have left PostgreSQL running, so this process first joins the database: the last process
 * that leaves stops PostgreSQL.
 */
async function removeData(dataDir: string): Promise<void> {
  await (await joinDatabase(dataDir)).leave();
  await removeCluster(dataDir);
}

function serve(
  script: string,
  name: string,
  { databaseUrl, postgresPid, dataDir }: Database,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const starting = startServer({ script, databaseUrl, postgresPid, settings, logFile: join(dataDir, `${name}.log`) });
  endings.push(async () => (await starting).stop());
  return starting;
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
}

/** Prints progress to standard error. Standard output contains only the result. */
function report(text: string): void {
  console.error(`bench: ${text}`);
}
