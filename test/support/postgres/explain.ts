import type { Database } from '../../../src/store/sql/database.ts';
import { inTransaction } from './transaction.ts';

/**
 * The plan of a statement as text; with `isPressed`, sequential scans are disabled, because the tables are too small
 * for an index.
 */
export async function planOf(
  db: Database,
  { text, values }: { text: string; values: unknown[] },
  { isPressed = false } = {},
): Promise<string> {
  return inTransaction(db, async (client) => {
    if (isPressed) await client.query('set local enable_seqscan = off');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}
