// Measures Charter against a bare server that reads and writes the same rows. See --help.
import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { StartUpError } from '../../src/domain/start-up-error.ts';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import { type EmbeddedPostgres, joinEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { untilInterrupted } from '../interrupted.ts';
import { root } from '../tool.ts';
import { type Case, listCases, type Servers } from './cases.ts';
import { checkResponses } from './check.ts';
import { alternate, compare, type Pair, wake, warmUp } from './compare.ts';
import { type Data, prepareData, vacuum } from './data.ts';
import { listFigures } from './figures.ts';
import { type Grown, measureGrowth } from './growth.ts';
import { type GrownData, prepareGrownData } from './growth-data.ts';
import { growthAsText } from './growth-report.ts';
import type { Drive, Sample } from './load.ts';
import { HELP, type Options, type Pace, readOptions } from './options.ts';
import { listTrials, trialsAsText } from './overload.ts';
import { explainList } from './plans.ts';
import { writeGrowth, writeReadme, writeTrials } from './readme.ts';
import { asJson, asTable, machine, type Result } from './report.ts';
import { type Program, type RunningServer, startServer, startVariants, type Variant } from './servers.ts';
import { startReceiver } from './webhooks.ts';

const DATA_DIR = join(root, '.data', 'bench');
const GROWTH_DIR = join(root, '.data', 'growth');

/** Stop what was started. They are called in reverse order, however the run ends. */
const endings: (() => Promise<void>)[] = [];

try {
  await Promise.race([main(readOptions()), untilInterrupted()]);
} catch (error) {
  process.exitCode ??= 1;
  console.error(messageOf(error));
}
for (const end of endings.reverse()) await end().catch(() => undefined);
process.exit();

async function main(options: Options): Promise<void> {
  const { help, json, readme, fresh, overload, growth, pace } = options;
  if (help) return console.log(HELP);
  const dataDir = growth ? GROWTH_DIR : DATA_DIR;
  if (fresh) await removeData(dataDir);
  const { url } = await joinDatabase(dataDir);
  await migrate(url);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // When we are interrupted, the database may stop first.
  await client.connect();
  await refuseSecondRun(client);
  const postgresPid = await postmasterPid(dataDir);
  if (growth) return measureAllSizes({ admin: client, url, postgresPid }, options);
  const data = await prepareData(client, report);
  const database = { databaseUrl: url, postgresPid };
  if (overload) return measureOverload(data, { database, json, readme });
  const servers = await serveAll(database);
  const receiver = await startReceiver();
  endings.push(async () => receiver.close());
  const cases = (await listCases(servers, data, { client, receiver })).filter(
    ({ goal }) => !pace.isQuick || goal !== null,
  );
  const results = await measure(cases, { pace, url, client });
  const startAnother = (settings: Readonly<Record<string, string>>) =>
    serve('src/main.ts', 'started', { ...database, settings });
  const figures = pace.isQuick
    ? []
    : await listFigures(servers, data, { pace, startServer: startAnother, client, report });
  const run = { results, figures, pace, now: new Date() };
  console.log(json ? asJson(run) : asTable(run));
  if (readme) await writeReadme(run);
}

async function measureOverload(
  data: Data,
  { database, json, readme }: Pick<Options, 'json' | 'readme'> & { database: DatabaseServer },
): Promise<void> {
  const server = await serve('src/main.ts', 'overloaded', { ...database, settings: { RESPONSE_CACHE_MIB: '0' } });
  const trials = await listTrials(server, data, report);
  console.log(json ? JSON.stringify({ machine: machine(), trials }) : trialsAsText(trials));
  if (readme) await writeTrials(trials, new Date());
}

async function measureAllSizes(
  { admin, url, postgresPid }: { readonly admin: pg.Client; readonly url: string; readonly postgresPid: number },
  { json, readme }: Options,
): Promise<void> {
  const [loadBefore = Number.NaN] = loadavg();
  const data = await prepareGrownData({ admin, url, dataDir: GROWTH_DIR, report });
  const serveSize = async (each: GrownData): Promise<Grown> => {
    const settings = { RESPONSE_CACHE_MIB: '0' };
    const program = { databaseUrl: each.url, postgresPid, settings, logDir: GROWTH_DIR };
    return { data: each, server: await serve('src/main.ts', `server-${each.rows}`, program) };
  };
  const measured = await measureGrowth(await Promise.all(data.map(serveSize)), report);
  const run = { ...measured, loadBefore };
  console.log(json ? JSON.stringify({ machine: machine(), ...run }) : growthAsText(run));
  if (readme) await writeGrowth(run, new Date());
}

type DatabaseServer = Pick<Program, 'databaseUrl' | 'postgresPid'>;

async function serveAll(database: DatabaseServer): Promise<Servers> {
  const withoutCache = { ...database, settings: { RESPONSE_CACHE_MIB: '0' } };
  const [charter, uncached, raw, variants, { vast }, uncachedVariants] = await Promise.all([
    serve('src/main.ts', 'charter', database),
    serve('src/main.ts', 'uncached', withoutCache),
    serve('scripts/bench/raw-server.ts', 'raw', database),
    serveVariants('variants', database, ['today', 'sampling', 'unlimited']),
    serveVariants('vast', database, ['vast']),
    serveVariants('uncached-variants', withoutCache, ['today', 'sampling']),
  ]);
  return { charter, uncached, raw, variants, vast, uncachedVariants };
}

type Measuring = { readonly pace: Pace; readonly url: string; readonly client: pg.Client };

async function measure(cases: readonly Case[], { pace, url, client }: Measuring): Promise<Result[]> {
  const measuring = cases.map((measured) => {
    const isClose = measured.goal !== null && measured.goal <= 1;
    const passes: Pair<Sample>[] = [];
    return { measured, passes, rounds: isClose ? pace.closeRounds : pace.rounds };
  });
  const begun = new Map<Case, Pair<Drive>>();
  for (let pass = 1; pass <= pace.passes; pass += 1) {
    await vacuum(client);
    for (const { measured, rounds, passes } of measuring) {
      report(`pass ${pass} of ${pace.passes}: ${measured.title}`);
      const pair = begun.get(measured) ?? (await begin(measured, pace));
      begun.set(measured, pair);
      const { subject, idleSeconds } = measured;
      passes.push(await (idleSeconds === undefined ? alternate(pair, rounds) : wake(subject, idleSeconds)));
    }
  }
  return Promise.all(
    measuring.map(async ({ measured, passes }) => {
      const plan = measured.explain && (await explainList(url, measured.explain));
      return { measured, plan, comparison: compare(passes) };
    }),
  );
}

async function begin(measured: Case, pace: Pace): Promise<Pair<Drive>> {
  await checkResponses(measured);
  return warmUp({ subject: measured.subject, base: measured.base.load }, pace);
}

/** Two runs at once would replace each other's keys, and slow each other down. The connection holds the lock. */
async function refuseSecondRun(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock(1) as got');
  if (rows[0]?.got !== true) throw new Error('Another bench is running in this checkout. Wait until it ends.');
}

function joinDatabase(dataDir: string): Promise<EmbeddedPostgres> {
  const joining = joinEmbeddedPostgres({ dataDir });
  endings.push(async () => (await joining).leave());
  return joining;
}

/** Joins first, because the last process to leave stops the server, even if a killed run has left it running. */
async function removeData(dataDir: string): Promise<void> {
  await (await joinDatabase(dataDir)).leave();
  await removeCluster(dataDir);
}

type ServerProgram = DatabaseServer & Pick<Program, 'settings'>;

function serve(
  script: string,
  name: string,
  { logDir = DATA_DIR, ...program }: ServerProgram & { readonly logDir?: string },
): Promise<RunningServer> {
  const starting = startServer({ ...program, script: join(root, script), logFile: join(logDir, `${name}.log`) });
  endings.push(async () => (await starting).stop());
  return starting;
}

function serveVariants<Name extends Variant>(name: string, program: ServerProgram, names: readonly [Name, ...Name[]]) {
  const script = join(root, 'scripts/bench/variants-server.ts');
  const starting = startVariants({ ...program, script, logFile: join(DATA_DIR, `${name}.log`) }, names);
  endings.push(async () => (await starting)[names[0]].stop());
  return starting;
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
}

/** Prints progress to standard error, apart from the result. */
function report(text: string): void {
  console.error(`bench: ${text}`);
}

function messageOf(error: unknown): string {
  if (error instanceof StartUpError) {
    return `${error.message}\n  ${error.remedy}\n  To delete the data of an earlier version of the code, run npm run bench -- --fresh`;
  }
  return error instanceof Error ? error.message : String(error);
}
