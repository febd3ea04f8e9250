import type { CellRows } from '../../store/organizations/cells.ts';
import { gauge, type Metric, samplesBy } from './metric.ts';

export const CELL_INFO = 'charter_cell_info';
export const CELL_ROWS = 'charter_cell_rows';

export type CellMeasures = { readonly name: string; readonly version: string; readonly rows: () => CellRows | null };

/** Which cell this is, and how large. The label is not "cell", which Prometheus adds to every metric. */
export function cellMetrics({ name, version, rows }: CellMeasures): Metric[] {
  return [
    gauge({ name: CELL_INFO, help: '1, with the name of the cell and the version of the server.' }, () => [
      { labels: { name, version }, value: 1 },
    ]),
    gauge(
      { name: CELL_ROWS, help: 'Rows of the cell. Counted once a minute: exactly up to 10,000, and estimated beyond.' },
      () => samplesBy('table', Object.entries(rows() ?? {})),
    ),
  ];
}
