// Measures Charter against a bare server that reads and writes the same rows. See --help.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { removeCluster } from '../src/store/embedded-cluster.ts';
import { type EmbeddedPostgres, joinEmbeddedPostgres } from '../src/store/embedded-postgres.ts';
import { migrate } from '../src/store/migrate.ts';
import { StartUpError } from '../src/store/start-up-error.ts';
import { type Case, listCases, type Servers } from './bench/cases.ts';
import { checkAnswers } from './bench/check.ts';
import { compare, measureRounds, type Round } from './bench/compare.ts';
import { prepareData } from './bench/data.ts';
import { listFigures } from './bench/figures.ts';
import { HELP, type Options, type Pace, readOptions } from './bench/options.ts';
import { explainList } from './bench/plans.ts';
import { writeReadme } from './bench/readme.ts';
import { asJson, asTable, type Result } from './bench/report.ts';
import { type Program, type RunningServer, startServer } from './bench/servers.ts';
import { untilInterrupted } from './interrupted.ts';

const root = join(import.meta.dirname, '..');
const DATA_DIR = join(root, '.data', 'bench');

/** Ends what was started, the latest first, on whichever way out. Promises, because it may be starting still. */
const endings: (() => Promise<void>)[] = [];

try {
  await Promise.race([main(readOptions()), untilInterrupted()]);
} catch (error) {
  process.exitCode ??= 1;
  console.error(wordsOf(error));
}
for (const end of endings.reverse()) await end().catch(() => undefined);
process.exit();

async function main({ help, json, readme, fresh, pace }: Options): Promise<void> {
  if (help) return console.log(HELP);
  if (fresh) await removeData();
  const { url } = await joinDatabase();
  await migrate(url);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // When we are interrupted, the database may stop first.
  await client.connect();
  await refuseSecondRun(client);
  const data = await prepareData(client, say);
  const database = { databaseUrl: url, postgresPid: await postmasterPid() };
  let servers = await serveAll(database);
  const measure = async (set: number) =>
    measureCases(await listCases(servers, data, client), pace, `${set} of ${pace.sets}`);
  const sets = [await measure(1)];
  while (sets.length < pace.sets) {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
    servers = await serveAll(database);
    sets.push(await measure(sets.length + 1));
  }
  const startAnother = (settings: Readonly<Record<string, string>>) =>
    serve('src/main.ts', 'started', { ...database, settings });
  const figures = pace.isQuick ? [] : await listFigures(servers, data, { pace, startServer: startAnother, say });
  const run = { results: await resultsOf(sets, url), figures, pace, now: new Date() };
  console.log(json ? asJson(run) : asTable(run));
  if (readme) await writeReadme(run);
}

type Behind = Pick<Program, 'databaseUrl' | 'postgresPid'>;

/** Of everything that is compared one process. */
async function serveAll(database: Behind): Promise<Servers> {
  const serveCharter = (name: string, settings = {}) => serve('src/main.ts', name, { ...database, settings });
  const forgetting = { PAGE_MEMORY_MIB: '0' };
  const checking = { RESPONSE_CHECK: 'report', RESPONSE_CHECK_SAMPLE_RATE: '0.01' };
  const [charter, second, forgetful, unchecked, sampling, forgetfulSampling, vast, raw] = await Promise.all([
    serveCharter('charter'),
    serveCharter('second'),
    serveCharter('forgetful', forgetting),
    serveCharter('unchecked', forgetting),
    serveCharter('sampling', checking),
    serveCharter('forgetful-sampling', { ...forgetting, ...checking }),
    serve('scripts/bench/vast-server.ts', 'vast', database),
    serve('scripts/bench/raw-server.ts', 'raw', database),
  ]);
  return { charter, second, forgetful, unchecked, sampling, forgetfulSampling, vast, raw };
}

type Measured = { readonly measured: Case; readonly rounds: readonly Round[] };

async function measureCases(cases: readonly Case[], pace: Pace, set: string): Promise<Measured[]> {
  const all: Measured[] = [];
  for (const measured of cases.filter(({ goal }) => !pace.isQuick || goal !== null)) {
    say(`${measured.title}, ${set}`);
    await checkAnswers(measured);
    const { subject, base, goal } = measured;
    const isClose = goal !== null && goal <= 1;
    const rounds = isClose ? pace.closeRounds : pace.rounds;
    all.push({ measured, rounds: await measureRounds({ subject, base: base.load }, { ...pace, rounds }) });
  }
  return all;
}

/** Of each case, the rounds of all sets together. */
async function resultsOf([first = [], ...others]: readonly Measured[][], url: string): Promise<Result[]> {
  return Promise.all(
    first.map(async ({ measured, rounds }, i) => {
      const plan = measured.explain && (await explainList(url, measured.explain));
      return { measured, plan, comparison: compare([...rounds, ...others.flatMap((set) => set[i]?.rounds ?? [])]) };
    }),
  );
}

/** Two at once would take each other's keys, and measure each other. The connection holds the lock to the end. */
async function refuseSecondRun(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock(1) as got');
  if (rows[0]?.got !== true) throw new Error('Another bench is running here. Wait for it.');
}

function joinDatabase(): Promise<EmbeddedPostgres> {
  const joining = joinEmbeddedPostgres({ dataDir: DATA_DIR });
  endings.push(async () => (await joining).leave());
  return joining;
}

/** Joins first: the last to leave stops the server, even one that a killed run has left behind. */
async function removeData(): Promise<void> {
  await (await joinDatabase()).leave();
  await removeCluster(DATA_DIR);
}

function serve(script: string, name: string, program: Behind & Pick<Program, 'settings'>): Promise<RunningServer> {
  const starting = startServer({ ...program, script: join(root, script), logFile: join(DATA_DIR, `${name}.log`) });
  endings.push(async () => (await starting).stop());
  return starting;
}

async function postmasterPid(): Promise<number> {
  return Number((await readFile(join(DATA_DIR, 'postgres', 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
}

/** Progress, beside the result. */
function say(text: string): void {
  console.error(`bench: ${text}`);
}

function wordsOf(error: unknown): string {
  if (error instanceof StartUpError) {
    return `${error.message}\n  ${error.remedy}\n  Data of an earlier version of the code is thrown away by: npm run bench -- --fresh`;
  }
  return error instanceof Error ? error.message : String(error);
}
