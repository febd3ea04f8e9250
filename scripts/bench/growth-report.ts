import { readConfig } from '../../src/config.ts';
import { KEPT_CONNECTIONS } from '../../src/store/database.ts';
import { LEASE_INTERVAL_MS } from '../../src/traffic/request-limiter.ts';
import { ALL_ROUNDS, type Growth, type GrowthRun, type Point, type SizeCosts } from './growth.ts';
import { CONNECTIONS } from './growth-cases.ts';
import { SIZES, SMALL_ROWS } from './growth-data.ts';
import { grouped } from './numbers.ts';
import { machine } from './report.ts';

/** The size that the guide computes. */
const PROGRAMS = 1e8;
const PROCESSES = 100;
const CHANGES_PER_SECOND = 100;

const MIB = 1024 ** 2;
const KIB = 1024;
const GIGABYTE = 1e9;

export function growthAsText({ growths, costs, rows }: GrowthRun): string {
  const lines = growths.map((growth) => `${growth.title}, ${growth.of}: ${growth.points.map(pointAsText).join(', ')}`);
  const costLines = costs.map((cost) => `${grouped(cost.rows)} rows: ${costAsCells(cost).join(', ')}`);
  const rowLines = rows.map(({ name, bytes }) => `${name}: ${grouped(bytes)} bytes`);
  return `${machine()}\n\n${[...lines, '', ...costLines, '', ...rowLines].join('\n')}\n`;
}

function pointAsText({ p50Ms, rate, sqlMs }: Point): string {
  return `${p50Ms.toFixed(2)} ms (${rate.toFixed(0)}/s, SQL ${sqlMs.toFixed(0)})`;
}

/** The part of the guide that shows how requests grow. */
export function growthSection(
  { growths, costs, loadBefore }: GrowthRun,
  { day, picture }: { day: string; picture: string },
): string {
  const columns = SIZES.map(({ rows }) => grouped(rows));
  return `${day}, on \`${machine()}\`, which the servers, PostgreSQL and the load
generator share. The load average of the machine was ${loadBefore.toFixed(1)} when the run began; a quiet machine has less than 1.

There are five databases. Each has one large organization and, beside it, small ones of ${SMALL_ROWS} rows: one for each
hundred rows of the large one. All rows were written in the order of their creation, so those of a small organization
lie apart. Only the primary key grew with the rows. The other indexes were built afterwards, so they are denser than
those of a database in use. All requests go through HTTP, over ${CONNECTIONS} connections, to a server without a response cache.
The databases are measured in turn, and each figure is the median latency of the fastest of ${ALL_ROUNDS} rounds. The largest
database is larger than the cache of PostgreSQL (128 MB), but not than the memory of the machine: few requests wait
for a disk.

![How the latency of each request grows with the number of rows and organizations](${picture})

| p50 in ms, one organization with so many rows | ${columns.join(' | ')} |
|---|${columns.map(() => '--:').join('|')}|
${rowsOf(growths, 'large')}

| p50 in ms, so many organizations with ${SMALL_ROWS} rows each | ${SIZES.map(({ organizations }) => grouped(organizations)).join(' | ')} |
|---|${columns.map(() => '--:').join('|')}|
${rowsOf(growths, 'small')}

| of the same databases | ${columns.join(' | ')} |
|---|${columns.map(() => '--:').join('|')}|
${COST_NAMES.map((name, i) => `| ${name} | ${costs.map((cost) => costAsCells(cost)[i]).join(' | ')} |`).join('\n')}
`;
}

function rowsOf(growths: readonly Growth[], of: Growth['of']): string {
  const cells = ({ points }: Growth) => points.map(({ p50Ms }) => p50Ms.toFixed(p50Ms < 10 ? 1 : 0)).join(' | ');
  return growths
    .filter((growth) => growth.of === of)
    .map((growth) => `| ${growth.title} | ${cells(growth)} |`)
    .join('\n');
}

const COST_NAMES = [
  'size of the database',
  'WAL of an update, right after a checkpoint',
  'housekeeping, when nothing has expired',
  'a poll for webhook deliveries, when none is due',
  'private memory of a connection',
];

function costAsCells({
  databaseBytes,
  walBytesOfUpdate,
  housekeepingMs,
  pollMs,
  connectionBytes,
}: SizeCosts): string[] {
  return [
    databaseBytes < GIGABYTE ? `${(databaseBytes / 1e6).toFixed(0)} MB` : `${(databaseBytes / GIGABYTE).toFixed(1)} GB`,
    `${(walBytesOfUpdate / KIB).toFixed(0)} KiB`,
    `${housekeepingMs.toFixed(0)} ms`,
    `${pollMs.toFixed(1)} ms`,
    `${(connectionBytes / MIB).toFixed(1)} MiB`,
  ];
}

/** The part of the guide that shows what a row takes, and computes what a large installation costs. */
export function costSection({ costs, rows }: GrowthRun): string {
  const largest = costs.at(-1);
  if (largest === undefined) throw new Error('No size was measured.');
  const relations = rows.filter(({ name }) => !name.startsWith('an '));
  const program = relations.reduce((sum, { bytes }) => sum + bytes, 0);
  const event = rows.find(({ name }) => name.startsWith('an event'))?.bytes ?? Number.NaN;
  const { databasePoolSize, eventRetentionDays } = readConfig({});
  const connections = PROCESSES * databasePoolSize;
  const events = CHANGES_PER_SECOND * 86_400 * eventRetentionDays;
  const lines: readonly (readonly [what: string, formula: string, figure: string])[] = [
    ['programs on disk', `${grouped(PROGRAMS)} × ${grouped(program)} bytes`, gigabytes(PROGRAMS * program)],
    [
      `events on disk, at ${CHANGES_PER_SECOND} changes a second`,
      `${CHANGES_PER_SECOND} × 86,400 × ${eventRetentionDays} days × ${grouped(event)} bytes`,
      gigabytes(events * event),
    ],
    [
      `WAL, at ${CHANGES_PER_SECOND} changes a second, at most`,
      `${CHANGES_PER_SECOND} × ${(largest.walBytesOfUpdate / KIB).toFixed(0)} KiB`,
      `${((CHANGES_PER_SECOND * largest.walBytesOfUpdate) / MIB).toFixed(1)} MiB/s`,
    ],
    ['connections, at most', `${PROCESSES} × ${databasePoolSize} (\`DATABASE_POOL_SIZE\`)`, grouped(connections)],
    ['connections that stay open', `${PROCESSES} × ${KEPT_CONNECTIONS}`, grouped(PROCESSES * KEPT_CONNECTIONS)],
    [
      'memory of all connections in PostgreSQL',
      `${grouped(connections)} × ${(largest.connectionBytes / MIB).toFixed(1)} MiB`,
      `${((connections * largest.connectionBytes) / MIB / 1024).toFixed(1)} GiB`,
    ],
    [
      'memory of the processes, without cached responses',
      `${PROCESSES} × ${(largest.processBytes / MIB).toFixed(0)} MiB`,
      `${((PROCESSES * largest.processBytes) / MIB / 1024).toFixed(1)} GiB`,
    ],
    [
      'polls for webhook deliveries',
      `${PROCESSES} ÷ 0.75 s, ${largest.pollMs.toFixed(1)} ms each`,
      `${grouped(PROCESSES / 0.75)} statements/s`,
    ],
    [
      'leases of the rate limits, at most',
      `${PROCESSES} ÷ ${LEASE_INTERVAL_MS} ms`,
      `${grouped((PROCESSES * 1000) / LEASE_INTERVAL_MS)} statements/s`,
    ],
    [
      'housekeeping',
      `${PROCESSES} × ${largest.housekeepingMs.toFixed(0)} ms in 15 minutes`,
      `${((PROCESSES * largest.housekeepingMs) / (15 * 60 * 10)).toFixed(1)}% of a core`,
    ],
  ];
  return `Measured, in the database with ${grouped(SIZES.at(-1)?.rows ?? 0)} rows of one organization:

| each program | bytes |
|---|--:|
${relations.map(({ name, bytes }) => `| ${name === 'the row' ? name : `\`${name}\``} | ${grouped(bytes)} |`).join('\n')}
| together | ${grouped(program)} |

| other rows | bytes |
|---|--:|
${rows
  .filter((row) => !relations.includes(row))
  .map(({ name, bytes }) => `| ${name} | ${grouped(bytes)} |`)
  .join('\n')}

Computed from these figures, for a thousand organizations with a hundred thousand programs each, and a hundred
processes:

| what | formula | figure |
|---|---|--:|
${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}
`;
}

function gigabytes(bytes: number): string {
  return `${grouped(bytes / GIGABYTE)} GB`;
}
