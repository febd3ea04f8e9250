import { type CellRows, countRowsOfCell } from '../store/organizations/cells.ts';
import type { Database } from '../store/sql/database.ts';
import type { Logger } from './logs.ts';

const EVERY_MS = 60_000;

export type CellRowCount = {
  /** At the last count; `null` before the first. */
  last(): CellRows | null;
  /** Waits for the count in progress. */
  stop(): Promise<void>;
};

/** Counts the rows of the cell at once, and then once a minute, unless the last count is still in progress. */
export function startCountingRows(db: Database, logger: Logger, { everyMs = EVERY_MS } = {}): CellRowCount {
  let last: CellRows | null = null;
  let counting: Promise<void> | undefined;
  const count = async () => {
    try {
      last = await countRowsOfCell(db);
    } catch (error) {
      logger.warn({ err: error }, 'could not count the rows of the cell; will try again');
    }
  };
  const run = () => {
    counting ??= count().finally(() => {
      counting = undefined;
    });
  };
  run();
  const timer = setInterval(run, everyMs).unref();
  return {
    last: () => last,
    async stop() {
      clearInterval(timer);
      await counting;
    },
  };
}
