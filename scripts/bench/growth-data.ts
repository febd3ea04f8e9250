import { mkdir, statfs } from 'node:fs/promises';
import pg from 'pg';
import { migrate } from '../../src/postgres/migrate.ts';
import { fillOrganizations, fillPrograms, isFilled, issueKeys, type Organization, WORDS } from './data.ts';
import { withThousands } from './report.ts';

export type Size = {
  /** The number of rows of the large organization. */
  readonly rows: number;
  /** The number of small organizations. Each has 10 rows. */
  readonly organizations: number;
};

export const SIZES: readonly Size[] = [3, 4, 5, 6, 7].map((power) => ({
  rows: 10 ** power,
  organizations: 10 ** (power - 2),
}));
export const SMALL_ROWS = 10;
/** The number of names with the rare word. It is the same for every number of rows. */
const RARE_ROWS = 20;

/** A database of one size, with a connection to it. */
export type GrownData = Size & {
  readonly url: string;
  readonly client: pg.Client;
  readonly large: Organization;
  readonly small: readonly Organization[];
};

const DATA_VERSION = 'charter growth data 1';
/** The disk space for filling the databases in GiB, including WAL and index builds. */
const NEEDED_GIB = 30;
const GIB = 1024 ** 3;

type Preparing = {
  readonly admin: pg.Client;
  readonly url: string;
  readonly dataDir: string;
  readonly report: (text: string) => void;
};

/** Fills the databases that no earlier run has filled, and issues a new key to every organization. */
export async function prepareGrownData({ admin, url, dataDir, report }: Preparing): Promise<GrownData[]> {
  const grown: GrownData[] = [];
  for (const size of SIZES) {
    const name = `growth_${size.rows}`;
    const own = urlOf(url, name);
    const isComplete = await isFilled(admin, { database: name, version: DATA_VERSION });
    if (!isComplete) {
      await requireFreeDisk(dataDir);
      report(`creating ${withThousands(size.rows)} rows, and ${withThousands(size.organizations)} organizations`);
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`create database ${name}`);
      await migrate(own);
    }
    const client = await connect(own);
    if (!isComplete) {
      await fill(client, size);
      await admin.query('checkpoint');
      await admin.query(`comment on database ${name} is '${DATA_VERSION}'`);
    }
    const [large, ...small] = await issueKeys(client);
    if (large === undefined || small.length !== size.organizations)
      throw new Error('The data is not that of this version. Run npm run bench -- --growth --fresh.');
    grown.push({ ...size, url: own, client, large, small });
  }
  return grown;
}

function urlOf(url: string, database: string): string {
  const own = new URL(url);
  own.pathname = `/${database}`;
  return own.href;
}

async function requireFreeDisk(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const { bavail, bsize } = await statfs(dataDir);
  const free = (bavail * bsize) / GIB;
  if (free < NEEDED_GIB)
    throw new Error(`The disk of ${dataDir} has ${free.toFixed(0)} GiB left, and the fill needs ${NEEDED_GIB}.`);
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // After an interruption, PostgreSQL may stop before this connection is closed.
  await client.connect();
  return client;
}

const TRIGGERS = `
  select quote_ident(tgname) as name from pg_trigger
  where tgrelid = 'parent_programs'::regclass and not tgisinternal and tgenabled = 'A'`;
/**
 * Selects the definitions of the indexes. The statistics targets of their columns are added, because pg_get_indexdef leaves them
 * out.
 */
const INDEXES = `
  select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) || coalesce((
    select string_agg(format('; alter index %s alter column %s set statistics %s', indexrelid::regclass, attnum, attstattarget), '')
    from pg_attribute where attrelid = indexrelid and attstattarget >= 0), '') as definition
  from pg_index where indrelid = 'parent_programs'::regclass and not indisprimary`;

/**
 * Writes the rows of all organizations in the order of their creation times, so that the rows of a small organization are
 * scattered over the table.
 */
async function fill(client: pg.Client, { rows, organizations }: Size): Promise<void> {
  await fillOrganizations(client, organizations + 1);
  await client.query('begin');
  await client.query(`set local work_mem = '512MB'`);
  await client.query(`set local maintenance_work_mem = '1GB'`);
  // Disables the triggers that write events, and the checks of foreign keys.
  await client.query('set local session_replication_role = replica');
  // The triggers that are still enabled increment the versions of the organizations. They are disabled, too, because no client
  // has seen a version yet.
  const always = (await client.query<{ name: string }>(TRIGGERS)).rows;
  await client.query('alter table parent_programs disable trigger user');
  const indexes = (await client.query<{ name: string; definition: string }>(INDEXES)).rows;
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  const rare = `size = ${rows} and i % ${rows / RARE_ROWS} = ${rows / RARE_ROWS / 2}`;
  const size = `case when number = 0 then ${rows} else ${SMALL_ROWS} end`;
  await client.query(fillPrograms({ size, isRare: rare, order: 'order by created_at' }), WORDS);
  for (const { definition } of indexes) await client.query(definition);
  await client.query('alter table parent_programs enable trigger user');
  for (const { name } of always) await client.query(`alter table parent_programs enable always trigger ${name}`);
  await client.query('commit');
  await client.query('vacuum analyze');
}
