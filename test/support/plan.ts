import type { Database } from '../../src/store/database.ts';
import { inTransaction } from './transaction.ts';

/** How PostgreSQL would answer it, as text; with `isPressed`, where the tables are too small for an index to pay. */
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
