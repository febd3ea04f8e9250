// The tables of the guide "Scaling", as Markdown. The guide's computed figures follow from them by the formulas that it shows.
import type { Growth, GrowthRun, SizeCosts } from './growth.ts';
import { SIZES, SMALL_ROWS } from './growth-data.ts';
import { grouped, markdownTable } from './report.ts';

const MIB = 1024 ** 2;
const GIGABYTE = 1e9;

/** Each cost of one size, with the name of its row. */
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
  ['memory of a process, without cached responses', ({ processBytes }) => `${(processBytes / MIB).toFixed(0)} MiB`],
];

export function growthTables({ growths, costs, rows }: GrowthRun): string {
  const sizes = SIZES.map((size) => grouped(size.rows));
  const organizations = SIZES.map((size) => grouped(size.organizations));
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
      rows.map(({ name, bytes }) => [name, grouped(bytes)]),
    ),
  ].join('\n');
}
