import type { Database } from '../../../src/store/sql/database.ts';
import { inTransaction, withClient } from './postgres.ts';
import { connectTo } from './store.ts';

export type Plan = {
  /** The plan as EXPLAIN ANALYZE prints it. */
  readonly text: string;
  /** The number of blocks of 8 KiB that were read. */
  readonly blocks: number;
};

type ExplainedDatabase = {
  readonly db: Database;
  /** Returns the plans that PostgreSQL used for the statements of `work`. */
  explainAll(work: () => Promise<unknown>): Promise<Plan[]>;
};

const EXPLAINING = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_buffers': 'on',
  client_min_messages: 'log',
};

/** Opens a database that reports the actual plans of its statements, not those of a later EXPLAIN. */
export async function openWithAutoExplain(url: string): Promise<ExplainedDatabase> {
  await withClient(url, async (client) => {
    for (const [name, value] of Object.entries(EXPLAINING)) {
      await client.query(`alter database ${new URL(url).pathname.slice(1)} set ${name} = '${value}'`);
    }
  });
  const db = connectTo(url, 1);
  let plans: Plan[] = [];
  db.pool.on('connect', (client) => {
    client.on('notice', ({ message = '' }) => {
      // Skips plans without a query text. They belong to functions that the planner evaluates in advance.
      if (message.includes('plan:') && !/Query Text: *\nQuery Parameters/.test(message))
        plans.push({ text: message, blocks: blocksOf(message) });
    });
  });
  return {
    db,
    async explainAll(work) {
      plans = [];
      await work();
      return plans;
    },
  };
}

/** Returns the number of blocks that the outermost node of the plan reads, which includes those of the inner nodes. */
function blocksOf(plan: string): number {
  const buffers = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan);
  return Number(buffers?.[1] ?? 0) + Number(buffers?.[2] ?? 0);
}

/**
 * Returns the plan of a statement as text. `prefersIndexes` disables sequential scans, because test tables are too small for
 * PostgreSQL to choose an index.
 */
export async function explain(
  db: Database,
  { text, values }: { text: string; values: unknown[] },
  { prefersIndexes = false } = {},
): Promise<string> {
  return inTransaction(db, async (client) => {
    if (prefersIndexes) await client.query('set local enable_seqscan = off');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}
